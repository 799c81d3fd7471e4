"""What is known of automatic judges: how they stand against people, and whether their labels count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from assay.model.notices import Notice

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of cases, with its exact (Clopper-Pearson) interval."""

    hits: int
    n: int
    value: float | None
    """None without a case."""
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """How a judge stands against people, over all places or over those of one kind of query."""

    kind: str | None
    """None: all kinds."""
    n: int
    """Places that both have graded."""
    people_yes: int
    """Of these, how many people call relevant."""
    judge_yes: int
    true_positive: Share
    """Of what people call relevant, the share that the judge calls relevant."""
    true_negative: Share
    """Of what people call not relevant, the share that the judge calls not relevant."""
    agreement: float | None
    expected: float | None
    """The agreement that chance gives."""
    kappa: float | None
    """Cohen's; None where a class is missing."""
    kappa_low: float | None
    kappa_high: float | None
    why_undefined: str | None
    """What to do where kappa is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A share that a judge measured, and what it would be without the judge's own errors."""

    what: str
    yes: int
    n: int
    observed: float
    value: float | None
    """(p + TNR - 1) / (TPR + TNR - 1), cut to 0..1; None when the judge does no better than chance."""
    low: float | None
    high: float | None
    """Bootstrap, over what was judged and over what people labelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAgreement:
    """How people agree with each other: what a judge can at most be asked for."""

    people: tuple[str, ...]
    n: int
    """Places that at least two of them have graded."""
    conflicts: int
    """Places about which they disagree, and that nobody has settled."""
    agreement: float | None = None
    """Share of equal yes and no; of two people."""
    kappa: float | None = None
    """Cohen's, of two people; None where a class is missing."""
    kappa_low: float | None = None
    kappa_high: float | None = None
    why_undefined: str | None = None
    alpha: float | None = None
    """Krippendorff's, ordinal, over the grades; of more than two people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToVerify:
    """A place that people should look at next, and why."""

    query_id: str
    place: str
    kind: str
    reason: str
    """``judges disagree``, ``unsure (0.55)``, ``at random``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """A judge held against people."""

    judge: str
    model: str
    part: Part
    bar: float
    relevant_from: float
    figures: tuple[JudgeFigures, ...]
    """All kinds first, then each kind."""
    passes: bool
    """Whether the lower bounds of both rates reach the bar in this part."""
    licensed: bool
    """Whether its labels count: it has passed on the test part."""
    least: int
    """Places of each class that are needed to reach the bar by a judge that never errs."""
    looks: int
    """How often the test part has been looked at, by any judge."""
    corrected: tuple[Corrected, ...]
    people: PeopleAgreement | None
    """None when fewer than two people have graded a place."""
    labelled: Mapping[str, int]
    """Part -> places that people have graded, with the judge's grade beside."""
    judged: int
    """Places that the judge has graded."""
    refused: Mapping[str, int]
    """Why replies were refused -> how many."""
    verify: tuple[ToVerify, ...] = ()
    """What people should look at next, where it was asked for."""
    pool: str | None = None
    """The pooling in which they find it."""
    seed: int = 0
    notices: tuple[Notice, ...] = ()
