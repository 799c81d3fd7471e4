"""A sweep: many configurations of one pipeline over one golden set, what each is worth and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.model.comparison import Interval
from assay.model.notices import Notice
from assay.model.scores import Average

Method = Literal["grid", "random", "halving"]
Floats = NDArray[np.float64]
PROMPT_TOKENS = "prompt tokens"
"""The column of what the prompt holds, in tokens; lower is cheaper."""
COSTS = ("prompt_tokens", "index_bytes", "p50_ms", "p95_ms", "build_ms")
"""What a configuration costs: the first two are the same on every machine, the others were measured here."""
TIMED = frozenset({"p50_ms", "p95_ms", "build_ms"})
"""The costs that a clock gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One thing that is varied."""

    name: str
    """What reports call it: ``max_chars``, ``reranker``, or a name of the team's own."""
    labels: tuple[str, ...]
    """Its values as people wrote them."""
    changes: tuple[Mapping[str, object], ...]
    """For each value the settings that it changes: path -> value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One value of each knob."""

    number: int
    """From 1, in the order of the plan."""
    labels: Mapping[str, str]
    """Knob -> the label of its value."""
    changes: Mapping[str, object]
    """All settings that differ from the project's: path -> value, as ``--set`` takes them."""

    @property
    def name(self) -> str:
        """Return the configuration in one line.

        >>> Configuration(number=1, labels={"pool": "20", "mmr": "off"}, changes={}).name
        'pool=20 mmr=off'
        """
        return " ".join(f"{knob}={label}" for knob, label in self.labels.items()) or "as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a configuration costs. None where it is not known."""

    prompt_tokens: float | None
    """Tokens of a prompt's k chunks, mean over queries; estimated without a vocabulary."""
    index_bytes: int | None
    """All indexes that it needs."""
    chunks: int
    p50_ms: float | None
    """Time of one query on its own, warm: the middle one of the queries that were timed."""
    p95_ms: float | None
    build_ms: float | None
    """Time of building its indexes, as if it stood alone."""

    def of(self, cost: str) -> float | None:
        """Return one cost by name."""
        value: float | None = getattr(self, cost)
        return value


@dataclass(frozen=True, kw_only=True)
class SweepRow:
    """One configuration, measured."""

    configuration: Configuration
    query_ids: tuple[str, ...]
    """The queries that it was asked: all of them, or in halving those of the rounds that it reached."""
    values: Mapping[str, Floats]
    """Column -> one value a query of ``query_ids``; NaN means undefined."""
    averages: Mapping[str, Average]
    """Column -> mean over its queries."""
    by_kind: Mapping[str, Average]
    """Kind -> mean of the target column."""
    interval: Interval | None
    """Of the target's mean, over queries; None below two queries, or where it left early."""
    behind: Interval | None
    """Of the winner's target minus this one's, paired over queries; None for the winner itself."""
    spent: Spent
    rounds: int = 1
    """Halving: how many rounds it stayed in."""

    @property
    def number(self) -> int:
        return self.configuration.number


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobEffect:
    """What turning one knob from one value to another does to the target, all else equal."""

    knob: str
    base: str
    """The first value of the knob: what the others are held against."""
    value: str
    difference: float | None
    """Mean over queries, averaged over the settings of the other knobs; None where the sweep cannot tell."""
    interval: Interval | None
    """Over queries: how far another sample of queries would move it."""
    pairs: int
    """Pairs of configurations that differ in this knob alone; 0: a fit over all configurations."""
    queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindWinner:
    """The configuration that is best for one kind of query."""

    kind: str
    queries: int
    number: int
    mean: float
    overall: float
    """What the overall winner has on this kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinkage:
    """How much of the winner's score is owed to having been chosen."""

    configurations: int
    queries: int
    best: float
    """The winner's mean where it was chosen."""
    expected: float
    """What the same choice, made on other queries of the same sort, has on queries that it has not seen."""
    shrinkage: float
    """``best - expected``."""
    if_alike: float
    """How far the best of so many would stand above the truth by chance alone, were they all equally good."""
    draws: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalLook:
    """The winner on held-out queries, scored once."""

    number: int
    run_id: str
    measure: str
    dev: Average
    heldout: Average
    heldout_interval: Interval | None
    columns: Mapping[str, tuple[float | None, float | None]]
    """Column -> (mean where it was chosen, mean on held-out queries)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A configuration that could not run, and why."""

    configuration: Configuration
    why: str


@dataclass(frozen=True, kw_only=True)
class SweepResult:
    """Everything that the reports of a sweep show."""

    id: str
    """Content address of the plan, the golden set, the corpus and the project's settings."""
    name: str
    method: Method
    seed: int
    k: int
    split: str | None
    """The queries that it tunes on: ``dev``, or None for all."""
    queries: int
    knobs: tuple[Knob, ...]
    target: str
    """The column that decides."""
    columns: tuple[str, ...]
    """In the order of display."""
    rows: tuple[SweepRow, ...]
    """The best first."""
    left_out: tuple[LeftOut, ...]
    fronts: Mapping[str, tuple[int, ...]]
    """Cost -> configurations that none beats in quality at the same cost or less, the cheapest first."""
    effects: tuple[KnobEffect, ...]
    kinds: tuple[KindWinner, ...]
    shrinkage: Shrinkage | None
    """None where fewer than two configurations, or two queries, can be compared."""
    final: FinalLook | None = None
    rounds: tuple[tuple[int, int], ...] = ()
    """Halving: (configurations, queries) of each round."""
    notices: tuple[Notice, ...] = ()
    folder: str = ""
    """Where its files are, from the project's folder."""

    @property
    def winner(self) -> SweepRow:
        return self.rows[0]

    def row(self, number: int) -> SweepRow:
        """Return the row of a configuration.

        Raises:
            KeyError: it was not measured.
        """
        for row in self.rows:
            if row.number == number:
                return row
        raise KeyError(number)
