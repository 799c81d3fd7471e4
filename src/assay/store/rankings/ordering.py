"""The one order of a ranked list: scores down in 64 bits, NaN last, ties by a declared rule.

Lists that come in order are left alone; only those out of order are sorted, and ties are settled for
the rows that are asked about, because a rank is a position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.store.rankings.batch import Batch
from assay.store.rankings.ids import Positions
from assay.store.rankings.stretches import distinct, ranges

Ties = Literal["trec", "given", "up"]
"""How equal scores stand: ``trec``, document id down by UTF-8 bytes; ``given``, as in the file; ``up``,
document id up, as some tools that are not trec_eval do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where some rows of a batch stand in their lists."""

    rank: NDArray[np.int64]
    """From 1."""
    first: NDArray[np.int64]
    """The first rank that an order of the ties could give; equal to ``last`` where nothing ties."""
    last: NDArray[np.int64]

    @property
    def tied(self) -> bool:
        """Whether any of the rows could stand elsewhere."""
        return self.first is not self.last

    def take(self, rows: Positions) -> Places:
        """Return the places of some of the rows, in their order."""
        rank = self.rank[rows]
        if not self.tied:
            return Places(rank=rank, first=rank, last=rank)
        return Places(rank=rank, first=self.first[rows], last=self.last[rows])


class Ordering:
    """The order of every list of a batch.

    Args:
        batch: rows of whole queries.
        ties: how equal scores stand.
        single: compare scores as 32-bit numbers, as trec_eval up to version 9 did.
    """

    def __init__(self, batch: Batch, ties: Ties, *, single: bool = False) -> None:
        self._batch = batch
        self._ties: Ties = ties
        self._starts = batch.starts
        scores = batch.scores
        if single and scores is not None:
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32)
        self.nan = 0
        """Rows whose score is not a number; they stand last."""
        self._order: Positions | None = None
        self._sorted = scores
        level = np.zeros(0, np.intp)
        if scores is not None:
            level = self._not_falling(scores)
            heads = self._starts[batch.lengths > 0]
            if np.isnan(scores[heads]).any() or np.isnan(scores[level]).any():
                self.nan = int(np.isnan(scores).sum())
            level = self._sorted_level(scores, level)
        self._level = level
        """Places whose score is that of the place before, in the same list; ascending."""

    @property
    def as_given(self) -> bool:
        """Whether every list stands in the order of its rows."""
        return self._order is None and (self._ties == "given" or not len(self._level))

    def places(self, rows: Positions, stretch: NDArray[np.integer] | None = None) -> Places:
        """Return where some rows (by position in the batch) stand.

        Args:
            rows: positions in the batch.
            stretch: the stretch of each row, where the caller knows it already.
        """
        stretch = self._batch.stretch[rows] if stretch is None else stretch
        at = rows if self._order is None else self._inverse()[rows]
        start = self._starts[stretch]
        rank = at - start + 1
        if not len(self._level):
            return Places(rank=rank, first=rank, last=rank)
        equal = np.zeros(len(self._batch), np.bool_)
        equal[self._level] = True
        equal[self._level - 1] = True
        tied = np.flatnonzero(np.take(equal, at))
        if not len(tied):
            return Places(rank=rank, first=rank, last=rank)
        # neighbours among them that do not touch are the end of one group and the beginning of the next
        apart = np.flatnonzero(np.diff(self._level, prepend=-1) > 1)
        heads, tails = self._level[apart] - 1, self._level[np.append(apart[1:], len(self._level)) - 1] + 1
        group = np.searchsorted(heads, at[tied], "right") - 1
        head, tail = heads[group], tails[group]
        first, last = rank.copy(), rank.copy()
        first[tied], last[tied] = head - start[tied] + 1, tail - start[tied]
        if self._ties != "given":
            rank[tied] = first[tied] + self._settle(head, tail, at[tied])
        return Places(rank=rank, first=first, last=last)

    def contradicted(self) -> NDArray[np.int64]:
        """Return the stretches whose rank column says another order than their scores."""
        ranks, scores = self._batch.ranks, self._sorted
        if ranks is None or scores is None or not len(ranks):
            return np.zeros(0, np.int64)
        ranks = ranks if self._order is None else ranks[self._order]
        wrong = ranks[1:] < ranks[:-1]
        wrong[self._starts[1:] - 1] = False
        if not wrong.any():
            return np.zeros(0, np.int64)
        wrong &= scores[1:] < scores[:-1]
        return distinct(np.searchsorted(self._starts, np.flatnonzero(wrong), "right") - 1)

    def whole(self) -> Positions:
        """Return the rows in order, list after list."""
        rows = np.arange(len(self._batch), dtype=np.intp)
        order = rows if self._order is None else self._order
        if self._ties == "given" or not len(self._level):
            return order
        rank = self.places(rows).rank
        out = np.empty_like(rows)
        out[np.repeat(self._starts, self._batch.lengths) + rank - 1] = rows
        return out

    def _not_falling(self, scores: NDArray[np.floating]) -> Positions:
        """Return the places inside lists whose score is not below that of the place before; NaN is not."""
        level = np.ones(len(scores) + 1, np.bool_)
        np.less(scores[1:], scores[:-1], out=level[1:-1])
        np.logical_not(level, out=level)
        level[self._starts] = False
        level[-1] = False
        return np.flatnonzero(level)

    def _sorted_level(self, scores: NDArray[np.floating], places: Positions) -> Positions:
        """Sort the lists that are out of order; return the places that then equal the one before them.

        Args:
            scores: of all rows.
            places: from ``_not_falling``.
        """
        own, before = scores[places], scores[places - 1]
        rises = own > before
        if self.nan:
            rises |= np.isnan(before) & ~np.isnan(own)
        if rises.any():
            stretch = distinct(np.searchsorted(self._starts, places[rises], "right") - 1)
            lengths = self._batch.lengths[stretch]
            rows = ranges(self._starts[stretch], lengths)
            # numpy sorts NaN last, also when negated
            inside = np.lexsort((-scores[rows], np.repeat(np.arange(len(stretch)), lengths)))
            order = np.arange(len(scores), dtype=np.intp)
            order[rows] = rows[inside]
            self._order = order
            self._sorted = scores = scores[order]
            places = self._not_falling(scores)
            own, before = scores[places], scores[places - 1]
        return places[(own == before) | (np.isnan(own) & np.isnan(before))]

    def _settle(self, head: Positions, tail: Positions, at: Positions) -> Positions:
        """Return the place (from 0) of each tied row in its group, document ids down."""
        # sorted by hand: np.unique loads all of numpy.ma, which small files would wait for
        by = np.argsort(head, kind="stable")
        fresh = np.ones(len(head), np.bool_)
        fresh[1:] = head[by][1:] != head[by][:-1]
        groups = head[by][fresh]
        which = np.empty(len(head), np.intp)
        which[by] = np.cumsum(fresh) - 1
        sizes = np.zeros(len(groups), np.int64)
        sizes[which] = tail - head
        members = ranges(groups, sizes)
        rows = members if self._order is None else self._order[members]
        places = self._batch.docs.take(rows).places_down(np.repeat(np.arange(len(groups)), sizes))
        own = places[(np.cumsum(sizes) - sizes)[which] + (at - head)]
        return own if self._ties == "trec" else tail - head - 1 - own

    def _inverse(self) -> Positions:
        assert self._order is not None
        inverse = np.empty_like(self._order)
        inverse[self._order] = np.arange(len(inverse))
        return inverse
