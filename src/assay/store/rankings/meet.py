"""Where a run meets the judgements: rows of text become judged ranks.

Rows are cut to judged documents first, by 64-bit keys and a small table that fits the processor's
cache; what passes is compared as text. Everything after that is about the few rows that are judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from assay.model.relevance import Judged, JudgedRows
from assay.store.rankings.batch import (
    Batch,
    Duplicates,
    RepeatedError,
    folded,
    pairs_of,
    repeats,
    row_keys,
)
from assay.store.rankings.ids import Docs, Keys, Positions, scattered
from assay.store.rankings.judgements import Judgements
from assay.store.rankings.ordering import Ordering, Places, Ties, distinct, ranges

_PIECE_ROWS = 1 << 17
_TABLE_BITS_A_ROW = 4
"""The table has 16 places a judged document: one unjudged row in 16 passes, and is compared in vain."""


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
    first: NDArray[np.int64]
    """For each found row, the first rank that an order of the ties could give ..."""
    last: NDArray[np.int64]
    """... and the last."""
    extra: tuple[str, ...]
    """Queries of the run that have no judgements; they are left out."""
    contradicted: tuple[str, ...]
    """Queries whose rank column says another order than their scores."""
    not_numbers: tuple[str, ...]
    """Queries with scores that are NaN."""
    folded: int
    """Repeated documents that were folded."""


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
        self._parts: list[tuple[NDArray[np.int64], Positions, Places]] = []
        self._extra: list[str] = []
        self._contradicted: list[str] = []
        self._not_numbers: list[str] = []
        self._folded = 0
        self._asked: tuple[type[Docs], Docs, Keys] | None = None
        """The judged documents, stored as the run's are, and their keys; made once for a kind of run."""

    def add(self, batch: Batch) -> None:
        """Take the rows of some whole queries.

        Raises:
            RepeatedError: a document stands twice for a query, and the rules do not fold it.
        """
        batch, keys = self._unrepeated(batch)
        position = self._set.position
        query = np.fromiter(map(position.get, batch.queries, repeat(-1)), np.int64, len(batch.queries))
        if (query < 0).any():
            self._extra += [
                name for name, code in zip(batch.queries, query.tolist(), strict=True) if code < 0
            ]
        ordering = Ordering(batch, self._rules.ties, single=self._rules.single)
        self._contradicted += batch.contradicted
        self._contradicted += [batch.queries[place] for place in ordering.contradicted().tolist()]
        if ordering.nan and batch.scores is not None:
            rows = np.flatnonzero(np.isnan(batch.scores))
            stretch = distinct(np.searchsorted(batch.starts, rows, "right") - 1)
            self._not_numbers += [batch.queries[place] for place in stretch.tolist()]
        known = query >= 0
        self._retrieved[query[known]] = batch.lengths[known]
        self._answered[query[known]] = True
        rows, judged = self._hits(batch, keys, query)
        stretch = batch.stretch[rows]
        self._parts.append((query[stretch], judged, ordering.places(rows)))

    def take(self, batches: Iterable[Batch]) -> Meeting:
        """Take a whole run and give what it met.

        Raises:
            RepeatedError: as ``add``.
        """
        for batch in batches:
            for piece in _pieces(batch):
                self.add(piece)
        return self.meeting()

    def meeting(self) -> Meeting:
        """Give what was met so far."""
        query, row, rank, first, last = self._columns()
        retrieved = self._retrieved
        if self._rules.judged_only:
            retrieved = np.bincount(query, minlength=len(retrieved))
            starts = np.cumsum(retrieved) - retrieved
            rank = np.arange(1, len(query) + 1) - starts[query]
            first = last = rank
        return Meeting(
            judged=Judged(
                query_ids=self._set.query_ids,
                found=JudgedRows(
                    query=query.astype(np.int32), rank=rank.astype(np.int32), grade=self._set.grades[row]
                ),
                ideal=self._set.ideal,
                retrieved=retrieved.copy(),
                nonrelevant=self._set.nonrelevant,
                negative=self._set.negative,
                answered=self._answered.copy(),
            ),
            first=first.astype(np.int64),
            last=last.astype(np.int64),
            extra=tuple(self._extra),
            contradicted=tuple(self._contradicted),
            not_numbers=tuple(self._not_numbers),
            folded=self._folded,
        )

    def _unrepeated(self, batch: Batch) -> tuple[Batch, Keys]:
        if self._rules.unlike_query:
            batch = _unlike_query(batch)
        keys = row_keys(batch)
        again = np.zeros(0, np.intp) if batch.proven else repeats(batch, keys)
        if not len(again):
            return batch, keys
        if self._rules.duplicates == "error":
            raise RepeatedError(pairs_of(batch, again))
        self._folded += len(again)
        batch = folded(batch, self._rules.duplicates)
        return batch, row_keys(batch)

    def _hits(self, batch: Batch, keys: Keys, query: NDArray[np.int64]) -> tuple[Positions, Positions]:
        """Return the judged rows of a batch and the row of the judgement of each."""
        offsets = self._set.offsets
        known = np.flatnonzero(query >= 0)
        sizes = offsets[query[known] + 1] - offsets[query[known]]
        judged = ranges(offsets[query[known]], sizes)
        if not len(judged):
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        docs, asked = self._judged_docs(batch.docs)
        rows, place = _equal_keys(keys, asked[judged] ^ np.repeat(scattered(known), sizes))
        hit = judged[place]
        same = batch.docs.take(rows).same(docs.take(hit))
        return (rows, hit) if same.all() else (rows[same], hit[same])

    def _judged_docs(self, like: Docs) -> tuple[Docs, Keys]:
        if self._asked is None or self._asked[0] is not type(like):
            docs = like.like(self._set.docs)
            self._asked = (type(like), docs, docs.keys())
        return self._asked[1], self._asked[2]

    def _columns(self) -> tuple[NDArray[np.int64], ...]:
        parts = self._parts
        if not parts:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing, nothing, nothing
        query = np.concatenate([part[0] for part in parts])
        rank = np.concatenate([part[2].rank for part in parts])
        columns = [
            query,
            np.concatenate([part[1] for part in parts]),
            rank,
            np.concatenate([part[2].first for part in parts]),
            np.concatenate([part[2].last for part in parts]),
        ]
        order = np.argsort((query << 32) | rank, kind="stable")
        return tuple(column[order] for column in columns)


