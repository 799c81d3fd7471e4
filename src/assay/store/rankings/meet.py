"""Where a run meets the judgements: rows of text become judged ranks.

Rows are cut to judged documents first, by 64-bit keys and a small table that fits the processor's
cache; what passes is compared as text. Everything after that is about the few rows that are judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from assay.model.relevance import Judged, JudgedRows
from assay.store.rankings.ahead import THREADS, made_ahead
from assay.store.rankings.batch import (
    Batch,
    Duplicates,
    RepeatedError,
    folded,
    listed,
    pairs_of,
    repeats,
)
from assay.store.rankings.ids import Docs, Positions
from assay.store.rankings.judgements import Judgements
from assay.store.rankings.keyed import PIECE_ROWS, Listed, Wanted, wanted_rows_of_distinct
from assay.store.rankings.ordering import Ordering, Ties
from assay.store.rankings.stretches import distinct, ranges

_PIECE_ROWS = 1 << 18
"""Rows that meet together: few enough for the cache, many enough that calls do not count."""

_LONG_ROWS = 1 << 16
"""From the first piece of so many rows on they are met on threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a run is read; the defaults are those of a TREC file."""

    ties: Ties = "trec"
    duplicates: Duplicates = "error"
    judged_only: bool = False
    """Leave unjudged documents out of the lists, as if they had not been retrieved."""
    single: bool = False
    """Compare scores as 32-bit numbers, as trec_eval up to version 9 did."""
    unlike_query: bool = False
    """Leave out documents whose id is the query's, as BEIR does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """What a run met, and what was noticed on the way."""

    judged: Judged
    first: NDArray[np.int32]
    """For each found row, the first rank that an order of the ties could give ..."""
    last: NDArray[np.int32]
    """... and the last; the same column where nothing ties."""
    extra: tuple[str, ...]
    """Queries of the run that have no judgements; they are left out."""
    contradicted: tuple[str, ...]
    """Queries whose rank column says another order than their scores."""
    not_numbers: tuple[str, ...]
    """Queries with scores that are NaN."""
    folded: int
    """Repeated documents that were folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What some whole queries met; judged rows by query, then rank."""

    retrieved: NDArray[np.int64]
    """The query of each list that counts ..."""
    lengths: NDArray[np.int64]
    """... and its length."""
    query: NDArray[np.int32]
    """The query of each judged row."""
    grade: NDArray[np.float64]
    rank: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    extra: list[str]
    contradicted: list[str]
    not_numbers: list[str]
    folded: int


