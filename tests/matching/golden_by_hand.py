"""Small golden sets, chunks and runs written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.model.documents import Document, chunk_id
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.runs import ChunkTable, Run, StageTable


def documents(**texts: str) -> list[Document]:
    return [Document(id=name, text=text) for name, text in texts.items()]


def anchor(quote: str, doc: str = "doc", start: int | None = None, end: int | None = None) -> Anchor:
    return Anchor(id="a1", doc_id=doc, quote=quote, start=start, end=end)


def golden(**queries: Anchor | Sequence[Anchor] | Mapping[str, float]) -> GoldenSet:
    """Make a set: query id -> one anchor, several (a1, a2, ...), or plain labels."""
    made: list[Query] = []
    for name, what in queries.items():
        if isinstance(what, Mapping):
            made.append(Query(id=name, text=name, labels=dict(what)))
            continue
        some = [what] if isinstance(what, Anchor) else list(what)
        named = [
            Anchor(
                id=f"a{at}",
                doc_id=one.doc_id,
                quote=one.quote,
                start=one.start,
                end=one.end,
                grade=one.grade,
                alternatives=one.alternatives,
            )
            for at, one in enumerate(some, start=1)
        ]
        made.append(Query(id=name, text=name, anchors=tuple(named)))
    return GoldenSet(name="by hand", queries=tuple(made))


def table(*chunks: tuple[str, int, int], ids: Sequence[str] | None = None) -> ChunkTable:
    return ChunkTable(
        ids=tuple(ids or [chunk_id(*chunk) for chunk in chunks]),
        doc_ids=tuple(chunk[0] for chunk in chunks),
        starts=np.array([chunk[1] for chunk in chunks], np.int64),
        ends=np.array([chunk[2] for chunk in chunks], np.int64),
        texts=(None,) * len(chunks),
    )


def windows(name: str, text: str, size: int, overlap: int = 0) -> list[tuple[str, int, int]]:
    """Cut a text into windows of a size; the last may be shorter."""
    starts = range(0, max(1, len(text) - overlap), size - overlap)
    return [(name, start, min(start + size, len(text))) for start in starts]


def texts(**rows: tuple[str, str]) -> ChunkTable:
    """Make chunks without places: chunk id -> (document, text)."""
    return ChunkTable(
        ids=tuple(rows),
        doc_ids=tuple(doc for doc, _ in rows.values()),
        starts=np.full(len(rows), -1, np.int64),
        ends=np.full(len(rows), -1, np.int64),
        texts=tuple(text for _, text in rows.values()),
    )


def run(chunks: ChunkTable, **lists: Sequence[str]) -> tuple[StageTable, Run]:
    """Make a run of one stage: query id -> chunk ids, best first."""
    flat = [chunks.position[chunk] for hits in lists.values() for chunk in hits]
    stage = StageTable(
        name="final",
        role="final",
        offsets=np.concatenate([[0], np.cumsum([len(hits) for hits in lists.values()])]).astype(np.int64),
        chunks=np.array(flat, np.int32),
        scores=np.full(len(flat), np.nan),
    )
    made = Run(
        id="run",
        name="run",
        pipeline={},
        pipeline_digest="",
        golden_digest="",
        corpus_digest="",
        k=10,
        query_ids=tuple(lists),
        chunks=chunks,
        stages=(stage,),
    )
    return stage, made
