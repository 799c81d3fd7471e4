"""The rank of every relevant chunk at every stage, for all queries at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.model.relevance import Relevance
from assay.model.runs import Run, StageTable

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRanks:
    """Items (anchors or labels) of a golden set and their best rank at each stage of a run."""

    query: Ints
    """Position of the query in the run, a row an item; items stand in the order of the relevance."""
    item_ids: tuple[str, ...]
    ranks: dict[str, Ints]
    """Stage -> the best rank of any chunk that covers the item; 0: in no known place of that list."""
    nearest: Ints
    """Position of the covering chunk that came furthest, -1 when no chunk covers the item."""


def item_ranks(run: Run, relevance: Relevance) -> ItemRanks:
    """Return the best rank of each item at each stage, however deep it is known.

    Queries that the run lacks are left out; items that no chunk covers have rank 0 everywhere.
    """
    query, item_ids, pair_item, pair_chunk = _pairs(run, relevance)
    pair_query = query[pair_item] if len(pair_item) else pair_item
    ranks: dict[str, Ints] = {}
    nearest = np.full(len(item_ids), -1, np.int64)
    # Written backwards, so that the first covering chunk of each item is the one that stays.
    nearest[pair_item[::-1]] = pair_chunk[::-1]
    for stage in run.stages:
        found = stage_ranks(stage, pair_query, pair_chunk, n_chunks=len(run.chunks))
        rows = np.flatnonzero(found)
        rows = rows[np.lexsort((found[rows], pair_item[rows]))[::-1]]
        best = np.zeros(len(item_ids), np.int64)
        best[pair_item[rows]] = found[rows]
        ranks[stage.name] = best
        # A later stage is nearer to the prompt: where it knows the item, its best chunk is the nearest.
        nearest[pair_item[rows]] = pair_chunk[rows]
    return ItemRanks(query=query, item_ids=tuple(item_ids), ranks=ranks, nearest=nearest)


def stage_ranks(stage: StageTable, query: Ints, chunk: Ints, *, n_chunks: int) -> Ints:
    """Return the rank of each (query, chunk) pair in a stage's lists; 0 where it is not known there."""
    counts = np.diff(stage.offsets)
    owner = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    rank = np.arange(len(stage.chunks), dtype=np.int64) - stage.offsets[owner] + 1
    keys = np.concatenate(
        [
            owner * n_chunks + stage.chunks,
            stage.deep_query.astype(np.int64) * n_chunks + stage.deep_chunk,
        ]
    )
    ranks = np.concatenate([rank, stage.deep_rank])
    wanted = query * n_chunks + chunk
    if not len(keys) or not len(wanted):
        return np.zeros(len(wanted), np.int64)
    # Only rows that anybody asks for are sorted: a run may hold millions of hits.
    asked = np.isin(keys, wanted)
    keys, ranks = keys[asked], ranks[asked]
    order = np.lexsort((ranks, keys))
    keys, ranks = keys[order], ranks[order]
    at = np.searchsorted(keys, wanted)
    known = at < len(keys)
    known[known] = keys[at[known]] == wanted[known]
    result = np.zeros(len(wanted), np.int64)
    result[known] = ranks[at[known]]
    return result


def _pairs(run: Run, relevance: Relevance) -> tuple[Ints, list[str], Ints, Ints]:
    """List the items, and the (item, chunk) pairs in which the chunk covers the item."""
    query: list[int] = []
    item_ids: list[str] = []
    pair_item: list[int] = []
    pair_chunk: list[int] = []
    for one in relevance.queries:
        at = run.query_position.get(one.query_id)
        if at is None:
            continue
        covering: dict[str, list[int]] = {}
        for chunk, items in one.covers.items():
            position = run.chunks.position.get(chunk)
            if position is not None:
                for item in items:
                    covering.setdefault(item, []).append(position)
        for item, grade in one.anchor_grades.items():
            if grade <= 0:
                continue
            pair_item += [len(item_ids)] * len(covering.get(item, ()))
            pair_chunk += covering.get(item, ())
            query.append(at)
            item_ids.append(item)
    return (
        np.array(query, np.int64),
        item_ids,
        np.array(pair_item, np.int64),
        np.array(pair_chunk, np.int64),
    )