class Meet:
    """Takes a run in batches of whole queries and gives what it met.

    Args:
        judgements: the set that decides which queries count.
        rules: how the run is read.
    """

    def __init__(self, judgements: Judgements, rules: Rules) -> None:
        n = len(judgements.query_ids)
        self._set = judgements
        self._rules = rules
        self._retrieved = np.zeros(n, np.int64)
        self._answered = np.zeros(n, np.bool_)
        self._parts: list[_Part] = []

    def add(self, batch: Batch) -> None:
        """Take the rows of some whole queries.

        Raises:
            RepeatedError: a document stands twice for a query, and the rules do not fold it.
        """
        self._keep(self._part(batch, 0))

    def take(self, batches: Iterable[Batch]) -> Meeting:
        """Take a whole run and give what it met.

        Raises:
            RepeatedError: as ``add``.
        """
        pieces = _placed(piece for batch in batches for piece in _pieces(batch))
        for piece, place in pieces:
            if len(piece) < _LONG_ROWS:
                self._keep(self._part(piece, place))
                continue
            self._set.stored_like(piece.docs)  # all pieces share it
            # where the run is read meanwhile, that keeps other threads busy
            threads = THREADS if isinstance(batches, Sequence) else 1
            rest = chain([(piece, place)], pieces)
            for part in made_ahead(lambda placed: self._part(*placed), rest, threads):
                self._keep(part)
        return self.meeting()

    def meeting(self) -> Meeting:
        """Give what was met so far."""
        query, grade, rank, first, last = self._columns()
        retrieved = self._retrieved
        if self._rules.judged_only:
            retrieved = np.bincount(query, minlength=len(retrieved))
            starts = np.cumsum(retrieved) - retrieved
            first = last = rank = (np.arange(1, len(query) + 1) - starts[query]).astype(np.int32)
        return Meeting(
            judged=Judged(
                query_ids=self._set.query_ids,
                found=JudgedRows(query=query, rank=rank, grade=grade),
                ideal=self._set.ideal,
                retrieved=retrieved.copy(),
                nonrelevant=self._set.nonrelevant,
                negative=self._set.negative,
                answered=self._answered.copy(),
            ),
            first=first,
            last=last,
            extra=tuple(name for part in self._parts for name in part.extra),
            contradicted=tuple(name for part in self._parts for name in part.contradicted),
            not_numbers=tuple(name for part in self._parts for name in part.not_numbers),
            folded=sum(part.folded for part in self._parts),
        )

    def _part(self, batch: Batch, place: int) -> _Part:
        if self._rules.unlike_query:
            batch = _unlike_query(batch)
        query = self._query_codes(batch.queries, place)
        batch, folds, (rows, stretch, judgement) = self._met_rows(batch, query)
        ordering = Ordering(batch, self._rules.ties, single=self._rules.single)
        wrong: list[int] = ordering.contradicted().tolist()
        contradicted = [batch.queries[place] for place in wrong]
        not_numbers: list[str] = []
        if ordering.nan and batch.scores is not None:
            nan = np.flatnonzero(np.isnan(batch.scores))
            not_a_number = distinct(np.searchsorted(batch.starts, nan, "right") - 1)
            not_numbers = [batch.queries[place] for place in not_a_number.tolist()]
        known, extra = query >= 0, list[str]()
        if not known.all():
            extra = [name for name, code in zip(batch.queries, query.tolist(), strict=True) if code < 0]
        at, grade = query.astype(np.int32)[stretch], self._set.grades[judgement]
        places = ordering.places(rows, stretch)
        if not (ordering.as_given and (query[1:] > query[:-1]).all()):
            key = (at.astype(np.int64) << 32) | places.rank
            if not (key[1:] >= key[:-1]).all():
                # in order but for a few, which a merge sort sees
                order = np.argsort(key, kind="stable")
                at, grade, places = at[order], grade[order], places.take(order)
        rank = places.rank.astype(np.int32)
        return _Part(
            retrieved=query[known],
            lengths=batch.lengths[known],
            query=at,
            grade=grade,
            rank=rank,
            first=places.first.astype(np.int32) if places.tied else rank,
            last=places.last.astype(np.int32) if places.tied else rank,
            extra=extra,
            contradicted=[*batch.contradicted, *contradicted],
            not_numbers=not_numbers,
            folded=folds,
        )

    def _keep(self, part: _Part) -> None:
        self._retrieved[part.retrieved] = part.lengths
        self._answered[part.retrieved] = True
        self._parts.append(part)

    def _query_codes(self, queries: list[str], place: int) -> NDArray[np.int64]:
        """Return the position of each query among the judged ones, -1 where it is not judged.

        Args:
            queries: of a piece of the run.
            place: how many queries of the run stand before them.
        """
        n = len(queries)
        # Both files have usually the same order; then one look is enough.
        if self._set.query_ids[place : place + n] == tuple(queries):
            return np.arange(place, place + n)
        position = self._set.position
        first = position.get(queries[0], -1) if n else -1
        if first >= 0 and self._set.query_ids[first : first + n] == tuple(queries):
            return np.arange(first, first + n)
        return np.fromiter(map(position.get, queries, repeat(-1)), np.int64, n)

    def _met_rows(
        self, batch: Batch, query: NDArray[np.int64]
    ) -> tuple[Batch, int, tuple[Positions, NDArray[np.int32], Positions]]:
        """Return the batch without repeats, how many there were, and its judged rows.

        Of the judged rows: their positions, ascending; their stretches; their judgements.
        """
        judged, docs, asked = self._asked_of(batch, query)
        met = None if batch.proven else _met_apart(batch, asked)
        folds = 0
        if met is None:
            again = np.zeros(0, np.intp) if batch.proven else repeats(batch)
            folds = len(again)
            if folds:
                if self._rules.duplicates == "error":
                    raise RepeatedError(pairs_of(batch, again))
                batch = folded(batch, self._rules.duplicates)
            met = Wanted.of(asked).rows_in(listed(batch))
        rows, place = met
        stretch = np.repeat(np.arange(len(asked.lengths), dtype=np.int32), asked.lengths)[place]
        hit = place + judged if isinstance(judged, int) else judged[place]
        if not batch.docs.keys_tell:
            same = batch.docs.take(rows).same(docs.take(hit))
            if not same.all():
                rows, stretch, hit = rows[same], stretch[same], hit[same]
        return batch, folds, (rows, stretch, hit)

    def _asked_of(self, batch: Batch, query: NDArray[np.int64]) -> tuple[Positions | int, Docs, Listed]:
        """Return the judgements of a batch's queries, the documents of all, and the keys of theirs.

        Where the judgements are one stretch of the set's, its first stands for all of them.
        """
        offsets = self._set.offsets
        docs, keys = self._set.stored_like(batch.docs)
        known = query >= 0
        codes = np.where(known, query, 0)
        first, stop = offsets[codes], np.where(known, offsets[codes + 1], offsets[codes])
        sizes = stop - first
        if len(codes) and (first[1:] == stop[:-1]).all():
            # the same order in both files
            low, high = int(first[0]), int(stop[-1])
            return low, docs, Listed(keys[low:high], sizes)
        judged = ranges(first, sizes)
        return judged, docs, Listed(keys[judged], sizes)

    def _columns(
        self,
    ) -> tuple[
        NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]
    ]:
        """Return query, grade, rank, and the first and the last rank of each judged row, in order."""
        parts = [part for part in self._parts if len(part.query)]
        if not parts:
            nothing = np.zeros(0, np.int32)
            return nothing, np.zeros(0), nothing, nothing, nothing
        query = np.concatenate([part.query for part in parts])
        grade = np.concatenate([part.grade for part in parts])
        first = last = rank = np.concatenate([part.rank for part in parts])
        if any(part.first is not part.last for part in parts):
            first = np.concatenate([part.first for part in parts])
            last = np.concatenate([part.last for part in parts])
        # no query stands in two parts
        if all(before.query[-1] < after.query[0] for before, after in pairwise(parts)):
            return query, grade, rank, first, last
        order = np.lexsort((rank, query))
        return query[order], grade[order], rank[order], first[order], last[order]


