"""Diversity: maximal marginal relevance.

Each step takes the row with the largest ``balance * relevance - (1 - balance) * similarity``, where
similarity is the largest to any row already taken. The first row taken is the most relevant; a balance of 1
leaves the order alone; no row is taken twice; ties stand in their incoming order.

Source: Carbonell and Goldstein, The use of MMR (1998).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.stages.fuse import scaled
from assay.retrieval.stages.lists import Lists

Similar = Callable[[int], NDArray[np.float64]]
"""Place of a row -> its similarity to every row."""


def mmr(
    relevance: NDArray[np.float64], similar: Similar, *, balance: float, most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the places taken, in order, and the value that each was taken for.

    Fewer than ``most`` when there are fewer rows.

    Args:
        relevance: one value a row; rows in their incoming order.
        similar: the similarity of one row to every row.
        balance: 1 for relevance alone, 0 for diversity alone (the first row is the most relevant even so).
        most: how many rows are taken.

    >>> likeness = np.array([[1, 0.95, 0.1], [0.95, 1, 0.2], [0.1, 0.2, 1]])
    >>> mmr(np.array([0.9, 0.8, 0.4]), likeness.__getitem__, balance=0.5, most=3)[0].tolist()
    [0, 2, 1]
    """
    most = min(most, len(relevance))
    taken = np.zeros(most, np.int64)
    values = np.zeros(most)
    nearest = np.full(len(relevance), -np.inf)
    free = np.ones(len(relevance), np.bool_)
    for step in range(most):
        worth = balance * relevance - (1.0 - balance) * nearest if step else relevance
        place = int(np.argmax(np.where(free, worth, -np.inf)))  # the first of equal ones
        if not free[place]:  # every free row is worth minus infinity
            place = int(np.flatnonzero(free)[0])
        # No similarity is below -1, so that no later value is above that of a first row unlike all.
        first = balance * relevance[place] + (1.0 - balance)
        taken[step], values[step] = place, worth[place] if step else first
        free[place] = False
        if step + 1 < most:
            nearest = np.maximum(nearest, similar(place))
    return taken, values


@dataclass(frozen=True, slots=True, kw_only=True)
class DiversifyStage:
    """Reorders each list whole. Relevance is the incoming score, scaled to 0..1 within the list."""

    balance: float

    def run(self, incoming: Lists, vectors: NDArray[np.float32]) -> Lists:
        """Return the reordered lists; their scores are the values that rows were taken for.

        Args:
            incoming: lists in their order; rows without a score stand last and count 0.
            vectors: one unit row a chunk; similarity is their cosine.
        """
        relevance = scaled(incoming.scores, incoming.queries)
        chunks, scores = incoming.chunks.copy(), np.empty(len(incoming.chunks))
        for query in range(len(incoming.offsets) - 1):
            rows = incoming.of(query)
            if rows.start == rows.stop:
                continue
            own = incoming.chunks[rows]
            texts = np.asarray(vectors[own], np.float64)

            # Element by element: a matrix product may give equal rows unequal similarities.
            def similar(place: int, texts: NDArray[np.float64] = texts) -> NDArray[np.float64]:
                return (texts * texts[place]).sum(axis=1)

            order, value = mmr(relevance[rows], similar, balance=self.balance, most=len(own))
            chunks[rows], scores[rows] = own[order], value
        return Lists(offsets=incoming.offsets, chunks=chunks, scores=scores, errors=dict(incoming.errors))
