"""One query of one run, laid open: what ``assay explain`` and the query page show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.model.findings import ItemLoss


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """One thing that the query needs, and where it stands."""

    id: str
    grade: float
    quotes: tuple[str, ...]
    """The phrases, any one of which serves; for a plain label its name."""
    places: tuple[str, ...]
    """``doc [start, end), line 12`` of each occurrence."""
    loss: ItemLoss
    twins: tuple[str, ...] = ()
    """Other documents in which the same phrase stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHit:
    """One hit of the final list."""

    rank: int
    chunk_id: str
    score: float | None
    earns: tuple[str, ...]
    """Items that it covers whole."""
    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Spans of ``text`` that are anchors or parts of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChunk:
    """One relevant chunk and its rank at every stage, however deep."""

    chunk_id: str
    covers: tuple[str, ...]
    ranks: Mapping[str, int | None]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A query, its items, its hits, its ranks, and the arithmetic of its numbers."""

    run_id: str
    query_id: str
    text: str
    kind: str
    split: str | None
    k: int
    unit: str
    searched: str | None
    """What was searched for, where it is not the query's own text."""
    items: tuple[ShownItem, ...]
    hits: tuple[ShownHit, ...]
    relevant: tuple[ShownChunk, ...]
    stages: tuple[str, ...]
    values: Mapping[str, float | None]
    arithmetic: tuple[tuple[str, ...], ...]
    """The worked lines of each measure."""
    error: str | None = None
