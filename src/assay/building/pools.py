"""Candidates of several retrievers for people to judge: one entry a place, shown blind.

One identity across retrievers: two spans of a document are one place when they share half of the shorter one.
What is shown is all that the hits of a place cover.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.model.documents import Document
from assay.model.golden import Query
from assay.model.labels import Candidate, Pool
from assay.model.relevance import Place
from assay.model.runs import Hit, Run

SAME_PLACE = 0.5
"""Share of the shorter span that two spans of one place have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLists:
    """What one retriever returned, query by query."""

    name: str
    """What people call it; never shown to who labels."""
    hits: Mapping[str, Sequence[Hit]]
    """Query id -> its hits, best first. A query that was asked and got nothing has an empty list."""


def lists_of(run: Run, name: str | None = None) -> RankedLists:
    """Return the final lists of a run."""
    hits = {trace.query_id: trace.final.hits for trace in run.traces()}
    return RankedLists(name=name or f"{run.name} {run.id[:8]}", hits=hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A span of a document."""

    doc_id: str
    start: int
    end: int

    @staticmethod
    def of(place: Candidate | Place) -> Spot:
        """Return the span of a candidate or of a place where an anchor stands."""
        return Spot(doc_id=place.doc_id, start=place.start, end=place.end)

    def meets(self, other: Spot) -> float:
        """Return how much of the shorter of two spans both cover, 0 to 1; 0 in different documents."""
        if self.doc_id != other.doc_id:
            return 0.0
        common = min(self.end, other.end) - max(self.start, other.start)
        return max(0.0, common / max(1, min(self.end - self.start, other.end - other.start)))


def pool_queries(
    queries: Sequence[Query],
    lists: Sequence[RankedLists],
    documents: Mapping[str, Document],
    *,
    name: str,
    depth: int,
    seed: int,
) -> list[Pool]:
    """Return the pool of each query: the first hits of every list, one entry a place, in a shuffled order.

    A query without candidates has an empty pool: it is labelled from the corpus, or said to have no answer.
    Hits whose place is not known are left out.

    Args:
        queries: what was asked.
        lists: what the retrievers returned.
        documents: id -> document.
        name: the pooling's; all its pools have it.
        depth: how many hits of each list are taken.
        seed: shuffles; the order of one query does not depend on the others.
    """
    sources = tuple(one.name for one in lists)
    pools: list[Pool] = []
    for query in queries:
        candidates = pool_hits({one.name: one.hits.get(query.id, ())[:depth] for one in lists}, documents)
        order = shuffled(len(candidates), seed, query.id)
        pool = Pool(
            id="",
            name=name,
            query_id=query.id,
            query=query.text,
            kind=query.kind,
            candidates=tuple(candidates[at] for at in order),
            seed=seed,
            depth=depth,
            sources=sources,
        )
        pools.append(replace(pool, id=pool_id(pool)))
    return pools


def pool_hits(hits: Mapping[str, Sequence[Hit]], documents: Mapping[str, Document]) -> list[Candidate]:
    """Return the places of some lists, the best ranked first; each with its best rank in every list."""
    placed = sorted(
        (hit.rank, hit.doc_id, hit.start, hit.end, name)
        for name, some in hits.items()
        for hit in some
        if hit.start is not None and hit.end is not None and hit.doc_id in documents
    )
    leaders: list[Spot] = []
    covered: list[tuple[int, int]] = []
    ranks: list[dict[str, int]] = []
    for rank, doc_id, start, end, name in placed:
        spot = Spot(doc_id=doc_id, start=start, end=end)
        at = best_spot(spot, leaders)
        if at is None:
            leaders.append(spot)
            covered.append((start, end))
            ranks.append({name: rank})
            continue
        covered[at] = (min(covered[at][0], start), max(covered[at][1], end))
        ranks[at].setdefault(name, rank)
    return [
        Candidate(
            doc_id=leader.doc_id,
            start=start,
            end=end,
            text=documents[leader.doc_id].text[start:end],
            ranks=dict(sorted(places.items())),
        )
        for leader, (start, end), places in zip(leaders, covered, ranks, strict=True)
    ]


def best_spot(spot: Spot, among: Sequence[Spot]) -> int | None:
    """Return which of some spans is the same place as one, the one that shares most; None when none is.

    >>> wide, far = Spot(doc_id="a", start=0, end=100), Spot(doc_id="a", start=300, end=400)
    >>> best_spot(Spot(doc_id="a", start=60, end=120), [far, wide])
    1
    """
    best: tuple[float, int] | None = None
    for at, other in enumerate(among):
        share = spot.meets(other)
        if share >= SAME_PLACE and (best is None or share > best[0]):
            best = (share, at)
    return None if best is None else best[1]


def shuffled(count: int, seed: int, query_id: str) -> list[int]:
    """Return an order of so many things that the seed and the query decide alone."""
    own = int.from_bytes(hashlib.sha256(query_id.encode()).digest()[:8], "big")
    return np.random.default_rng([seed, own]).permutation(count).tolist()


def pool_id(pool: Pool) -> str:
    """Return the content address of a pool: the same pooling made twice is kept once."""
    content = [
        pool.name,
        pool.query_id,
        pool.query,
        pool.seed,
        pool.depth,
        list(pool.sources),
        [[one.place, dict(one.ranks)] for one in pool.candidates],
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
