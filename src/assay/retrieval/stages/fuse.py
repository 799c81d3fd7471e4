"""Fusion: several lists become one pool.

Reciprocal rank fusion adds ``weight / (k + rank)``; min-max adds ``weight * score scaled to 0..1``. In both
an item that a list lacks gets nothing from it, an item that a list repeats counts once, at its best rank, and
ties stand in the order of first appearance: list after list, each from its top.

One identity holds across lists: a chunk is its document and its span. Whoever brings lists of other ids has
to bring them to that identity first (the connectors do).

Source: Cormack, Clarke and Buettcher, Reciprocal rank fusion (2009); Fox and Shaw (1994) for CombSUM.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import InputError
from assay.retrieval.stages.lists import Lists, Watch, offsets_of

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class FuseStage:
    """Fuses the lists of all queries at once."""

    name: Literal["rrf", "minmax"]
    k_rrf: float = 60.0
    weights: Mapping[str, float]
    """List -> weight, in the order in which ties look for first appearance."""
    pool: int
    """Length of the fused list."""

    def run(self, lists: Mapping[str, Lists], watch: Watch) -> Lists:
        """Return the pool of each query, and the fused rank of each watched chunk below it.

        A query whose every list failed has failed; one list that failed leaves the pool to the others.
        """
        parts = [lists[name] for name in self.weights]
        n_queries = len(parts[0].offsets) - 1
        query = np.concatenate([part.queries for part in parts])
        chunk = np.concatenate([part.chunks for part in parts]).astype(np.int64)
        gains = np.concatenate([self._gains(lists[name], weight) for name, weight in self.weights.items()])
        source = np.repeat(np.arange(len(parts)), [len(part.chunks) for part in parts])
        width = int(chunk.max(initial=-1)) + 1
        key = query * max(width, 1) + chunk
        once = _first_in_list(source, key)
        key, gains, query, chunk = key[once], gains[once], query[once], chunk[once]
        _, appeared, item = np.unique(key, return_index=True, return_inverse=True)
        score = np.bincount(item, gains, len(appeared)).astype(
            np.float64
        )  # adds list after list: rows stand in that order
        query, chunk = query[appeared], chunk[appeared]
        by = np.lexsort((appeared, -score, query))
        query, chunk, score = query[by], chunk[by], score[by]
        rank = np.arange(len(query)) - np.searchsorted(query, query, side="left") + 1
        kept = rank <= self.pool
        deep = ~kept & np.isin(query * max(width, 1) + chunk, watch.query * max(width, 1) + watch.chunk)
        return Lists(
            offsets=offsets_of(np.bincount(query[kept], minlength=n_queries)),
            chunks=chunk[kept].astype(np.int32),
            scores=score[kept],
            errors=_all_failed(lists, list(self.weights)),
            deep_query=query[deep],
            deep_chunk=chunk[deep],
            deep_rank=rank[deep],
        )

    def _gains(self, part: Lists, weight: float) -> NDArray[np.float64]:
        if self.name == "rrf":
            return np.divide(weight, self.k_rrf + part.ranks, dtype=np.float64)
        return weight * scaled(part.scores, part.queries)


def scaled(scores: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return scores scaled to 0..1 within each group (min-max).

    All equal gives 1 for each: whoever is the only hit is the best hit. Infinite scores are the ends (1 and
    0) and the others are scaled without them; a missing score (NaN) gives 0.

    Args:
        scores: higher is better.
        groups: the query of each score, from 0, sorted.

    >>> scaled(np.array([0.4, 0.9, 0.65, 7.2]), np.array([0, 0, 0, 1])).tolist()
    [0.0, 1.0, 0.5, 1.0]
    """
    n_groups = int(groups.max(initial=-1)) + 1
    low, high = np.full(n_groups, np.inf), np.full(n_groups, -np.inf)
    finite = np.isfinite(scores)
    np.minimum.at(low, groups[finite], scores[finite])
    np.maximum.at(high, groups[finite], scores[finite])
    flat = (high <= low)[groups]
    result = np.where(flat, 1.0, 0.0)
    usable = finite & ~flat
    own = groups[usable]
    # Halved before they are subtracted: the largest double minus the smallest is infinite.
    width = high[own] / 2 - low[own] / 2
    result[usable] = (scores[usable] / 2 - low[own] / 2) / width
    result[np.isposinf(scores)] = 1.0
    result[np.isneginf(scores) | np.isnan(scores)] = 0.0
    return result


