"""Gates: what a run has to reach, and how it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from assay.model.notices import Notice
from assay.model.scores import ScoreTable

Rule = Literal["floor", "cap", "pin", "no worse", "not significantly worse"]
"""``floor``: at least. ``cap``: at most. ``pin``: within a tolerance of a figure. ``no worse``: than a
baseline, by more than a tolerance. ``not significantly worse``: than a baseline, by the paired test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One rule on one figure."""

    key: str
    """The figure as it was written: ``pool: recall@50 [conceptual]``."""
    written: str
    """The rule as it was written: ``>= 0.70``."""
    stage: str | None
    """The stage whose list is measured; None: the final list."""
    measure: str
    column: str = "kind"
    """The column that ``group`` is a value of."""
    group: str | None = None
    """One group of queries; None: all of them."""
    rule: Rule
    figure: Fraction = Fraction(0)
    """The floor, the cap or the pin."""
    tolerance: Fraction = Fraction(0)
    """How far from the pin, or below the baseline, still passes."""
    decimals: int = 0
    """Decimals of the figure as written."""
    baseline: str | None = None
    """The name of the baseline that the rule speaks of; None: whichever is given."""
    each: str | None = None
    """``not significantly worse`` on any value of this column as well; None: only over the gate's queries."""

    @property
    def name(self) -> str:
        return f"{self.key} {self.written}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One query that pulled a figure away from its gate."""

    query_id: str
    value: float
    before: float | None = None
    """Its score in the baseline; None without one."""
    error: str | None = None
    """What the retriever failed with; such a query scores 0."""
    unwinnable: bool = False
    """No retriever could win it: its label is stale, or no chunk holds what it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """How one gate did."""

    gate: Gate
    passed: bool
    value: float | None
    """The figure; None when nothing was measured."""
    exact: Fraction | None
    """The figure that was compared; None when nothing was measured."""
    shown: str
    """The comparison with enough digits to see why: ``0.7967 < 0.8000``."""
    n: int
    """Queries that the figure stands on."""
    reason: str | None = None
    """Why it failed; None when it passed."""
    causes: tuple[Cause, ...] = ()
    """The queries that caused it, most first; empty when it passed."""
    reachable: tuple[float, float] | None = None
    """The nearest values below and above that this many queries can score, when the figure of the gate
    lies between two; None otherwise, and where the steps are not known."""
    lint: str | None = None
    """What that means, in words, with the figure to write instead."""
    errors: int = 0
    """Queries among ``n`` whose retrieval failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """All gates of a project, in the order in which they were written."""

    results: tuple[GateResult, ...]
    run: str | None = None
    """The run that was measured."""
    baseline: str | None = None
    """The baseline that it was held against."""
    notices: tuple[Notice, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every gate passed, and there was one."""
        return bool(self.results) and all(result.passed for result in self.results)

    @property
    def failed(self) -> tuple[GateResult, ...]:
        return tuple(result for result in self.results if not result.passed)

    @property
    def exit_code(self) -> int:
        """0: every gate passed; 1: one fell."""
        return 0 if self.passed else 1


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """The scores of a run that others are held against; a small file that lives in git."""

    name: str
    """What gates call it: ``main``."""
    run: str
    """The run that it was made of."""
    tables: Mapping[str, ScoreTable]
    """Stage -> scores, query by query, because a paired test needs them."""
    digests: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the golden set, the corpus and the pipeline; shown, and a change of the golden set is said."""
