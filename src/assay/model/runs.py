"""What a retriever returned, stage by stage: columns inside, hits and traces as views.

A run may hold ten million hits, so it is kept in columns (``ChunkTable``, ``StageTable``);
``Trace``, ``StageRecord`` and ``Hit`` are made for one query when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.model.documents import Chunk
from assay.model.notices import Notice
from assay.model.showing import Showable

Role = Literal["list", "pool", "rerank", "diversify", "final"]
"""What a stage does. ``list``: a first-stage list (vector, fulltext); several stand side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One row of one ranked list."""

    rank: int
    """From 1."""
    chunk_id: str
    doc_id: str
    start: int | None
    """Place in the document; None when the retriever gave none and its text was not located."""
    end: int | None
    score: float | None
    """As the stage gave it; higher is better within the list. None when it gave none."""
    text: str | None = None
    """The text that the retriever returned; None where the place says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord:
    """What one stage put out for one query."""

    name: str
    role: Role
    hits: tuple[Hit, ...]
    elapsed_ms: float | None = None
    error: str | None = None
    deep_ranks: Mapping[str, int] = field(default_factory=dict[str, int])
    """Chunk id -> rank of watched (relevant) chunks that stand deeper than the stored hits."""

    def rank_of(self, chunk_id: str) -> int | None:
        """Return the rank of a chunk in this list, however deep it is known; None when it is not there."""
        for hit in self.hits:
            if hit.chunk_id == chunk_id:
                return hit.rank
        return self.deep_ranks.get(chunk_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """All stages of one query, in the order in which they ran; the last is what the prompt gets."""

    query_id: str
    stages: tuple[StageRecord, ...]

    @property
    def final(self) -> StageRecord:
        return self.stages[-1]


@dataclass(frozen=True, kw_only=True)
class ChunkTable:
    """The chunks that a run speaks of; hits point into it by position."""

    ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    starts: NDArray[np.int64]
    """-1 where the place is not known."""
    ends: NDArray[np.int64]
    texts: tuple[str | None, ...]
    """The returned text where it has to be kept (no place, or a foreign retriever); else None."""

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Chunk id -> position."""
        return {chunk: place for place, chunk in enumerate(self.ids)}

    def joined(self, other: ChunkTable) -> ChunkTable:
        """Return this table with the chunks of another that it lacks behind its own."""
        new = [place for place, chunk in enumerate(other.ids) if chunk not in self.position]
        return ChunkTable(
            ids=(*self.ids, *(other.ids[place] for place in new)),
            doc_ids=(*self.doc_ids, *(other.doc_ids[place] for place in new)),
            starts=np.concatenate([self.starts, other.starts[new]]),
            ends=np.concatenate([self.ends, other.ends[new]]),
            texts=(*self.texts, *(other.texts[place] for place in new)),
        )


def chunk_table(chunks: Sequence[Chunk]) -> ChunkTable:
    """Put chunks into columns, in the order given; their texts stay in their documents.

    >>> chunk_table([Chunk(id="a#0-5", doc_id="a", start=0, end=5, text="Alpha")]).ids
    ('a#0-5',)
    """
    return ChunkTable(
        ids=tuple(chunk.id for chunk in chunks),
        doc_ids=tuple(chunk.doc_id for chunk in chunks),
        starts=np.fromiter((chunk.start for chunk in chunks), np.int64, len(chunks)),
        ends=np.fromiter((chunk.end for chunk in chunks), np.int64, len(chunks)),
        texts=(None,) * len(chunks),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTable:
    """One stage over all queries of a run, in columns."""

    name: str
    """``vector``, ``fulltext``, ``pool``, ``reranked``, ``diverse``, ``final``, or a foreign name."""
    role: Role
    offsets: NDArray[np.int64]
    """n_queries + 1 values: the hits of query ``i`` are ``chunks[offsets[i]:offsets[i + 1]]``, best first."""
    chunks: NDArray[np.int32]
    """Positions in the chunk table."""
    scores: NDArray[np.float64]
    """NaN where the stage gave no score."""
    errors: Mapping[int, str] = field(default_factory=dict[int, str])
    """Query position -> what went wrong; such a query has no hits and scores 0."""
    elapsed_ms: NDArray[np.float64] | None = None
    """One value a query; not part of a run's identity, because no two runs take equally long."""
    deep_query: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Rows of watched chunks deeper than the stored hits: query position, sorted ..."""
    deep_chunk: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """... chunk position ..."""
    deep_rank: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """... and rank in the whole list."""

    def hits_of(self, query: int) -> slice:
        return slice(int(self.offsets[query]), int(self.offsets[query + 1]))


@dataclass(frozen=True, kw_only=True)
class Retrieved:
    """What a retriever gave for a sequence of queries: the part of a run that is its own making."""

    chunks: ChunkTable
    stages: tuple[StageTable, ...]
    """In the order in which they ran; the last is what the prompt gets."""
    notices: tuple[Notice, ...] = ()
    """What is worth saying of it: rows that a reranker dropped, hits that were repeated."""
    rewritten: Mapping[str, str] = field(default_factory=dict[str, str])
    """Query id -> the text that was searched for, where it is not the query's own."""
    meta: Mapping[str, object] = field(default_factory=dict[str, object])
    """What goes into the run's ``meta``: model windows, costs."""


@dataclass(frozen=True, kw_only=True)
class Run(Showable):
    """What a pipeline returned for a golden set over a corpus. Written once, never changed."""

    id: str
    """Content address of digests and results; the same inputs give the same id."""
    name: str
    """What people call it: the pipeline's name, or the connector's."""
    pipeline: Mapping[str, object]
    """The settings that made it, as plain JSON values; shown in the manifest."""
    pipeline_digest: str
    golden_digest: str
    corpus_digest: str
    k: int
    """The cut of the final list."""
    query_ids: tuple[str, ...]
    chunks: ChunkTable
    stages: tuple[StageTable, ...]
    seed: int = 0
    meta: Mapping[str, object] = field(default_factory=dict[str, object])
    """Versions, model windows, costs: shown, not compared."""

    @cached_property
    def query_position(self) -> Mapping[str, int]:
        return {query: place for place, query in enumerate(self.query_ids)}

    @property
    def final(self) -> StageTable:
        return self.stages[-1]

    def stage(self, name: str) -> StageTable | None:
        """Return the stage of that name, or None when this run has no such stage."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def trace(self, query_id: str) -> Trace:
        """Return every stage's list for one query.

        Raises:
            KeyError: the run has no such query.
        """
        query = self.query_position[query_id]
        return Trace(query_id=query_id, stages=tuple(self._record(stage, query) for stage in self.stages))

    def traces(self) -> Iterator[Trace]:
        """Yield the trace of each query, in the run's order."""
        return (self.trace(query) for query in self.query_ids)

    def _record(self, stage: StageTable, query: int) -> StageRecord:
        span = stage.hits_of(query)
        deep = slice(*np.searchsorted(stage.deep_query, [query, query + 1]).tolist())
        table = self.chunks
        return StageRecord(
            name=stage.name,
            role=stage.role,
            hits=tuple(
                self._hit(rank, chunk, score)
                for rank, (chunk, score) in enumerate(
                    zip(stage.chunks[span].tolist(), stage.scores[span].tolist(), strict=True), start=1
                )
            ),
            elapsed_ms=None if stage.elapsed_ms is None else float(stage.elapsed_ms[query]),
            error=stage.errors.get(query),
            deep_ranks={
                table.ids[chunk]: rank
                for chunk, rank in zip(
                    stage.deep_chunk[deep].tolist(), stage.deep_rank[deep].tolist(), strict=True
                )
            },
        )

    def _hit(self, rank: int, chunk: int, score: float) -> Hit:
        table = self.chunks
        start = int(table.starts[chunk])
        return Hit(
            rank=rank,
            chunk_id=table.ids[chunk],
            doc_id=table.doc_ids[chunk],
            start=None if start < 0 else start,
            end=None if start < 0 else int(table.ends[chunk]),
            score=None if score != score else score,  # noqa: PLR0124 - NaN is the only value unlike itself
            text=table.texts[chunk],
        )
