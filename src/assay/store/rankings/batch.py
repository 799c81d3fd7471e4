"""Rows of a run as they are read: queries in stretches, documents, scores, ranks.

A run is a stream of batches, so that its length never decides how much memory it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from assay.store.rankings.ids import Docs, FrameDocs, Positions, joined
from assay.store.rankings.keyed import PIECE_ROWS, Listed, distinct_keys

if TYPE_CHECKING:
    import polars as pl

Duplicates = Literal["error", "first", "best"]
"""What a document named twice for one query is: an error, or folded into its first or its best row."""


class UncleanError(Exception):
    """The fast path met rows that only the careful one can judge; never seen by a user."""


class ScatteredError(Exception):
    """A query's rows do not stand together, so that no batch is complete; never seen by a user."""


class RepeatedError(Exception):
    """A document stands twice for one query; carries the pairs, for sources that have no lines."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        super().__init__(f"{len(pairs)} repeated documents")
        self.pairs = tuple(pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some rows of a run, in the order of the file."""

    queries: list[str]
    """The query of each stretch of rows."""
    lengths: NDArray[np.int64]
    """How many rows each stretch has."""
    docs: Docs
    scores: NDArray[np.float64] | None
    """None: the run gives none, and the order of its rows is the ranking."""
    ranks: NDArray[np.int64] | None = None
    """The rank column, where the file has one that can be read; used for a warning only."""
    contradicted: tuple[str, ...] = ()
    """Queries whose rank column is known to disagree (of a run that was coded before)."""
    proven: bool = False
    """Whether it is known that its queries are whole and that no document stands twice for one."""

    def __len__(self) -> int:
        return len(self.docs)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each stretch."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def stretch(self) -> NDArray[np.int32]:
        """The stretch of each row."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)

    def take(self, rows: Positions, queries: list[str], lengths: NDArray[np.int64]) -> Batch:
        """Return the batch of some rows, under the stretches that they now form."""
        return Batch(
            queries=queries,
            lengths=lengths,
            docs=self.docs.take(rows),
            scores=None if self.scores is None else self.scores[rows],
            ranks=None if self.ranks is None else self.ranks[rows],
        )

    def cut(self, first: int, last: int) -> Batch:
        """Return the batch of the stretches from ``first`` up to, not including, ``last``."""
        start = int(self.lengths[:first].sum())
        stop = start + int(self.lengths[first:last].sum())
        return Batch(
            queries=self.queries[first:last],
            lengths=self.lengths[first:last],
            docs=self.docs.cut(start, stop),
            scores=None if self.scores is None else self.scores[start:stop],
            ranks=None if self.ranks is None else self.ranks[start:stop],
            contradicted=self.contradicted if first == 0 else (),
            proven=self.proven,
        )

    def pieces(self, rows: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield stretches (from, to) and their rows (from, to): at most so many rows, or one list."""
        ends = np.cumsum(self.lengths)
        first = start = 0
        while first < len(ends):
            last = max(first + 1, int(np.searchsorted(ends, start + rows, "right")))
            stop = int(ends[last - 1])
            yield first, last, start, stop
            first, start = last, stop


def batch_of(frame: pl.DataFrame) -> Batch:
    """Return the batch of a table with the columns query and doc, and maybe score and rank."""
    runs = frame["query"].rle().struct.unnest()
    return Batch(
        queries=runs["value"].to_list(),
        lengths=runs["len"].to_numpy().astype(np.int64),
        docs=FrameDocs.hashed(frame["doc"]),
        scores=frame["score"].to_numpy() if "score" in frame.columns else None,
        ranks=frame["rank"].to_numpy() if "rank" in frame.columns else None,
    )