def _equal_keys(keys: Keys, wanted: Keys) -> tuple[Positions, Positions]:
    """Return the rows whose key is wanted and the place of each among the wanted."""
    bits = max(10, (len(wanted) - 1).bit_length() + _TABLE_BITS_A_ROW)
    shift = np.uint64(64 - bits)
    slots, every = (wanted >> shift).view(np.int64), np.arange(len(wanted))
    table = np.zeros(1 << bits, np.bool_)
    table[slots] = True
    rows = np.flatnonzero(np.take(table, (keys >> shift).view(np.int64)))
    some = keys[rows]
    at = (some >> shift).view(np.int64)
    # Where each place of the table leads: where several lead to one place, it keeps the last of them ...
    lead = np.empty(1 << bits, np.intp)
    lead[slots] = every
    place = lead[at]
    equal = np.flatnonzero(wanted[place] == some)
    others = np.flatnonzero(lead[slots] != every)
    if not len(others):
        return rows[equal], place[equal]
    # ... and the others are searched for, by the rows that come to such a place.
    table[slots] = False
    table[slots[others]] = True
    coming = np.flatnonzero(table[at])
    row, which = _searched(some[coming], wanted[others])
    return np.concatenate([rows[equal], rows[coming[row]]]), np.concatenate([place[equal], others[which]])


def _searched(keys: Keys, wanted: Keys) -> tuple[Positions, Positions]:
    """Return the rows whose key is wanted and the place of each, equal keys with all of theirs."""
    order = np.argsort(wanted)
    ascending = wanted[order]
    first = np.searchsorted(ascending, keys)
    many = np.searchsorted(ascending, keys, "right") - first
    rows = np.flatnonzero(many)
    return np.repeat(rows, many[rows]), order[ranges(first[rows], many[rows])]


def _pieces(batch: Batch) -> Iterator[Batch]:
    """Cut a long batch between queries, so that its columns stay in the processor's cache."""
    if len(batch) <= 2 * _PIECE_ROWS:
        yield batch
        return
    ends = np.cumsum(batch.lengths)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _PIECE_ROWS, "right")))
        yield batch.cut(first, last)
        first = last


def _unlike_query(batch: Batch) -> Batch:
    texts = batch.docs.texts()
    stretch = np.repeat(np.arange(len(batch.queries)), batch.lengths)
    keep = np.array([texts[row] != batch.queries[s] for row, s in enumerate(stretch.tolist())], np.bool_)
    if keep.all():
        return batch
    return batch.take(
        np.flatnonzero(keep), batch.queries, np.bincount(stretch[keep], minlength=len(batch.queries))
    )
