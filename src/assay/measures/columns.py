"""Reading the input of the kernel: many ranked lists in columns, cut and counted once for all measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import InputError
from assay.model.relevance import Judged, JudgedRows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Column = TypeVar("Column", Floats, Ints)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Some rows of a judged table, still sorted by query and then rank."""

    query: NDArray[np.int32]
    rank: NDArray[np.int32]
    grade: Floats

    def where(self, mask: Bools) -> Rows:
        """Return the rows of a mask; the same object when the mask keeps all of them."""
        if mask.all():
            return self
        # by positions, which is several times faster than by the mask
        chosen = np.flatnonzero(mask)
        return Rows(query=self.query[chosen], rank=self.rank[chosen], grade=self.grade[chosen])

    def within(self, k: int | None) -> Rows:
        """Return the rows of the first ``k`` ranks; all of them without a cut."""
        return self if k is None else self.where(self.rank <= k)

    def __len__(self) -> int:
        return len(self.query)

    def starts(self) -> Ints:
        """Return the position of each query's first row."""
        if not len(self.query):
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.concatenate(([True], self.query[1:] != self.query[:-1])))

    def position(self) -> Ints:
        """Return the position of each row among its query's rows, from 1."""
        starts = self.starts()
        lengths = np.diff(np.append(starts, len(self)))
        return np.arange(1, len(self) + 1) - np.repeat(starts, lengths)

    def running(self, counted: Bools) -> Ints:
        """Return how many rows of the mask stand in the row's query up to the row, itself included."""
        if counted.all():
            return self.position()
        sums = np.cumsum(counted)
        starts = self.starts()
        lengths = np.diff(np.append(starts, len(self)))
        before = np.where(starts > 0, sums[starts - 1], 0)
        return sums - np.repeat(before, lengths)

    def first_of_rank(self) -> Bools:
        """Return the mask of rows that are the first at their query and rank."""
        new = np.ones(len(self), np.bool_)
        new[1:] = (self.query[1:] != self.query[:-1]) | (self.rank[1:] != self.rank[:-1])
        return new


