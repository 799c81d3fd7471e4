"""Scores: one row a query, one column a measure. Averages are views of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum

import numpy as np
from numpy.typing import NDArray

from assay.model.notices import Notice
from assay.model.showing import Showable


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """A mean over queries, and how many it stands on."""

    mean: float | None
    """None when no query has a value."""
    n: int
    """Queries with a value."""
    undefined: int = 0
    """Queries without one (nothing relevant, or unanswerable): left out of the mean."""
    ceiling: float | None = None
    """The mean of the best lists that the set allows, over the same queries."""


@dataclass(frozen=True, kw_only=True)
class ScoreTable(Showable):
    """The scores of one run (or of one stage of it)."""

    query_ids: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]
    """Measure -> one value a query; NaN inside this array means undefined, and reads as None outside."""
    ceilings: Mapping[str, NDArray[np.float64]] = field(default_factory=dict[str, NDArray[np.float64]])
    """Measure -> the best reachable value a query."""
    groups: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict[str, tuple[str | None, ...]])
    """Column (``kind``, ``split``, ``language``) -> one value a query."""
    unwinnable: NDArray[np.bool_] | None = None
    """Queries that no retriever could win; they score 0 in the headline."""
    notices: tuple[Notice, ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(self.values)

    def value(self, measure: str, query_id: str) -> float | None:
        """Return one score, or None when it is undefined.

        Raises:
            KeyError: there is no such measure.
            ValueError: there is no such query.
        """
        score = float(self.values[measure][self.query_ids.index(query_id)])
        return None if np.isnan(score) else score

    def where(self, column: str, value: str | None) -> NDArray[np.bool_]:
        """Return the mask of the queries whose column has that value."""
        return np.array([cell == value for cell in self.groups[column]], dtype=np.bool_)

    def average(self, measure: str, mask: NDArray[np.bool_] | None = None) -> Average:
        """Return the macro average over the queries of a mask (all, by default).

        The sum is exact (``math.fsum``), so that the order of queries cannot change it.
        """
        return Average(
            mean=_mean(self.values[measure], mask),
            n=int(np.count_nonzero(~np.isnan(_masked(self.values[measure], mask)))),
            undefined=int(np.count_nonzero(np.isnan(_masked(self.values[measure], mask)))),
            ceiling=_mean(self.ceilings[measure], mask) if measure in self.ceilings else None,
        )


def _masked(values: NDArray[np.float64], mask: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    return values if mask is None else values[mask]


def _mean(values: NDArray[np.float64], mask: NDArray[np.bool_] | None) -> float | None:
    chosen = _masked(values, mask)
    chosen = chosen[~np.isnan(chosen)]
    return exact_sum(chosen) / len(chosen) if len(chosen) else None


def exact_sum(values: NDArray[np.float64]) -> float:
    """Return the sum, rounded once: what ``math.fsum`` gives, sooner for a long column.

    Values are cut into parts of a few bits each, whose sums need no rounding.

    >>> exact_sum(np.array([1e16, 1.0, -1e16]))
    1.0
    """
    largest = float(np.abs(values).max(initial=0.0)) if len(values) >= _LONG else np.inf
    if not (largest < _LARGEST and largest * len(values) < _LARGEST_SUM):
        return fsum(values.tolist())
    sums: list[float] = []
    rest = values
    for step in _STEPS:
        # what is added and taken away again leaves the bits above a step, and nothing is rounded
        part = (rest + step) - step
        sums.append(float(part.sum()))
        rest = rest - part
        if not rest.any():
            return fsum(sums)
    return fsum(values.tolist())


_LONG = 1 << 10
_LARGEST = 2.0**10
_LARGEST_SUM = 2.0**31
_STEPS = (1.5 * 2.0**31, 1.5 * 2.0**7, 1.5 * 2.0**-17, 1.5 * 2.0**-41)
"""Parts are multiples of 2^-21, 2^-45, 2^-69 and 2^-93, each at most half of the step before: a sum of up
to 2^29 of them stays below 2^53 times its step, and every such number is a float."""
