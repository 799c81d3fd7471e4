"""What is known of automatic judges: how they stand against people, and whether their labels count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Part = Literal["train", "dev", "test"]
"""``train``: examples for the prompt. ``dev``: to look at while one is written. ``test``: to look at once."""
PARTS: tuple[Part, ...] = ("train", "dev", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRecord:
    """A look at the test part: what a judge said of what people had labelled; a line of ``judges.jsonl``."""

    judge: str
    """The judge's name: its model, and a digest of its prompt."""
    model: str
    positives: int
    """Places that people call relevant."""
    true_positives: int
    """Of these, how many the judge calls relevant too."""
    negatives: int
    """Places that people call not relevant."""
    true_negatives: int
    labels: str
    """Digest of the people's labels that were looked at."""
    looks: int
    """How often the test part had been looked at by then, this look included, by any judge."""
    by: str
    at: str


def judges_of(judged_by: str | None) -> frozenset[str]:
    """Return the judges that a query's ``judged_by`` names.

    >>> sorted(judges_of("m/2b, m/1a"))
    ['m/1a', 'm/2b']
    """
    return frozenset(filter(None, (name.strip() for name in (judged_by or "").split(","))))
