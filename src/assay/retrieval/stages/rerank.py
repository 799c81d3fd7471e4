"""Reranking: what a reranker replied becomes a list.

Score down, ties by incoming rank, missing scores (NaN) last. Rows that the reranker was not sent, or did not
return, are dropped and counted; they follow in their incoming order, without a score, only where back-filling
was declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import reason_of
from assay.retrieval.models.protocols import (
    NOTHING_DONE,
    Candidates,
    ModelReport,
    Reply,
    Reporting,
    Reranker,
    Window,
)
from assay.retrieval.stages.lists import Lists, lists_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked:
    """One list after its reranker."""

    places: NDArray[np.int64]
    """Places in the incoming list, counted from 0, best first."""
    scores: NDArray[np.float64]
    """NaN for rows that were back-filled or had no score."""
    tied: int
    """Rows whose score another row has too."""
    unscored: int
    """Rows that came back without a number."""
    dropped: int
    """Rows that were sent and did not come back (before any back-filling)."""
    backfilled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankReport:
    """What happened to the rows of all queries, and where."""

    unscored: tuple[int, ...]
    """Queries of which some row came back without a number."""
    dropped: tuple[int, ...]
    """Queries of which some row did not come back."""
    dropped_rows: int
    backfilled_rows: int
    window: Window | None = None
    """What the reranker reads at most."""
    read: Mapping[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """Rows of which it read only a part: (query, chunk) -> signs of ``Chunk.searchable`` that it read."""
    model: ModelReport = NOTHING_DONE


def apply_reply(reply: Reply, *, sent: int, incoming: int, backfill: bool) -> Reranked:
    """Put a reply into order. Rows may come in any order, in part, and more than once (the first counts).

    Args:
        reply: the reranker's rows.
        sent: how many rows it was sent, from the top of the incoming list.
        incoming: length of the incoming list.
        backfill: whether rows that are missing follow in their incoming order.

    >>> reply = Reply(places=np.array([3, 1]), scores=np.array([0.9, 0.8]))
    >>> apply_reply(reply, sent=5, incoming=5, backfill=True).places.tolist()
    [3, 1, 0, 2, 4]
    """
    places, first = np.unique(reply.places, return_index=True)
    scores = reply.scores[first]
    known = (places >= 0) & (places < sent)
    places, scores = places[known], scores[known]
    unscored = np.isnan(scores)
    order = np.lexsort((places, np.where(unscored, 0.0, -scores), unscored))
    places, scores = places[order], scores[order]
    numbers, counts = np.unique(scores[~np.isnan(scores)], return_counts=True)
    missing = np.setdiff1d(np.arange(incoming), places) if backfill else np.zeros(0, np.int64)
    return Reranked(
        places=np.concatenate([places, missing]).astype(np.int64),
        scores=np.concatenate([scores, np.full(len(missing), np.nan)]),
        tied=int(counts[counts > 1].sum()) if len(numbers) else 0,
        unscored=int(unscored.sum()),
        dropped=sent - len(places),
        backfilled=len(missing),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankStage:
    """Sends the top of each pool to a reranker."""

    top_n: int
    """How many rows are sent."""
    backfill: bool

    def run(
        self,
        texts: Sequence[str],
        pool: Lists,
        reranker: Reranker,
        candidates: Candidates,
        *,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> tuple[Lists, RerankReport]:
        """Return the reranked lists. A reranker that fails on a query leaves that query without rows."""
        errors = dict(pool.errors)
        rows: list[tuple[NDArray[np.generic], NDArray[np.float64]]] = []
        unscored: list[int] = []
        dropped: list[int] = []
        dropped_rows = backfilled_rows = 0
        read: dict[tuple[int, int], int] = {}
        if isinstance(reranker, Reporting):
            reranker.take_report()
        for query, text in enumerate(texts):
            incoming = pool.chunks[pool.of(query)]
            sent = min(self.top_n, len(incoming))
            if progress is not None:
                progress("reranking", query, len(texts))
            try:
                reply = reranker.rerank(text, incoming[:sent], candidates)
            except Exception as error:  # noqa: BLE001 - whatever a model raises is data of that query
                errors.setdefault(query, f"reranker: {type(error).__name__}: {reason_of(error)}")
                rows.append((incoming[:0], np.zeros(0)))
                continue
            result = apply_reply(reply, sent=sent, incoming=len(incoming), backfill=self.backfill)
            rows.append((incoming[result.places], result.scores))
            read |= {(query, int(incoming[place])): signs for place, signs in reply.read.items()}
            unscored += [query] if result.unscored else []
            dropped += [query] if result.dropped else []
            dropped_rows += result.dropped
            backfilled_rows += result.backfilled
        lists = lists_of(rows)
        report = RerankReport(
            unscored=tuple(unscored),
            dropped=tuple(dropped),
            dropped_rows=dropped_rows,
            backfilled_rows=backfilled_rows,
            window=reranker.window,
            read=read,
            model=reranker.take_report() if isinstance(reranker, Reporting) else NOTHING_DONE,
        )
        return Lists(offsets=lists.offsets, chunks=lists.chunks, scores=lists.scores, errors=errors), report
