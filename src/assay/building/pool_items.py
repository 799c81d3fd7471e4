"""Pools and labels as numbers: which places each list holds, in which order, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.building.pools import RankedLists, Spot, best_spot, pool_hits
from assay.model.documents import Document
from assay.model.golden import Query
from assay.model.labels import Standing
from assay.model.relevance import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolItem:
    """One place of a query, and whether it is right."""

    place: str
    """``doc_id#start-end``."""
    grade: float | None
    """Above 0: relevant. 0 and below: not. None: nobody has judged it: unknown, not wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledQuery:
    """One query: its places, and each retriever's list of them."""

    query_id: str
    items: tuple[PoolItem, ...]
    """Places that a retriever found, and relevant ones that none did."""
    lists: Mapping[str, tuple[int, ...]]
    """Retriever -> positions in ``items``, best first, each once."""

    @property
    def known(self) -> int:
        """How many places are known to be relevant."""
        return sum(item.grade is not None and item.grade > 0 for item in self.items)

    @property
    def unjudged(self) -> frozenset[int]:
        """Positions of the places that nobody has judged."""
        return frozenset(at for at, item in enumerate(self.items) if item.grade is None)


def pooled_queries(
    queries: Sequence[Query],
    lists: Sequence[RankedLists],
    documents: Mapping[str, Document],
    *,
    standings: Sequence[Standing] = (),
    anchors: Mapping[str, Sequence[tuple[Place, float]]] | None = None,
    depth: int,
) -> list[PooledQuery]:
    """Return what is known of every place that the retrievers found.

    A place is judged when a person (or a judge that counts) graded it or what it shares half with, or when it
    covers an anchor of the query: then it has the anchor's grade. An anchor that no place covers is a
    relevant place that nobody found, so queries without any candidate count too. Queries that have no answer
    are left out.

    Args:
        queries: what was asked.
        lists: what the retrievers returned.
        documents: id -> document.
        standings: what the labels say.
        anchors: query id -> places of its anchors, each with its grade.
        depth: how many hits of each list are looked at.
    """
    judged: dict[str, list[tuple[Spot, float]]] = {}
    for standing in standings:
        if standing.grade is not None:
            judged.setdefault(standing.query_id, []).append((_spot(standing.place), standing.grade))
    return [
        _pooled(query, lists, documents, judged.get(query.id, []), (anchors or {}).get(query.id, ()), depth)
        for query in queries
        if query.answerable
    ]


def _pooled(
    query: Query,
    lists: Sequence[RankedLists],
    documents: Mapping[str, Document],
    judged: Sequence[tuple[Spot, float]],
    anchors: Sequence[tuple[Place, float]],
    depth: int,
) -> PooledQuery:
    hits = {one.name: one.hits.get(query.id, ())[:depth] for one in lists}
    candidates = pool_hits(hits, documents)
    items: list[PoolItem] = []
    met: set[int] = set()
    covered: set[int] = set()
    spots = [spot for spot, _ in judged]
    for one in candidates:
        spot = Spot.of(one)
        inside = [
            at
            for at, (place, _) in enumerate(anchors)
            if place.doc_id == one.doc_id and one.start <= place.start and place.end <= one.end
        ]
        covered.update(inside)
        at = best_spot(spot, spots)
        met.update(_all_met(spot, spots))
        grade = (
            judged[at][1] if at is not None else max((anchors[found][1] for found in inside), default=None)
        )
        items.append(PoolItem(place=one.place, grade=grade))
    unfound = [(judged[at][0], judged[at][1]) for at in range(len(judged)) if at not in met]
    unfound += [(Spot.of(place), grade) for at, (place, grade) in enumerate(anchors) if at not in covered]
    for spot, grade in unfound:
        if grade > 0:
            items.append(PoolItem(place=f"{spot.doc_id}#{spot.start}-{spot.end}", grade=grade))
    order = {
        name: tuple(
            at
            for _, at in sorted(
                (one.ranks[name], at) for at, one in enumerate(candidates) if name in one.ranks
            )
        )
        for name in hits
    }
    return PooledQuery(query_id=query.id, items=tuple(items), lists=order)


def _all_met(spot: Spot, spots: Sequence[Spot]) -> list[int]:
    return [at for at, other in enumerate(spots) if best_spot(spot, [other]) is not None]


def _spot(place: str) -> Spot:
    doc_id, _, span = place.rpartition("#")
    start, _, end = span.partition("-")
    return Spot(doc_id=doc_id, start=int(start), end=int(end))
