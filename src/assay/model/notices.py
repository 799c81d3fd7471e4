"""Things worth saying aloud that are not errors: they are collected, counted and shown once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One remark about an input or a result."""

    code: str
    """A stable short name for scripts: ``ties``, ``missing-queries``, ``repeated-hits``."""
    text: str
    """The sentence for people, with the number and the first few names."""
    ids: tuple[str, ...] = ()
    """All the ids that it speaks of (queries, documents, anchors), for ``--json``."""


def listed(ids: Sequence[str], *, most: int = 5) -> str:
    """Join the first few ids for a sentence and say how many more there are.

    >>> listed(["q1", "q2", "q3"], most=2)
    'q1, q2 and 1 more'
    """
    shown = ", ".join(ids[:most])
    return f"{shown} and {len(ids) - most} more" if len(ids) > most else shown
