"""Exact vector search: the whole ranking by cosine, whatever the batch, the threads or the machine.

A matrix product of a batch and of one row differ in their last bits, so a product alone has no stable order.
Here the product only finds who can be in question: every row whose 32-bit score is within the product's own
error bound of the last place. Those are scored again in 64-bit, each pair on its own, and that score alone
decides; equal scores stand in the order of their chunk ids. The result is the order of all 64-bit scores,
and no block size, thread or worker can change it.

Memory is bounded by the blocks: vectors may lie in a file that is larger than memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.stages.lists import Lists, Watch, offsets_of

QUERY_BLOCK = 512
CHUNK_BLOCK = 4096
_RESCORED = 1 << 17
"""Products that are made in 64-bit at a time: few enough to stay in the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStage:
    """Searches unit vectors. A query of zeros has nothing to say and finds nothing."""

    depth: int
    """Length of each list."""
    query_block: int = QUERY_BLOCK
    chunk_block: int = CHUNK_BLOCK

    def run(
        self,
        queries: NDArray[np.float32],
        vectors: NDArray[np.float32],
        order: NDArray[np.int64],
        watch: Watch,
    ) -> Lists:
        """Return the best chunks of each query, and the rank of each watched chunk below them.

        Args:
            queries: one unit row a query.
            vectors: one unit row a chunk.
            order: place of each chunk among the sorted chunk ids, for ties.
            watch: whose rank is wanted however deep.
        """
        found: list[_Block] = []
        for first in range(0, len(queries), self.query_block):
            last = min(first + self.query_block, len(queries))
            rows = watch.of_queries(first, last)
            found.append(
                self._block(
                    queries[first:last], vectors, order, watch.query[rows] - first, watch.chunk[rows]
                ).shifted(first)
            )
        query = _joined([block.query for block in found])
        watched = _joined([block.watched_query for block in found])
        lengths = np.bincount(query, minlength=len(queries))
        return Lists(
            offsets=offsets_of(lengths),
            chunks=_joined([block.chunk for block in found]).astype(np.int32),
            scores=np.concatenate([block.score for block in found] or [np.zeros(0)]),
            deep_query=watched,
            deep_chunk=_joined([block.watched_chunk for block in found]),
            deep_rank=_joined([block.watched_rank for block in found]),
        )

    def _block(
        self,
        queries: NDArray[np.float32],
        vectors: NDArray[np.float32],
        order: NDArray[np.int64],
        watched_query: NDArray[np.int64],
        watched_chunk: NDArray[np.int64],
    ) -> _Block:
        says = np.any(queries != 0, axis=1)
        kept = says[watched_query]
        watched_query, watched_chunk = watched_query[kept], watched_chunk[kept]
        margin = error_bound(queries.shape[1])
        target = exact(queries, vectors, watched_query, watched_chunk)
        above = np.ones(len(target), np.int64)
        best = _Best(depth=self.depth, says=says, margin=margin)
        for start in range(0, len(vectors), self.chunk_block):
            part = np.asarray(vectors[start : start + self.chunk_block])
            scores = queries @ part.T
            best.offer(scores, start)
            above += _count_above(
                scores[watched_query], (queries, part), (watched_query, watched_chunk, target), order, start
            )
        query, chunk = best.candidates()
        score = exact(queries, vectors, query, chunk)
        query, chunk, score = _ordered(query, chunk, score, order, self.depth)
        deep = above > self.depth
        return _Block(
            query=query,
            chunk=chunk,
            score=score,
            watched_query=watched_query[deep],
            watched_chunk=watched_chunk[deep],
            watched_rank=above[deep],
        )


def error_bound(dimensions: int) -> float:
    """Return how far a 32-bit product of two unit rows can be from the true one.

    Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1: n u / (1 - n u),
    here with room for the rounding of the rows' own length.
    """
    return (dimensions + 8) * 2.0**-24 * 1.01


