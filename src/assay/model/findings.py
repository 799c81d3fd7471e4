"""Where a relevant item was lost, why, and which fix was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

LostAt = Literal[
    "not indexed",
    "stale label",
    "cut by the chunker",
    "retriever error",
    "first stage",
    "fusion",
    "pool cut",
    "reranker",
    "diversity",
    "final cut",
    "token budget",
]
"""The earliest stage after which an item could no longer reach the prompt, in the order of the pipeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLoss:
    """What became of one relevant item of one query on its way to the prompt."""

    query_id: str
    item_id: str
    """The anchor's id, or the label's."""
    lost_at: LostAt | None
    """None: the item reached the prompt."""
    detail: str = ""
    """The place in words and numbers: ``rank 8 of the pool, rank 23 after the reranker; k = 10``."""
    chunk_id: str | None = None
    """The chunk that came nearest to the prompt, of those that cover the item."""
    ranks: Mapping[str, int | None] = field(default_factory=dict[str, int | None])
    """Stage -> best rank of a chunk that covers the item; None where no list that is known holds one."""

    @property
    def found(self) -> bool:
        return self.lost_at is None
