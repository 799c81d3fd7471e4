"""Ranked lists that lie beside a set, as a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.model.golden import GoldenSet
from assay.model.runs import ChunkTable, Run, StageTable
from assay.store.run_tables import content_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One row of somebody's ranked list."""

    id: str
    doc_id: str
    score: float = float("nan")
    text: str | None = None


def run_of_lists(name: str, lists: Mapping[str, Sequence[Item]], golden: GoldenSet, *, source: str) -> Run:
    """Return a run of one stage, its queries in the order of the golden set.

    A list is kept as it is, repeated items included; a query without a list has none. Its ``k`` is the
    length of the longest list.
    """
    ordered = [lists.get(query.id, ()) for query in golden.queries]
    items = {item.id: item for listed in ordered for item in listed}
    position = {item: place for place, item in enumerate(items)}
    lengths = np.array([len(listed) for listed in ordered], dtype=np.int64)
    unknown = np.full(len(items), -1, dtype=np.int64)
    run = Run(
        id="",
        name=name,
        pipeline={"retriever": "imported", "source": source, "list": name},
        pipeline_digest=f"imported {source} {name}",
        golden_digest=golden.digest,
        corpus_digest="",
        k=int(lengths.max(initial=0)),
        query_ids=tuple(query.id for query in golden.queries),
        chunks=ChunkTable(
            ids=tuple(items),
            doc_ids=tuple(item.doc_id for item in items.values()),
            starts=unknown,
            ends=unknown,
            texts=tuple(item.text for item in items.values()),
        ),
        stages=(
            StageTable(
                name="final",
                role="final",
                offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
                chunks=np.array([position[item.id] for listed in ordered for item in listed], dtype=np.int32),
                scores=np.array([item.score for listed in ordered for item in listed], dtype=np.float64),
            ),
        ),
    )
    return replace(run, id=content_id(run))