def stacked(batches: Sequence[Batch]) -> Batch:
    """Put batches one under the other, as they come."""
    if len(batches) == 1:
        return batches[0]
    scores = [batch.scores for batch in batches if batch.scores is not None]
    wrong = [query for batch in batches for query in batch.contradicted]
    ranks = [batch.ranks for batch in batches if batch.ranks is not None]
    queries = [query for batch in batches for query in batch.queries]
    lengths = np.concatenate([batch.lengths for batch in batches])
    # inside a batch neighbours differ; where one ends, a query may go on
    fresh = np.ones(len(queries), np.bool_)
    for start in np.cumsum([len(batch.queries) for batch in batches[:-1]]).tolist():
        if 0 < start < len(queries):
            fresh[start] = queries[start] != queries[start - 1]
    if not fresh.all():
        queries = [query for query, new in zip(queries, fresh.tolist(), strict=True) if new]
        lengths = np.add.reduceat(lengths, np.flatnonzero(fresh))
    return Batch(
        queries=queries,
        lengths=lengths,
        docs=joined([batch.docs for batch in batches]),
        scores=np.concatenate(scores) if len(scores) == len(batches) else None,
        ranks=np.concatenate(ranks) if len(ranks) == len(batches) else None,
        contradicted=tuple(wrong),
    )


def together(batch: Batch) -> Batch:
    """Bring the rows of each query together, queries by first appearance, rows in their order."""
    position = dict.fromkeys(batch.queries, 0)
    if len(position) == len(batch.queries):
        return batch
    position = {query: place for place, query in enumerate(position)}
    codes = np.array([position[query] for query in batch.queries], np.int64)
    per_row = np.repeat(codes, batch.lengths)
    return batch.take(
        np.argsort(per_row, kind="stable"), list(position), np.bincount(per_row, minlength=len(position))
    )


def whole_queries(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Cut a stream of batches anew, so that every query stands in one batch only.

    Raises:
        ScatteredError: a query comes back after another.
    """
    seen: set[str] = set()
    held: list[Batch] = []
    for batch in batches:
        if not len(batch):
            continue
        if held and held[-1].queries[-1] == batch.queries[0]:
            if len(batch.queries) == 1:
                held.append(batch)
                continue
            yield _fresh(stacked([*held, batch.cut(0, 1)]), seen)
            held = [batch.cut(1, len(batch.queries))]
            continue
        if held:
            yield _fresh(stacked(held), seen)
        held = [batch]
    if held:
        yield _fresh(stacked(held), seen)


def repeats(batch: Batch) -> Positions:
    """Return the rows whose document stands earlier in the same query; empty when there are none."""
    if distinct_rows(batch):
        return np.zeros(0, np.intp)
    keys = listed(batch).mixed()
    order = np.argsort(keys, kind="stable")
    equal = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    same = batch.docs.take(order[equal]).same(batch.docs.take(order[equal + 1]))
    return np.sort(order[equal[same] + 1])


def distinct_rows(batch: Batch) -> bool:
    """Return whether no two rows of a query have the same key; equal documents have."""
    keys = batch.docs.keys()
    return all(
        distinct_keys(Listed(keys[start:stop], batch.lengths[first:last]))
        for first, last, start, stop in batch.pieces(PIECE_ROWS)
    )


def listed(batch: Batch) -> Listed:
    """Return the keys of the documents, list after list."""
    return Listed(batch.docs.keys(), batch.lengths)


def pairs_of(batch: Batch, rows: Positions) -> list[tuple[str, str]]:
    """Return query and document of some rows."""
    stretch = np.searchsorted(batch.starts, rows, "right") - 1
    return [
        (batch.queries[place], doc)
        for place, doc in zip(stretch.tolist(), batch.docs.take(rows).texts(), strict=True)
    ]


def folded(batch: Batch, how: Literal["first", "best"]) -> Batch:
    """Leave one row of each document in each query: the first, or the one with the best score."""
    stretch = np.repeat(np.arange(len(batch.queries)), batch.lengths)
    order = np.arange(len(batch), dtype=np.intp)
    if how == "best" and batch.scores is not None:
        order = np.lexsort((order, -batch.scores, stretch))  # NaN stands last, as in every ranking
    ranked = batch.take(order, batch.queries, batch.lengths)
    keep = np.ones(len(batch), np.bool_)
    keep[order[repeats(ranked)]] = False
    lengths = np.bincount(stretch[keep], minlength=len(batch.queries))
    return batch.take(np.flatnonzero(keep), batch.queries, lengths)


def without_ranks(batch: Batch) -> Batch:
    """Return the batch without its rank column."""
    return replace(batch, ranks=None)


def _fresh(batch: Batch, seen: set[str]) -> Batch:
    before = len(seen)
    seen.update(batch.queries)
    if len(seen) != before + len(batch.queries):
        raise ScatteredError
    return batch