def exact(
    queries: NDArray[np.float32],
    vectors: NDArray[np.float32],
    query: NDArray[np.int64],
    chunk: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the 64-bit score of each (query, chunk) pair, the same in whatever company it is computed.

    The products of 32-bit values are exact in 64-bit; each row is summed on its own (numpy's pairwise sum).
    """
    scores = np.empty(len(query))
    step = max(1, _RESCORED // max(queries.shape[1], 1))
    for start in range(0, len(query), step):
        rows = slice(start, start + step)
        scores[rows] = np.multiply(queries[query[rows]], vectors[chunk[rows]], dtype=np.float64).sum(axis=1)
    return scores + 0.0  # -0.0 becomes 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """What one block of queries found."""

    query: NDArray[np.int64]
    chunk: NDArray[np.int64]
    score: NDArray[np.float64]
    watched_query: NDArray[np.int64]
    watched_chunk: NDArray[np.int64]
    watched_rank: NDArray[np.int64]

    def shifted(self, first: int) -> _Block:
        return _Block(
            query=self.query + first,
            chunk=self.chunk,
            score=self.score,
            watched_query=self.watched_query + first,
            watched_chunk=self.watched_chunk,
            watched_rank=self.watched_rank,
        )


class _Best:
    """Every chunk that can still be among the best ``depth`` of its query."""

    def __init__(self, *, depth: int, says: NDArray[np.bool_], margin: float) -> None:
        self.depth, self.n_queries, self.margin = depth, len(says), margin
        # Nothing reaches the floor of a query that says nothing.
        self.floor = np.where(says, np.float32(-np.inf), np.float32(np.inf))
        self.parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]] = []
        self.held = 0

    def offer(self, scores: NDArray[np.float32], start: int) -> None:
        if not self.parts and scores.shape[1] > self.depth:
            inside = np.partition(scores, -self.depth, axis=1)[:, -self.depth]
            np.maximum(self.floor, self._lowered(inside), out=self.floor)
        query, chunk = _where(scores >= self.floor[:, None])
        self.parts.append((query, chunk + start, scores[query, chunk]))
        self.held += len(query)
        if self.held > 4 * self.depth * self.n_queries:
            self._settle()

    def candidates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        self._settle()
        query, chunk, _ = self.parts[0]
        return query, chunk

    def _settle(self) -> None:
        """Raise each query's floor to its ``depth``-th best score, and drop what is certainly below."""
        nothing = np.zeros(0, np.int64)
        query = np.concatenate([nothing, *(part[0] for part in self.parts)])
        chunk = np.concatenate([nothing, *(part[1] for part in self.parts)])
        score = np.concatenate([np.zeros(0, np.float32), *(part[2] for part in self.parts)])
        order = np.lexsort((-score, query))
        query, chunk, score = query[order], chunk[order], score[order]
        starts = np.searchsorted(query, np.arange(self.n_queries + 1))
        full = np.flatnonzero(np.diff(starts) >= self.depth)
        last = score[starts[full] + self.depth - 1]
        self.floor[full] = np.maximum(self.floor[full], self._lowered(last))
        kept = score >= self.floor[query]
        self.parts = [(query[kept], chunk[kept], score[kept])]
        # Ties and near ties may be many; they stay, and the next round waits for as many again.
        self.held = 0

    def _lowered(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        # Both the score at the floor and the one held against it may be off by the margin.
        return np.nextafter(scores - np.float32(2 * self.margin), np.float32(-np.inf))


def _count_above(
    scores: NDArray[np.float32],
    rows: tuple[NDArray[np.float32], NDArray[np.float32]],
    watched: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    order: NDArray[np.int64],
    start: int,
) -> NDArray[np.int64]:
    """Count, for each watched chunk, the chunks of a block that stand above it.

    Args:
        scores: 32-bit scores of the block, one row a watched chunk.
        rows: the queries' vectors and the block's.
        watched: query, chunk and 64-bit score of each watched chunk.
        order: place of each chunk among the sorted ids.
        start: position of the block's first chunk.
    """
    queries, part = rows
    query, chunk, target = watched
    # Rounding the bounds to 32 bits is far below the room that twice the margin leaves.
    margin = np.float32(2 * error_bound(queries.shape[1]))
    centre = target.astype(np.float32)[:, None]
    above = np.count_nonzero(scores > centre + margin, axis=1).astype(np.int64)
    row, near = _where((scores >= centre - margin) & (scores <= centre + margin))
    close = exact(queries, part, query[row], near)
    before = (close == target[row]) & (order[near + start] < order[chunk[row]])
    return above + np.bincount(row[(close > target[row]) | before], minlength=len(query))


def _where(mask: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row and column of each True; much faster than ``np.nonzero`` where they are few."""
    row, column = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return row, column


def _ordered(
    query: NDArray[np.int64],
    chunk: NDArray[np.int64],
    score: NDArray[np.float64],
    order: NDArray[np.int64],
    depth: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Sort by query, score down, chunk id; keep the first ``depth`` of each query."""
    by = np.lexsort((order[chunk], -score, query))
    query, chunk, score = query[by], chunk[by], score[by]
    first = np.searchsorted(query, query, side="left")
    kept = np.arange(len(query)) - first < depth
    return query[kept], chunk[kept], score[kept]


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
