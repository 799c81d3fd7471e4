"""Equal scores: what a measure could have been, had the ties fallen otherwise.

A retriever that gives several hits the same score leaves their order to chance. Here each tie group
(consecutive hits of one list with the same score) is laid out at its best and its worst, and averaged
over all orders. Bounds are exact where one hit earns one item of its own (chunks); for anchors and
documents, which the first of several hits earns, each hit keeps what it earned in the order given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.measures.batch import score
from assay.measures.columns import Bools, Columns, Floats, Ints, Rows
from assay.measures.family import Measure
from assay.measures.gains import divisors, gains_of
from assay.model.errors import InputError
from assay.model.relevance import Judged, JudgedRows

_MEANS = ("RR", "hit", "recall", "precision", "DCG", "nDCG", "AP")
_NOT_OF_RELEVANCE = ("judged", "RBPresidual")


@dataclass(frozen=True, slots=True, kw_only=True)
class TieGroups:
    """For each judged row of a run: the ranks over which its tie group stretches."""

    first: NDArray[np.int64]
    """The first rank of the group; the row's own rank when it is tied with nothing."""
    last: NDArray[np.int64]
    """The last rank of the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TieRange:
    """One measure over all orders of ties: one value a query, NaN where undefined."""

    worst: Floats
    given: Floats
    """In the order that was scored."""
    best: Floats

    @property
    def changed(self) -> Bools:
        """The queries whose value depends on how the ties fall."""
        return self.best > self.worst


def tie_groups(found: JudgedRows, offsets: NDArray[np.int64], scores: Floats) -> TieGroups:
    """Find the tie group of each judged row.

    Args:
        found: judged rows of the lists.
        offsets: the hits of query i are ``offsets[i]`` to ``offsets[i + 1]``, best first.
        scores: one a hit; NaN (no score) is tied with nothing.

    >>> rows = JudgedRows(query=np.array([0], np.int32), rank=np.array([3], np.int32), grade=np.ones(1))
    >>> groups = tie_groups(rows, np.array([0, 4]), np.array([0.9, 0.5, 0.5, 0.5]))
    >>> groups.first, groups.last
    (array([2]), array([4]))
    """
    place = np.arange(len(scores))
    new = np.ones(len(scores), np.bool_)
    new[1:] = scores[1:] != scores[:-1]
    inner = offsets[(offsets > 0) & (offsets < len(scores))]
    new[inner] = True
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    ends = np.append(starts[1:], len(scores)) - 1
    begin = offsets[found.query]
    hit = begin + found.rank - 1
    if len(hit) and hit.max() >= len(place):
        raise InputError(
            "a judged row has a rank beyond its list",
            fix="judge these very lists: offsets says how long each is",
        )
    return TieGroups(first=starts[group[hit]] - begin + 1, last=ends[group[hit]] - begin + 1)


def tie_range(judged: Judged, ties: TieGroups, measures: Sequence[Measure]) -> dict[str, TieRange]:
    """Return the worst and best value over tie orders, by the measure's spelling.

    Measures that speak of judgements instead of relevance (judged, RBPresidual) are left out.

    Raises:
        InputError: rows are not sorted by query and rank.

    >>> from assay.measures.spec import parse_measure
    >>> rows = JudgedRows(query=np.array([0], np.int32), rank=np.array([3], np.int32), grade=np.ones(1))
    >>> best = JudgedRows(query=np.array([0], np.int32), rank=np.array([1], np.int32), grade=np.ones(1))
    >>> judged = Judged(query_ids=("q1",), found=rows, ideal=best, retrieved=np.array([3]))
    >>> groups = tie_groups(rows, np.array([0, 3]), np.array([0.5, 0.5, 0.5]))
    >>> spread = tie_range(judged, groups, [parse_measure("RR")])["RR"]
    >>> spread.worst, spread.best, spread.changed
    (array([0.33333333]), array([1.]), array([ True]))
    """
    asked = [measure for measure in measures if measure.family.name not in _NOT_OF_RELEVANCE]
    given = score(judged, asked)
    if (ties.first == ties.last).all():
        return {name: TieRange(worst=values, given=values, best=values) for name, values in given.items()}
    worst = score(_rearranged(judged, ties, best=False), asked)
    best = score(_rearranged(judged, ties, best=True), asked)
    return {
        name: TieRange(
            worst=np.minimum(worst[name], given[name]),
            given=given[name],
            best=np.maximum(best[name], given[name]),
        )
        for name in given
    }


def tie_mean(judged: Judged, ties: TieGroups, measure: Measure) -> Floats:
    """Return the mean of a measure over all orders of ties, each order equally likely.

    Known in closed form for RR, hit, recall, precision, DCG, nDCG and AP; one value a query, NaN where
    undefined.

    Raises:
        InputError: the measure is another one.

    Source: McSherry and Najork, Computing Information Retrieval Performance Measures Efficiently in the
    Presence of Tied Scores, ECIR (2008).

    >>> from assay.measures.spec import parse_measure
    >>> rows = JudgedRows(query=np.array([0], np.int32), rank=np.array([3], np.int32), grade=np.ones(1))
    >>> best = JudgedRows(query=np.array([0], np.int32), rank=np.array([1], np.int32), grade=np.ones(1))
    >>> judged = Judged(query_ids=("q1",), found=rows, ideal=best, retrieved=np.array([3]))
    >>> groups = tie_groups(rows, np.array([0, 3]), np.array([0.5, 0.5, 0.5]))
    >>> tie_mean(judged, groups, parse_measure("RR"))  # (1 + 1/2 + 1/3) / 3
    array([0.61111111])
    """
    name = measure.family.name
    if name not in _MEANS:
        raise InputError(
            f"the mean over tie orders of {measure} is not known in closed form",
            fix=f"ask for one of {', '.join(_MEANS)}",
        )
    columns = Columns(judged)
    least = 0.0 if measure.rel is None else measure.rel
    mask = (judged.found.grade > 0) & (judged.found.grade >= least)
    tied = _Tied.of(judged.found, ties, mask)
    match name:
        case "RR" | "hit":
            values = tied.first_relevant(columns.n, measure.k, weigh=name == "RR")
        case "recall" | "precision":
            values = np.bincount(tied.query, weights=tied.share_within(measure.k), minlength=columns.n)
        case "AP":
            values = tied.precision_sum(columns.n, measure.k)
        case _:
            gains = gains_of(tied.grade, measure.gain)
            values = np.bincount(
                tied.query, weights=gains * tied.mean_discount(measure.k), minlength=columns.n
            )
    return _normalised(columns, measure, values.astype(np.float64))


def _normalised(columns: Columns, measure: Measure, values: Floats) -> Floats:
    total = columns.total(measure.rel)
    match measure.family.name:
        case "recall" | "AP":
            capped = measure.capped and measure.k is not None
            over = columns.total(measure.rel, measure.k) if capped else total
        case "precision":
            over = np.full(columns.n, measure.k)
        case "nDCG":
            rows = columns.ideal_rows(measure.k)
            table = divisors(int(rows.rank.max(initial=1)))
            over = columns.sum(rows, gains_of(rows.grade, measure.gain) / table[rows.rank])
        case _:
            over = np.ones(columns.n)
    return columns.defined(values / np.maximum(over, np.finfo(np.float64).tiny), measure.rel)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tied:
    """Relevant rows with their tie groups."""

    query: NDArray[np.int32]
    grade: Floats
    first: Ints
    size: Ints

    @staticmethod
    def of(found: JudgedRows, ties: TieGroups, mask: Bools) -> _Tied:
        first = ties.first[mask]
        size = ties.last[mask] - first + 1
        return _Tied(query=found.query[mask], grade=found.grade[mask], first=first, size=size)

    def groups(self) -> tuple[NDArray[np.int32], Ints, Ints, Ints]:
        """Return query, first rank, size and number of relevant rows of each group, in order."""
        new = np.ones(len(self.query), np.bool_)
        new[1:] = (self.query[1:] != self.query[:-1]) | (self.first[1:] != self.first[:-1])
        starts = np.flatnonzero(new)
        relevant = np.diff(np.append(starts, len(self.query)))
        return self.query[starts], self.first[starts], self.size[starts], relevant

    def share_within(self, k: int | None) -> Floats:
        """Return how likely each row is to stand within the cut."""
        if k is None:
            return np.ones(len(self.query))
        return np.clip(k - self.first + 1, 0, self.size) / self.size

    def mean_discount(self, k: int | None) -> Floats:
        """Return the mean of 1 / log2(rank + 1) over each row's group, 0 beyond the cut."""
        last = self.first + self.size - 1
        deepest = int(last.max(initial=1))
        inverse = 1.0 / divisors(deepest)[1 : deepest + 1]
        sums = np.concatenate(([0.0], np.cumsum(inverse)))
        if k is None:
            k = deepest
        within = sums[np.minimum(last, k)] - sums[np.minimum(self.first - 1, k)]
        return within / self.size

    def first_relevant(self, n: int, k: int | None, *, weigh: bool) -> Floats:
        """Return the mean of 1 / rank of the first relevant row within the cut (or of 1, for hit)."""
        query, first, size, relevant = self.groups()
        earliest = np.ones(len(query), np.bool_)
        earliest[1:] = query[1:] != query[:-1]
        query, first, size, relevant = (column[earliest] for column in (query, first, size, relevant))
        values = np.zeros(n)
        chance = relevant / size  # that the first relevant one stands at this place of its group
        place = 0
        while len(query):
            rank = first + place
            within = np.ones(len(rank), np.bool_) if k is None else rank <= k
            values[query[within]] += (chance / rank if weigh else chance)[within]
            more = place + 1 <= size - relevant
            query, first, size, relevant = (column[more] for column in (query, first, size, relevant))
            chance = chance[more] * (size - relevant - place) / (size - place - 1)
            place += 1
        return values

    def precision_sum(self, n: int, k: int | None) -> Floats:
        """Return the mean of the sum of precisions at the relevant rows within the cut."""
        query, first, size, relevant = self.groups()
        new = np.ones(len(query), np.bool_)
        new[1:] = query[1:] != query[:-1]
        sums = np.cumsum(relevant) - relevant
        starts = np.flatnonzero(new)
        before = sums - np.repeat(sums[starts], np.diff(np.append(starts, len(query))))
        group = np.repeat(np.arange(len(query)), size)
        place = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size)
        others = place * (relevant[group] - 1) / np.maximum(size[group] - 1, 1)
        rank = first[group] + place
        terms = (relevant[group] / size[group]) * (before[group] + others + 1.0) / rank
        if k is not None:
            terms = np.where(rank <= k, terms, 0.0)
        return np.bincount(query[group], weights=terms, minlength=n).astype(np.float64)


def _rearranged(judged: Judged, ties: TieGroups, *, best: bool) -> Judged:
    """Lay each tie group out with what earns most at its top (or its bottom), the rest at the other end."""
    found = Rows(query=judged.found.query, rank=judged.found.rank, grade=judged.found.grade)
    leads = found.first_of_rank()
    hit = np.cumsum(leads) - 1
    worth = np.bincount(hit, weights=np.maximum(found.grade, 0.0))
    query, first, last = found.query[leads], ties.first[leads], ties.last[leads]
    order = np.lexsort((-worth if best else worth, first, query))
    query, first, last, worth = query[order], first[order], last[order], worth[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
    starts = np.flatnonzero(new)
    lengths = np.diff(np.append(starts, len(order)))
    place = np.arange(len(order)) - np.repeat(starts, lengths)
    at_top = (worth > 0) if best else (worth == 0)
    rank = np.where(at_top, first + place, last - (np.repeat(lengths, lengths) - 1 - place))
    moved = np.empty(len(order), np.int32)
    moved[order] = rank
    ranks = moved[hit]
    sort = np.lexsort((ranks, found.query))
    return replace(
        judged,
        found=JudgedRows(query=found.query[sort], rank=ranks[sort], grade=found.grade[sort]),
    )
