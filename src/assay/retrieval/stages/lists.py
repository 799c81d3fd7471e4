"""Ranked lists of many queries in columns: what every stage takes and gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from assay.model.runs import Role, StageTable


def no_ranks() -> NDArray[np.int64]:
    """Return an empty column."""
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """One ranked list a query, best first."""

    offsets: NDArray[np.int64]
    """n_queries + 1 values: the rows of query ``i`` are ``chunks[offsets[i]:offsets[i + 1]]``."""
    chunks: NDArray[np.int32]
    """Positions of chunks."""
    scores: NDArray[np.float64]
    """NaN where there is none."""
    errors: Mapping[int, str] = field(default_factory=dict[int, str])
    """Query -> what went wrong; it has no rows."""
    deep_query: NDArray[np.int64] = field(default_factory=no_ranks)
    """Ranks of watched chunks below the stored rows: query, sorted ..."""
    deep_chunk: NDArray[np.int64] = field(default_factory=no_ranks)
    deep_rank: NDArray[np.int64] = field(default_factory=no_ranks)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    @property
    def queries(self) -> NDArray[np.int64]:
        """The query of each row."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of each row, from 1."""
        return np.arange(1, len(self.chunks) + 1) - np.repeat(self.offsets[:-1], self.lengths)

    def of(self, query: int) -> slice:
        return slice(int(self.offsets[query]), int(self.offsets[query + 1]))

    def with_errors(self, errors: Mapping[int, str]) -> Lists:
        """Return the same lists with what went wrong."""
        return replace(self, errors={**self.errors, **errors}) if errors else self

    def cut(self, most: int) -> Lists:
        """Return the first rows of each list. What is cut off is no longer known, however it was watched."""
        kept = self.ranks <= most
        lengths = np.minimum(self.lengths, most)
        return Lists(
            offsets=offsets_of(lengths),
            chunks=self.chunks[kept],
            scores=self.scores[kept],
            errors=self.errors,
        )

    def table(self, name: str, role: Role, *, elapsed_ms: float) -> StageTable:
        """Return the stage as the trace stores it.

        Args:
            name: the stage's name.
            role: what it does.
            elapsed_ms: time of the whole batch; each query is given an equal share.
        """
        n_queries = len(self.offsets) - 1
        return StageTable(
            name=name,
            role=role,
            offsets=self.offsets,
            chunks=self.chunks.astype(np.int32),
            scores=self.scores,
            errors=dict(sorted(self.errors.items())),
            elapsed_ms=np.full(n_queries, elapsed_ms / max(n_queries, 1)),
            deep_query=self.deep_query.astype(np.int32),
            deep_chunk=self.deep_chunk.astype(np.int32),
            deep_rank=self.deep_rank,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The chunks whose rank is wanted however deep they stand, in columns sorted by query."""

    query: NDArray[np.int64]
    chunk: NDArray[np.int64]

    @staticmethod
    def of(
        watch: Mapping[str, Collection[str]], query_ids: Sequence[str], position: Mapping[str, int]
    ) -> Watch:
        """Put query id -> chunk ids into columns; unknown chunks have no rank and are left out."""
        rows = [
            (query, chunk)
            for query, query_id in enumerate(query_ids)
            for chunk in sorted({position[name] for name in watch.get(query_id, ()) if name in position})
        ]
        columns = np.array(rows, np.int64).reshape(len(rows), 2)
        return Watch(query=columns[:, 0].copy(), chunk=columns[:, 1].copy())

    def of_queries(self, first: int, last: int) -> slice:
        """Return the rows of the queries from ``first`` up to ``last``."""
        return slice(*np.searchsorted(self.query, [first, last]).tolist())


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each list starts, and after them where the last one ends.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def lists_of(rows: Sequence[tuple[NDArray[np.generic], NDArray[np.float64]]]) -> Lists:
    """Join one (chunks, scores) pair a query."""
    lengths = np.fromiter((len(chunks) for chunks, _ in rows), np.int64, len(rows))
    return Lists(
        offsets=offsets_of(lengths),
        chunks=np.concatenate([chunks for chunks, _ in rows] or [no_ranks()]).astype(np.int32),
        scores=np.concatenate([scores for _, scores in rows] or [np.zeros(0)]),
    )
