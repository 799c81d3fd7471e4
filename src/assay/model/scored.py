"""Runs that were scored against judgements: the means, what they stand on, and what was noticed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model.notices import Notice
from assay.model.scores import Average, ScoreTable
from assay.model.showing import Showable


@dataclass(frozen=True, kw_only=True)
class ScoredRun:
    """One run against one set of judgements."""

    name: str
    """The file, or what the caller calls it."""
    table: ScoreTable
    """One row a judged query."""
    means: Mapping[str, Average]
    """Measure -> its mean over the queries that have a value."""
    counts: Mapping[str, int]
    """``queries``, ``answered``, ``missing``, ``extra``, ``hits``, ``judged``, ``relevant``, ``found``."""
    by: Mapping[str, Mapping[str, Mapping[str, Average]]] = field(
        default_factory=dict[str, Mapping[str, Mapping[str, Average]]]
    )
    """Column -> value -> measure -> mean; queries without a value stand under ``(none)``."""
    tied: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """Measure -> the lowest and highest mean that an order of equal scores could give, where it matters."""
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Scorecard(Showable):
    """Several runs against the same judgements, side by side."""

    judgements: str
    """The file of judgements, or what the caller calls them."""
    runs: tuple[ScoredRun, ...]
    measures: tuple[str, ...]
    """As they were asked for: the names of the columns."""
    tool: str | None = None
    """The tool whose figures these are (``--compat``); None: Assay's own."""
    printed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Measure -> the name that the tool prints it under."""
    notices: tuple[Notice, ...] = ()
    """What is to be said of the judgements."""
