"""Reciprocal rank fusion of an engine's lists, for engines that do not fuse by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.connectors.hits import RawHit


def identity_of(hit: RawHit) -> tuple[object, ...]:
    """Return what makes a hit the same chunk in two lists: its place, else its id, else its text."""
    if hit.start is not None:
        return hit.doc_id, hit.start, hit.end
    return ("id", hit.id) if hit.id is not None else ("text", hit.doc_id, hit.text)


def fuse(lists: Sequence[Sequence[RawHit]], *, k_rrf: float = 60.0) -> list[RawHit]:
    """Return the hits of all lists by the sum of 1 / (k_rrf + rank); ties by first appearance.

    A hit that a list repeats counts once, at its best rank.

    Args:
        lists: each best first.
        k_rrf: how much less the top of a list counts than it would alone.

    Source: Cormack, Clarke and Buettcher, Reciprocal rank fusion outperforms Condorcet (2009).

    >>> one = [RawHit(id="a"), RawHit(id="b")]
    >>> [hit.id for hit in fuse([one, [RawHit(id="b"), RawHit(id="c")]])]
    ['b', 'a', 'c']
    """
    scores: dict[tuple[object, ...], float] = {}
    hits: dict[tuple[object, ...], RawHit] = {}
    for ranked in lists:
        met: set[tuple[object, ...]] = set()
        for hit in ranked:
            key = identity_of(hit)
            if key in met:
                continue
            met.add(key)
            scores[key] = scores.get(key, 0.0) + 1.0 / (k_rrf + len(met))
            hits.setdefault(key, hit)
    best = sorted(scores, key=lambda key: -scores[key])
    return [replace(hits[key], score=scores[key]) for key in best]
