"""What a chunking alone does to the anchors, before any retrieval: the ceiling that the cut sets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from assay.model.relevance import Place, QueryRelevance, Relevance
from assay.model.runs import ChunkTable

Fate = Literal["whole", "duplicated", "split", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorFate:
    """What became of one anchor."""

    query_id: str
    item_id: str
    fate: Fate
    """``whole``: exactly one chunk holds it. ``duplicated``: several do, because chunks overlap. ``split``:
    chunks hold parts of it only. ``lost``: its document has no chunk, or its phrase stands nowhere."""
    best_part: float
    """The largest part of it that one chunk holds, 0 to 1."""
    chunks: int
    """How many chunks hold it whole, at the place where most do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """All anchors of a golden set under one chunking."""

    anchors: int
    whole: int
    """Anchors that at least one chunk holds whole: no retriever can find more."""
    duplicated: int
    """Of these, those that several chunks hold."""
    split: int
    lost: int
    fates: tuple[AnchorFate, ...] = field(repr=False)
    """Every anchor, in the order of the set."""

    @property
    def share(self) -> float | None:
        """Whole anchors among all; None when there is no anchor."""
        return self.whole / self.anchors if self.anchors else None


def label_survival(relevance: Relevance, chunks: ChunkTable) -> Survival:
    """Return how many anchors stay whole in one chunk, are split, held twice, or lost.

    Plain labels are not anchors, and are left out.

    Args:
        relevance: as ``find_relevance`` made it with these chunks.
        chunks: all the chunks of the index.
    """
    fates = tuple(
        _fate(query, item_id, places, chunks)
        for query in relevance.queries
        for item_id, places in query.places.items()
    )
    count = Counter(one.fate for one in fates)
    return Survival(
        anchors=len(fates),
        whole=count["whole"] + count["duplicated"],
        duplicated=count["duplicated"],
        split=count["split"],
        lost=count["lost"],
        fates=fates,
    )


def _fate(query: QueryRelevance, item_id: str, places: tuple[Place, ...], chunks: ChunkTable) -> AnchorFate:
    spans: set[tuple[str, int, int]] = set()
    by_text = 0
    for chunk_id, items in query.covers.items():
        row = chunks.position.get(chunk_id)
        if item_id in items and row is not None:
            start = int(chunks.starts[row])
            by_text += start < 0
            if start >= 0:
                spans.add((chunks.doc_ids[row], start, int(chunks.ends[row])))
    held = [sum(start <= place.start and place.end <= end for _, start, end in spans) for place in places]
    most = max([*held, min(by_text, 1)])
    fate: Fate = "duplicated" if most > 1 else "whole" if most else "split"
    reason = query.lost.get(item_id)
    if reason in {"stale label", "not indexed"}:
        fate = "lost"
    return AnchorFate(
        query_id=query.query_id,
        item_id=item_id,
        fate=fate,
        best_part=query.best_part.get(item_id, 0.0),
        chunks=most,
    )
