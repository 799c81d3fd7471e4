"""Small runs and relevance made by hand, for tests that need to know every rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.model.relevance import Loss, QueryRelevance, Relevance
from assay.model.runs import ChunkTable, Role, Run, StageTable

ROLES: dict[str, Role] = {
    "vector": "list",
    "fulltext": "list",
    "pool": "pool",
    "reranked": "rerank",
    "diverse": "diversify",
    "final": "final",
}

Lists = Mapping[str, Sequence[str]]
"""Query id -> chunk ids, best first."""


def planted_run(
    stages: Mapping[str, Lists],
    *,
    k: int,
    deep: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
    errors: Mapping[str, str] | None = None,
    index: Sequence[str] = (),
) -> Run:
    """Make a run of lists of chunk ids: stage -> query -> chunks; ``deep``: stage -> query -> chunk -> rank.

    A chunk id is ``document#start-end`` or a bare name, which stands for a chunk of unknown place. ``index``:
    chunks that are there, whether or not a list holds them.
    """
    deep = deep or {}
    queries = list(dict.fromkeys(query for lists in stages.values() for query in lists))
    chunks = list(
        dict.fromkeys(
            [chunk for lists in stages.values() for hits in lists.values() for chunk in hits]
            + [chunk for lists in deep.values() for ranks in lists.values() for chunk in ranks]
            + [*index]
        )
    )
    position = {chunk: place for place, chunk in enumerate(chunks)}
    places = [_place(chunk) for chunk in chunks]
    table = ChunkTable(
        ids=tuple(chunks),
        doc_ids=tuple(place[0] for place in places),
        starts=np.array([place[1] for place in places], np.int64),
        ends=np.array([place[2] for place in places], np.int64),
        texts=(None,) * len(chunks),
    )
    return Run(
        id="planted",
        name="planted",
        pipeline={},
        pipeline_digest="",
        golden_digest="",
        corpus_digest="",
        k=k,
        query_ids=tuple(queries),
        chunks=table,
        stages=tuple(
            _stage(name, lists, queries, position, deep.get(name, {}), errors or {})
            for name, lists in stages.items()
        ),
    )


def _place(chunk: str) -> tuple[str, int, int]:
    document, mark, span = chunk.rpartition("#")
    if not mark:
        return chunk, -1, -1
    start, _, end = span.partition("-")
    return document, int(start), int(end)


def _stage(
    name: str,
    lists: Lists,
    queries: Sequence[str],
    position: Mapping[str, int],
    deep: Mapping[str, Mapping[str, int]],
    errors: Mapping[str, str],
) -> StageTable:
    hits = [[position[chunk] for chunk in lists.get(query, ())] for query in queries]
    flat = [chunk for one in hits for chunk in one]
    rows = [
        (at, position[chunk], rank)
        for at, query in enumerate(queries)
        for chunk, rank in deep.get(query, {}).items()
    ]
    return StageTable(
        name=name,
        role=ROLES[name],
        offsets=np.concatenate([[0], np.cumsum([len(one) for one in hits])]).astype(np.int64),
        chunks=np.array(flat, np.int32),
        scores=np.array([1.0 / (1 + rank) for one in hits for rank in range(len(one))], np.float64),
        errors={queries.index(query): text for query, text in errors.items() if query in queries},
        deep_query=np.array([row[0] for row in rows], np.int32),
        deep_chunk=np.array([row[1] for row in rows], np.int32),
        deep_rank=np.array([row[2] for row in rows], np.int64),
    )


def planted_relevance(
    covers: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    lost: Mapping[str, Mapping[str, Loss]] | None = None,
) -> Relevance:
    """Make relevance: query -> item -> the chunks that cover it (grade 1); ``lost``: query -> item -> why."""
    queries: list[QueryRelevance] = []
    for query, items in covers.items():
        gone = dict((lost or {}).get(query, {}))
        by_chunk: dict[str, list[str]] = {}
        for item, chunks in items.items():
            for chunk in chunks:
                by_chunk.setdefault(chunk, []).append(item)
        queries.append(
            QueryRelevance(
                query_id=query,
                chunk_grades=dict.fromkeys(by_chunk, 1.0),
                anchor_grades=dict.fromkeys([*items, *gone], 1.0),
                document_grades={chunk.rpartition("#")[0] or chunk: 1.0 for chunk in by_chunk},
                covers={chunk: tuple(items) for chunk, items in by_chunk.items()},
                lost=gone,
            )
        )
    return Relevance(queries=tuple(queries))