class Columns:
    """One run against one golden set, in columns; counts are made once and kept.

    Args:
        judged: the rows; sorted by query, then rank.
        spread: count each item as a rank of its own, in order. For ceilings, where one slot that
            earns several items must not make the best list look poorer than it is.

    Raises:
        InputError: rows are out of order, name an unknown query, or have a rank below 1.
    """

    def __init__(self, judged: Judged, *, spread: bool = False) -> None:
        self.n = len(judged.query_ids)
        """Number of queries: the length of every result."""
        self.retrieved: Ints = judged.retrieved
        self._spread = spread
        self._nonrelevant = judged.nonrelevant
        self._negative = judged.negative
        self._met = _checked(judged.found, self.n, "found")
        self._ideal = _checked(judged.ideal, self.n, "ideal")
        self._kept = judged.ideal.kept
        self._rows: dict[tuple[float | None, int | None], Rows] = {}
        self._earning: dict[float | None, Rows] = {}
        self._found: dict[tuple[float | None, int | None], Ints] = {}
        self._earned: dict[tuple[float | None, int | None], Ints] = {}

    # rows

    @property
    def met(self) -> Rows:
        """Every judged item that the lists hold, relevant or not."""
        return self._met

    def relevant(self, rel: float | None = None, k: int | None = None) -> Rows:
        """Return the relevant items that the lists hold within the cut."""
        if (rel, None) not in self._rows:
            self._rows[rel, None] = self._met.where(_passes(self._met.grade, rel))
        if (rel, k) not in self._rows:
            self._rows[rel, k] = self._rows[rel, None].within(k)
        return self._rows[rel, k]

    def earning(self, rel: float | None = None) -> Rows:
        """Return one row for each rank that earned something (a rank may earn two anchors at once)."""
        if rel not in self._earning:
            rows = self.relevant(rel)
            if self._spread:
                self._earning[rel] = Rows(
                    query=rows.query, rank=rows.position().astype(np.int32), grade=rows.grade
                )
            else:
                self._earning[rel] = rows.where(rows.first_of_rank())
        return self._earning[rel]

    def ideal_rows(self, k: int | None = None) -> Rows:
        """Return the items of the best imaginable lists within the cut."""
        return self._ideal.within(k)

    # counts, one a query

    def total(self, rel: float | None = None, k: int | None = None) -> Ints:
        """Return how many relevant items there are, or how many of them the best list holds by ``k``."""

        def count() -> Ints:
            return self._count(self._ideal.where(_passes(self._ideal.grade, rel)).within(k))

        return self.of_ideal(("total", rel, k), count)

    def of_ideal(self, name: tuple[object, ...], make: Callable[[], Column]) -> Column:
        """Return what is worked out from the best imaginable lists alone, once for all runs.

        Args:
            name: what it is, with all that it depends on.
            make: works it out; one value a query.
        """
        made = self._kept.get((self.n, name))
        if made is None:
            made = make()
            made.flags.writeable = False
            self._kept[self.n, name] = made
        return cast("Column", made)

    def found(self, rel: float | None, k: int | None) -> Ints:
        """Return how many relevant items stand within the cut."""
        if (rel, k) not in self._found:
            rows = self.relevant(rel, k)
            whole = k is not None and rows is self.relevant(rel)  # the cut cuts nothing off
            self._found[rel, k] = self.found(rel, None) if whole else self._count(rows)
        return self._found[rel, k]

    def earned(self, rel: float | None, k: int | None) -> Ints:
        """Return how many ranks within the cut earned something; the same as ``found`` for chunks."""
        if (rel, k) not in self._earned:
            self._earned[rel, k] = self._count(self.earning(rel).within(k))
        return self._earned[rel, k]

    def nonrelevant(self, rel: float | None) -> Ints:
        """Return how many items are judged not relevant at that threshold, retrieved or not.

        Grades below 0 are left out: TREC's files mean "pooled, but not judged" by them.
        """
        low = self._count(self._ideal) - self.total(rel)
        seen = self._count(self._met.where(self._met.grade == 0))
        known = 0 if self._nonrelevant is None else self._nonrelevant
        negative = self._count(self._met.where(self._met.grade < 0))
        if self._negative is not None:
            negative = np.maximum(negative, self._negative)
        return low + np.maximum(known - negative, seen)

    @cached_property
    def labelled(self) -> Bools:
        """Whether a query has any judgement at all."""
        known = 0 if self._nonrelevant is None else self._nonrelevant
        return (self._count(self._ideal) + self._count(self._met) + known) > 0

    # results, one a query

    def sum(self, rows: Rows, weights: Floats) -> Floats:
        """Add weights by query, one after the other in the order of the rows (as a loop would)."""
        # without rows, bincount forgets that the weights were floats
        return np.bincount(rows.query, weights=weights, minlength=self.n).astype(np.float64, copy=False)

    def defined(self, values: Floats | Ints, rel: float | None = None) -> Floats:
        """Return the values, with NaN for the queries that have nothing relevant."""
        return np.where(self.total(rel) > 0, values, np.nan)

    def _count(self, rows: Rows) -> Ints:
        return np.bincount(rows.query, minlength=self.n)


def ratio(numerator: Floats | Ints, denominator: Floats | Ints) -> Floats:
    """Divide, with NaN where there is nothing to divide by."""
    out = np.full(len(numerator), np.nan)
    return np.divide(numerator, denominator, out=out, where=denominator > 0)


def _passes(grades: Floats, rel: float | None) -> Bools:
    return grades > 0 if rel is None else (grades > 0) & (grades >= rel)


def _checked(rows: JudgedRows, n: int, name: str) -> Rows:
    query, rank = rows.query, rows.rank
    if (n, "checked") in rows.kept:
        return Rows(query=query, rank=rank, grade=rows.grade)
    ordered = (query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (rank[1:] >= rank[:-1]))
    if not ordered.all():
        raise InputError(
            f"judged rows ({name}) are not in order",
            fix="sort them by query, then rank: np.lexsort((rank, query))",
        )
    if len(query) and (query[0] < 0 or query[-1] >= n or rank.min() < 1):
        raise InputError(
            f"judged rows ({name}) name a query outside 0 to {n - 1}, or a rank below 1",
            fix="number the queries by their place, and ranks from 1",
        )
    rows.kept[n, "checked"] = rows.grade
    return Rows(query=query, rank=rank, grade=rows.grade)
