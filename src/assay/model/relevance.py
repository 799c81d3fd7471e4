"""Which chunks, anchors and documents are right for each query: text has become numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.model.notices import Notice

Unit = Literal["chunk", "anchor", "document"]
Loss = Literal["not indexed", "stale label", "cut by the chunker"]
"""Why an anchor can never be found: its document is not in the index; the phrase is no longer in the
document; no chunk holds the whole phrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A span of one document, in code points, end exclusive."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRelevance:
    """What is right for one query, in all three units."""

    query_id: str
    chunk_grades: Mapping[str, float] = field(default_factory=dict[str, float])
    """Relevant chunk id -> grade: the highest grade of the items that it covers whole."""
    anchor_grades: Mapping[str, float] = field(default_factory=dict[str, float])
    """Item (anchor) id -> grade, of every item that the query needs, lost ones included."""
    document_grades: Mapping[str, float] = field(default_factory=dict[str, float])
    """Relevant document id -> grade."""
    covers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Relevant chunk id -> ids of the items that it covers whole."""
    places: Mapping[str, tuple[Place, ...]] = field(default_factory=dict[str, tuple[Place, ...]])
    """Item id -> where its phrase (or an alternative) stands."""
    lost: Mapping[str, Loss] = field(default_factory=dict[str, Loss])
    """Item id -> why no chunk can earn it. Each is one relevant item that no list can hold."""
    best_part: Mapping[str, float] = field(default_factory=dict[str, float])
    """Item id -> the largest part (0 to 1) of its phrase that one chunk holds."""
    twins: Mapping[str, tuple[Place, ...]] = field(default_factory=dict[str, tuple[Place, ...]])
    """Item id -> places in other documents where the same phrase stands; a hit there earns nothing."""

    @property
    def labelled(self) -> bool:
        """Whether the query has anything to find (else its measures are undefined)."""
        return any(grade > 0 for grade in self.anchor_grades.values())

    @property
    def winnable(self) -> bool:
        """Whether at least one relevant item can be found at all."""
        return any(grade > 0 for grade in self.chunk_grades.values())


@dataclass(frozen=True, kw_only=True)
class Relevance:
    """Relevance of every query of a golden set against one chunking of one corpus."""

    queries: tuple[QueryRelevance, ...]
    notices: tuple[Notice, ...] = ()

    @cached_property
    def by_query(self) -> Mapping[str, QueryRelevance]:
        return {query.query_id: query for query in self.queries}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRows:
    """Judged items of many ranked lists, in columns, sorted by query and then rank.

    One row is one item that was met: usually one a rank. In the anchor unit a hit that covers two new
    anchors makes two rows of the same rank. A rank without a row holds nothing judged.
    """

    query: NDArray[np.int32]
    """Position of the query."""
    rank: NDArray[np.int32]
    """From 1."""
    grade: NDArray[np.float64]
    """Above 0: relevant. 0 and below: judged, and not relevant."""
    kept: dict[object, NDArray[np.float64] | NDArray[np.int64]] = field(
        init=False,  # rows that are made from others keep nothing of theirs
        default_factory=dict[object, "NDArray[np.float64] | NDArray[np.int64]"],
        compare=False,
        repr=False,
    )
    """What was worked out from these rows alone, so that the next run held against them need not."""

    @staticmethod
    def empty() -> JudgedRows:
        return JudgedRows(query=np.zeros(0, np.int32), rank=np.zeros(0, np.int32), grade=np.zeros(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All that a measure needs to know of a run: the input of the batch kernel, numbers only."""

    query_ids: tuple[str, ...]
    """The queries of the golden set, in its order: they are the denominator."""
    found: JudgedRows
    """What the run's lists met. A repeated item has its row at its first rank only."""
    ideal: JudgedRows
    """The best imaginable lists: every item of the set with grade above 0, best first, lost ones too."""
    retrieved: NDArray[np.int64]
    """Length of each list, repeats and unjudged hits included."""
    best: JudgedRows | None = None
    """The best lists that the set allows (lost items left out); None: the same as ``ideal``."""
    nonrelevant: NDArray[np.int64] | None = None
    """Judged items with grade <= 0 in the set, a query; None: not known, taken as 0."""
    negative: NDArray[np.int64] | None = None
    """How many of them have a grade below 0, which bpref and infAP leave out (TREC writes -1 for pooled,
    but not judged); None: only those that the lists met are known."""
    answered: NDArray[np.bool_] | None = None
    """Whether the run has the query at all (a missing one scores 0 and is listed); None: all are there."""