def reciprocal_rank_fusion(
    lists: Mapping[str, Sequence[Item]], *, weights: Mapping[str, float] | None = None, k: float = 60.0
) -> dict[Item, float]:
    """Return item -> fused score, best first, of one query's lists.

    With ``k=0`` and weights of 1 / number of lists it is the mean reciprocal rank, absent counting 0.

    Args:
        lists: name -> items, best first.
        weights: name -> weight; 1 where nothing is said.
        k: the constant added to each rank.

    Raises:
        InputError: a weight names no list.

    >>> list(reciprocal_rank_fusion({"dense": ["P", "q", "R"], "sparse": ["s", "t", "R"]}))
    ['R', 'P', 's', 'q', 't']
    """
    given = _weights_of(lists, weights)
    scores: dict[Item, float] = {}
    for name, items in lists.items():
        best_rank: dict[Item, int] = {}
        for rank, item in enumerate(items, start=1):
            best_rank.setdefault(item, rank)
        for item, rank in best_rank.items():
            scores[item] = scores.get(item, 0.0) + given[name] / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def min_max_fusion(
    lists: Mapping[str, Mapping[Item, float]],
    *,
    weights: Mapping[str, float] | None = None,
    distances: frozenset[str] = frozenset(),
) -> dict[Item, float]:
    """Return item -> fused score, best first, of one query's scored lists.

    Args:
        lists: name -> item -> score, best first.
        weights: name -> weight; 1 where nothing is said.
        distances: lists whose scores are distances: lower is better, and they are turned round first.

    Raises:
        InputError: a weight names no list.

    >>> min_max_fusion({"near": {"d1": 0.1, "d2": 0.9}}, distances=frozenset({"near"}))
    {'d1': 1.0, 'd2': 0.0}
    """
    given = _weights_of(lists, weights)
    scores: dict[Item, float] = {}
    for name, scored in lists.items():
        values = np.fromiter(scored.values(), np.float64, len(scored))
        shares = scaled(-values if name in distances else values, np.zeros(len(scored), np.int64))
        for item, share in zip(scored, shares.tolist(), strict=True):
            scores[item] = scores.get(item, 0.0) + given[name] * share
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def repeats(items: Sequence[Hashable]) -> int:
    """Return how many rows of a list repeat an earlier one.

    >>> repeats(["a", "b", "b", "b"])
    2
    """
    return len(items) - len(set(items))


def _weights_of(lists: Mapping[str, object], weights: Mapping[str, float] | None) -> dict[str, float]:
    absent = [name for name in weights or {} if name not in lists]
    if absent:
        raise InputError(
            f"a weight for {absent[0]!r}, which is no list", fix=f"the lists are {', '.join(lists)}"
        )
    return {name: 1.0 if weights is None else weights.get(name, 1.0) for name in lists}


def _first_in_list(source: NDArray[np.int64], key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows that are the first of their key within their list, in row order."""
    by = np.lexsort((np.arange(len(key)), key, source))
    fresh = np.ones(len(by), np.bool_)
    fresh[1:] = (key[by][1:] != key[by][:-1]) | (source[by][1:] != source[by][:-1])
    return np.sort(by[fresh])


def _all_failed(lists: Mapping[str, Lists], names: Sequence[str]) -> dict[int, str]:
    failed = set(lists[names[0]].errors).intersection(*(lists[name].errors for name in names))
    return {
        query: "; ".join(f"{name}: {lists[name].errors[query]}" for name in names) for query in sorted(failed)
    }
