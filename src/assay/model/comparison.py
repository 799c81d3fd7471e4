"""Two runs side by side: paired differences, what they prove, and which queries moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from assay.model.notices import Notice
from assay.model.runs import Hit
from assay.model.showing import Showable

Method = Literal["bca", "percentile", "analytic", "constant", "wilson", "exact"]
Verdict = Literal[
    "better", "worse", "could be chance", "not enough queries", "no difference seen", "nothing to compare"
]
"""``better`` and ``worse``: proven after Holm's correction. ``could be chance``: a difference, not proven.
``not enough queries``: so few queries differ that no result could have been proven. ``no difference seen``:
every query scored the same. ``nothing to compare``: no query has a value in both runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval, both ends included."""

    low: float
    high: float
    confidence: float = 0.95
    method: Method = "bca"
    """How it was found. ``constant``: all values are equal, so that resampling has nothing to vary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One query whose score differs between the runs."""

    query_id: str
    group: str | None
    """Its kind (or its value of the column that the comparison is by)."""
    base: float
    candidate: float

    @property
    def difference(self) -> float:
        return self.candidate - self.base


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One measure over one group of queries, in both runs, paired by query."""

    measure: str
    group: str | None
    """A value of the column that the comparison is by; None over all queries."""
    n: int
    """Queries with a value in both runs: all figures here are over these."""
    base: float | None
    """Mean of the base run; None when n is 0, as are the other figures then."""
    candidate: float | None
    difference: float | None
    """Candidate minus base: above 0, the candidate is better."""
    interval: Interval | None
    """Of the difference; None below two queries."""
    p: float
    """Two-sided sign-flip test; 1.0 when nothing differs."""
    p_holm: float
    """The same after Holm's correction over all that was tested together."""
    exact: bool
    """Whether every sign pattern was counted; False: a Monte Carlo estimate."""
    wins: int
    """Queries that the candidate scored higher."""
    losses: int
    ties: int
    effect: float | None
    """Cohen's dz: mean difference / standard deviation of the differences; None when they do not vary."""
    win_share: float | None
    """Share of wins among the queries that differ; None when none does."""
    detectable: float | None
    """The smallest true difference that this many queries, varying as these do, would prove in 4 of 5
    repetitions; None when the differences do not vary."""
    needed: int | None
    """Queries that would be needed to prove the difference seen, in 4 of 5 repetitions; None when it is 0."""
    verdict: Verdict
    sentence: str
    """What people paste."""

    @property
    def decided(self) -> int:
        """Queries that differ between the runs."""
        return self.wins + self.losses


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """One query that moved, with what both runs returned for it."""

    query_id: str
    text: str
    kind: str
    base: tuple[Hit, ...]
    """The first hits of the base run, best first."""
    candidate: tuple[Hit, ...]
    relevant: frozenset[str]
    """The chunks, of either run, that are right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Showable):
    """A candidate run against a base run."""

    base: str
    """The base run's name."""
    candidate: str
    by: str | None
    """The column that groups are values of."""
    rows: tuple[Difference, ...]
    """For each measure: all queries first, then each group."""
    moved: Mapping[str, tuple[Moved, ...]]
    """Measure -> the queries that differ, largest difference first."""
    only_base: tuple[str, ...] = ()
    """Queries that only the base run has: left out of every figure."""
    only_candidate: tuple[str, ...] = ()
    seed: int = 0
    alpha: float = 0.05
    draws: int = 10_000
    tests: int = 0
    """How many tests Holm's correction was made over."""
    lists: tuple[SideBySide, ...] = ()
    """The queries that moved most, with both lists; empty where only scores were compared."""
    notices: tuple[Notice, ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(self.moved)

    def row(self, measure: str, group: str | None = None) -> Difference:
        """Return the row of a measure, over all queries or over one group.

        Raises:
            KeyError: there is no such row.
        """
        for row in self.rows:
            if row.measure == measure and row.group == group:
                return row
        raise KeyError((measure, group))


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix(Showable):
    """Several runs, each against each, over the queries that all of them have."""

    names: tuple[str, ...]
    n: int
    """Queries that every run has."""
    means: Mapping[str, tuple[float | None, ...]]
    """Measure -> the mean of each run, over the queries with a value in every run."""
    pairs: Mapping[tuple[str, str], Comparison]
    """(base name, candidate name), the base earlier in ``names`` -> their comparison. Holm's correction
    runs over all pairs and measures together."""
    seed: int = 0
    alpha: float = 0.05
    notices: tuple[Notice, ...] = field(default=())