def _met_apart(batch: Batch, asked: Listed) -> tuple[Positions, Positions] | None:
    """Return the asked rows and the place of each, list after list; None when two keys are equal."""
    keys = batch.docs.keys()
    ends = np.concatenate(([0], np.cumsum(asked.lengths)))
    found: list[tuple[Positions, Positions]] = []
    for first, last, start, stop in batch.pieces(PIECE_ROWS):
        low, high = int(ends[first]), int(ends[last])
        rows = Listed(keys[start:stop], batch.lengths[first:last])
        part = wanted_rows_of_distinct(rows, Listed(asked.keys[low:high], asked.lengths[first:last]))
        if part is None:
            return None
        found.append((part[0] + start, part[1] + low))
    if len(found) == 1:
        return found[0]
    nothing = [(np.zeros(0, np.intp), np.zeros(0, np.intp))]
    rows, places = zip(*(found or nothing), strict=True)
    return np.concatenate(rows), np.concatenate(places)


def _pieces(batch: Batch) -> Iterator[Batch]:
    """Cut a long batch between queries, so that its columns stay in the processor's cache."""
    if len(batch) <= _PIECE_ROWS:
        yield batch
        return
    for first, last, _, _ in batch.pieces(_PIECE_ROWS):
        yield batch.cut(first, last)


def _placed(pieces: Iterable[Batch]) -> Iterator[tuple[Batch, int]]:
    """Yield each piece with the number of queries before it."""
    place = 0
    for piece in pieces:
        yield piece, place
        place += len(piece.queries)


def _unlike_query(batch: Batch) -> Batch:
    texts = batch.docs.texts()
    stretch = np.repeat(np.arange(len(batch.queries)), batch.lengths)
    keep = np.array([texts[row] != batch.queries[s] for row, s in enumerate(stretch.tolist())], np.bool_)
    if keep.all():
        return batch
    return batch.take(
        np.flatnonzero(keep), batch.queries, np.bincount(stretch[keep], minlength=len(batch.queries))
    )
