"""Full-text search: BM25, the whole ranking.

The weights of words in chunks are made by bm25s (its Lucene variant: the logarithm's argument is smoothed,
so that a word in half of the chunks still counts); they are summed here in 64-bit, query word by query word,
so that words can weigh more or less. A chunk that shares no word with the query is no hit. Equal scores stand
in the order of their chunk ids.

Source: Robertson and Walker (1994); Kamphuis et al., Which BM25 do you mean? (2020); Lu, BM25S (2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.stages.lists import Lists, Watch, lists_of, no_ranks
from assay.retrieval.terms import TermIndex

_GROUPS = 8
"""Groups for each chunk that is wanted: the more, the nearer the bound is to the last score that counts."""
_LEAST_GROUP = 8
"""Chunks of a group; with fewer a bound costs more than it saves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """BM25's weight of every term in every chunk that holds it, term by term."""

    n_chunks: int
    starts: NDArray[np.int64]
    """n_terms + 1 values: the chunks of term ``i`` are ``chunks[starts[i]:starts[i + 1]]``."""
    chunks: NDArray[np.int32]
    weights: NDArray[np.float64]


class _ChunkTerms(Sequence[list[int]]):
    """The terms of each chunk, made when asked for: bm25s wants lists, and a million of them are large."""

    def __init__(self, terms: TermIndex) -> None:
        self.terms = terms

    def __len__(self) -> int:
        return len(self.terms)

    def __getitem__(self, chunk: Any) -> Any:  # noqa: ANN401 - Sequence overloads it; bm25s only iterates
        return self.terms.of(chunk).tolist()

    def __iter__(self) -> Iterator[list[int]]:
        return (self.terms.of(chunk).tolist() for chunk in range(len(self)))


def weigh(terms: TermIndex, *, k1: float, b: float) -> Postings:
    """Build the postings of an index.

    Args:
        terms: the terms of the chunks.
        k1: how fast repeats stop counting.
        b: how much long chunks are held back.
    """
    n_terms = len(terms.vocabulary)
    if not len(terms.flat):
        return Postings(
            n_chunks=len(terms),
            starts=np.zeros(n_terms + 1, np.int64),
            chunks=np.zeros(0, np.int32),
            weights=np.zeros(0),
        )
    import bm25s  # noqa: PLC0415 - half the time of a warm run, which finds its postings in the cache

    made = cast(
        "Mapping[str, Any]",
        bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64").build_index_from_ids(
            cast("Any", range(n_terms)), cast("Any", _ChunkTerms(terms)), show_progress=False
        ),
    )
    return Postings(
        n_chunks=len(terms),
        starts=np.asarray(made["indptr"], np.int64),
        chunks=np.asarray(made["indices"], np.int32),
        weights=np.asarray(made["data"], np.float64),
    )


WeightedTerms = Sequence[tuple[int, float]]
"""Term numbers of a query and what each weighs (a word that stands twice weighs 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FulltextStage:
    """Ranks all chunks that share a word with the query."""

    depth: int
    """Length of each list."""

    def run(
        self, queries: Sequence[WeightedTerms], postings: Postings, order: NDArray[np.int64], watch: Watch
    ) -> Lists:
        """Return the best chunks of each query, and the rank of each watched chunk below them.

        Args:
            queries: the weighted terms of each query.
            postings: the index.
            order: place of each chunk among the sorted chunk ids, for ties.
            watch: whose rank is wanted however deep.
        """
        rows: list[tuple[NDArray[np.generic], NDArray[np.float64]]] = []
        deep: list[tuple[int, int, int]] = []
        for query, terms in enumerate(queries):
            scores = score_all(terms, postings)
            chunks = best(scores, order, self.depth)
            rows.append((chunks, scores[chunks]))
            for chunk in watch.chunk[watch.of_queries(query, query + 1)].tolist():
                rank = rank_of(chunk, scores, order)
                if rank is not None and rank > self.depth:
                    deep.append((query, chunk, rank))
        columns = np.array(deep, np.int64).reshape(len(deep), 3)
        lists = lists_of(rows)
        return Lists(
            offsets=lists.offsets,
            chunks=lists.chunks,
            scores=lists.scores,
            deep_query=columns[:, 0],
            deep_chunk=columns[:, 1],
            deep_rank=columns[:, 2],
        )


def score_all(terms: WeightedTerms, postings: Postings) -> NDArray[np.float64]:
    """Return the BM25 score of every chunk; 0 where it shares no word with the query."""
    scores = np.zeros(postings.n_chunks)
    for term, weight in terms:
        span = slice(int(postings.starts[term]), int(postings.starts[term + 1]))
        weights = postings.weights[span]
        np.add.at(scores, postings.chunks[span], weights if weight == 1 else weights * weight)
    return scores


def best(scores: NDArray[np.float64], order: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the chunks with scores above 0: score down, then chunk id; the first ``most`` of them.

    >>> best(np.array([0.0, 2.0, 3.0, 2.0]), np.array([0, 2, 3, 1]), 2).tolist()
    [2, 3]
    """
    bound = _bound(scores, most)
    hits = np.flatnonzero(scores >= bound if bound > 0 else scores > 0)
    if not len(hits):
        return no_ranks()
    if len(hits) > most:
        own = scores[hits]
        hits = hits[own >= np.partition(own, -most)[-most]]
    return hits[np.lexsort((order[hits], -scores[hits]))][:most]


def _bound(scores: NDArray[np.float64], most: int) -> float:
    """Return a score that ``most`` chunks reach; 0 where looking for one would save nothing.

    Of the best of some groups each is reached once at least: so the ``most``-th of them is such a score.
    """
    groups = _GROUPS * most
    size = len(scores) // groups
    if size < _LEAST_GROUP:
        return 0.0
    tops = scores[: size * groups].reshape(size, groups).max(axis=0)
    return float(np.partition(tops, -most)[-most])


def rank_of(chunk: int, scores: NDArray[np.float64], order: NDArray[np.int64]) -> int | None:
    """Return the rank of a chunk in the whole list, or None when it is no hit."""
    own = scores[chunk]
    if own <= 0:
        return None
    before = (scores > own) | ((scores == own) & (order < order[chunk]))
    return int(np.count_nonzero(before)) + 1
