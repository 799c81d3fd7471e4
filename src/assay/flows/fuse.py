"""``assay fuse``: several runs become one. Rooms: store (runs), retrieval (the arithmetic of fusion)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from assay.flows.convert import Converted, ranked_run
from assay.model.errors import InputError
from assay.model.notices import Notice, listed
from assay.retrieval.stages.fuse import FuseStage
from assay.retrieval.stages.lists import Lists, Watch, offsets_of
from assay.store.rankings.batch import Batch, Duplicates
from assay.store.rankings.ids import ListDocs
from assay.store.rankings.ordering import Ties
from assay.store.rankings.sources import Form, Source
from assay.store.rankings.writing import write_run

Method = Literal["rrf", "minmax"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusing:
    """How runs are fused."""

    method: Method = "rrf"
    """``rrf`` adds weight / (k + rank); ``minmax`` adds weight * score scaled to 0..1 in its list."""
    weights: Sequence[float] = ()
    """One a run; 1 for each when there are none."""
    k: float = 60.0
    """The constant of reciprocal rank fusion."""
    depth: int = 1000
    """Rows that are kept of each query."""
    distances: bool = False
    """The scores are distances: lower is better, and they are turned round first."""
    ties: Ties | None = None
    duplicates: Duplicates = "error"
    run_form: Form | None = None


def fuse_runs(runs: Sequence[Source], target: Path, fusing: Fusing | None = None) -> Converted:
    """Fuse runs and write the result; its name says the form.

    Raises:
        InputError: a run is broken, there are fewer than two, or the weights do not match.
        StoreError: the target cannot be written.
    """
    batch, notices = fused(runs, fusing or Fusing())
    more = write_run(target, batch, tag="fused")
    return Converted(path=target, queries=len(batch.queries), rows=len(batch), notices=(*notices, *more))


def fused(runs: Sequence[Source], fusing: Fusing) -> tuple[Batch, tuple[Notice, ...]]:
    """Return the fused run: queries by first appearance, each list best first.

    An item that a list lacks gets nothing from it; ties stand by first appearance, list after list.

    Raises:
        InputError: a run is broken, there are fewer than two, or the weights do not match.

    >>> batch, _ = fused([{"q": {"P": 3.0, "R": 1.0}}, {"q": {"s": 9.0, "R": 2.0}}], Fusing())
    >>> batch.docs.texts(), batch.scores.tolist() == [2 / 62, 1 / 61, 1 / 61]
    (['R', 'P', 's'], True)
    """
    if len(runs) < 2:
        raise InputError("two runs at least are needed to fuse", fix="assay fuse RUN RUN ... --to FUSED")
    weights = list(fusing.weights) or [1.0] * len(runs)
    if len(weights) != len(runs):
        raise InputError(
            f"{len(weights)} weights for {len(runs)} runs", fix="one weight a run, in their order"
        )
    read = [
        ranked_run(run, form=fusing.run_form, ties=fusing.ties, duplicates=fusing.duplicates) for run in runs
    ]
    batches = [_turned(batch) if fusing.distances else batch for batch, _ in read]
    notices = [notice for _, some in read for notice in some]
    queries = list(dict.fromkeys(query for batch in batches for query in batch.queries))
    notices += _lacking(batches, queries)
    bare = [place for place, batch in enumerate(batches, start=1) if batch.scores is None]
    if bare and fusing.method == "minmax":
        raise InputError(f"run {bare[0]} has no scores to scale", fix="fuse by rank: --method rrf")
    position = {query: place for place, query in enumerate(queries)}
    docs: dict[str, int] = {}
    lists = {str(place): _lists(batch, position, docs) for place, batch in enumerate(batches)}
    stage = FuseStage(
        name=fusing.method,
        k_rrf=fusing.k,
        weights={str(place): weight for place, weight in enumerate(weights)},
        pool=fusing.depth,
    )
    result = stage.run(lists, Watch.of({}, (), {}))
    names = list(docs)
    batch = Batch(
        queries=queries,
        lengths=result.lengths,
        docs=ListDocs([names[code] for code in result.chunks.tolist()]),
        scores=result.scores,
    )
    return batch, tuple(notices)


def _lists(batch: Batch, position: dict[str, int], docs: dict[str, int]) -> Lists:
    """Code one run's rows, its queries in the order of all runs."""
    places = np.array([position[query] for query in batch.queries], np.int64)
    lengths = np.zeros(len(position), np.int64)
    lengths[places] = batch.lengths
    order = np.argsort(np.repeat(places, batch.lengths), kind="stable")
    codes = np.array([docs.setdefault(doc, len(docs)) for doc in batch.docs.texts()], np.int32)
    scores = np.full(len(batch), np.nan) if batch.scores is None else batch.scores
    return Lists(offsets=offsets_of(lengths), chunks=codes[order], scores=scores[order])


def _turned(batch: Batch) -> Batch:
    """Return a run of distances as one of scores, nearest first."""
    if batch.scores is None:
        return batch
    stretch = np.repeat(np.arange(len(batch.queries)), batch.lengths)
    nearest = np.lexsort((np.arange(len(batch)), batch.scores, stretch))
    turned = batch.take(nearest, batch.queries, batch.lengths)
    return Batch(
        queries=turned.queries,
        lengths=turned.lengths,
        docs=turned.docs,
        scores=None if turned.scores is None else -turned.scores,
    )


def _lacking(batches: Sequence[Batch], queries: Sequence[str]) -> list[Notice]:
    found: list[Notice] = []
    for place, batch in enumerate(batches, start=1):
        known = set(batch.queries)
        lacking = tuple(query for query in queries if query not in known)
        if lacking:
            text = f"run {place} lacks {len(lacking):,} of {len(queries):,} queries ({listed(lacking)})"
            found.append(Notice(code="missing-queries", text=text, ids=lacking))
    return found
