"""Spans of characters for the measures that count them: what was retrieved, and what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.matching.judging import GoldenLists
from assay.model.golden import GoldenSet
from assay.model.ids import id_key as identity
from assay.model.relevance import Place, QueryRelevance, Relevance
from assay.model.runs import ChunkTable

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRows:
    """Spans in columns; ``measures.spans.Spans`` takes them as they are."""

    query: Ints
    """Position of the query in the golden set."""
    doc: Ints
    """Code of the document: the same in all tables that were made with one ``SpanCodes``."""
    start: Ints
    end: Ints
    """One past the last code point."""


class SpanCodes:
    """Documents as numbers: the chunks' in order of appearance, then those that only anchors name.

    Args:
        chunks: the run's chunk table.
    """

    def __init__(self, chunks: ChunkTable) -> None:
        self._chunks = chunks
        self._code: dict[str, int] = {}
        codes = (self.of(name) for name in chunks.doc_ids)
        self.chunk_docs: Ints = np.fromiter(codes, np.int64, len(chunks))
        """The document of each chunk of the table."""

    def of(self, doc_id: str) -> int:
        """Return the code of a document."""
        return self._code.setdefault(identity(doc_id), len(self._code))

    def all_chunks(self) -> SpanRows:
        """Return the spans of all chunks whose place is known; their query is 0."""
        placed = np.flatnonzero(self._chunks.starts >= 0)
        return self._rows(np.zeros(len(placed), np.int64), placed)

    def retrieved(self, lists: GoldenLists, k: int | Sequence[int] | None = None) -> SpanRows:
        """Return the spans that the lists hold within the cut; hits without a place are left out.

        Args:
            lists: a stage's lists, as ``golden_lists`` gives them.
            k: the cut, one for all or one a query; None: the whole lists.
        """
        lengths = np.diff(lists.offsets)
        cut = lengths if k is None else np.minimum(lengths, np.asarray(k, np.int64))
        query = np.repeat(np.arange(len(cut), dtype=np.int64), cut)
        rank = np.arange(len(query)) - np.repeat(np.cumsum(cut) - cut, cut)
        rows = lists.chunks[lists.offsets[query] + rank].astype(np.int64)
        placed = self._chunks.starts[rows] >= 0
        return self._rows(query[placed], rows[placed])

    def anchors(self, relevance: Relevance, golden: GoldenSet, retrieved: SpanRows) -> SpanRows:
        """Return the spans of the anchors, one place an item.

        An item that may stand in several places (alternatives, occurrences) is counted at the place that the
        retrieved spans hold most of, the first of equals: one of them is enough.
        """
        rows: list[tuple[int, int, int, int]] = []
        bounds = np.searchsorted(retrieved.query, np.arange(len(golden.queries) + 1))
        empty = QueryRelevance(query_id="")
        for at, query in enumerate(golden.queries):
            one = relevance.by_query.get(query.id, empty)
            span = slice(int(bounds[at]), int(bounds[at + 1]))
            for item, places in one.places.items():
                if places and one.anchor_grades[item] > 0:
                    best = places[0]
                    if len(places) > 1:
                        best = max(places, key=lambda place: self._held(place, retrieved, span))
                    rows.append((at, self.of(best.doc_id), best.start, best.end))
        columns = np.array(rows, np.int64).reshape(-1, 4).T
        return SpanRows(query=columns[0], doc=columns[1], start=columns[2], end=columns[3])

    def _held(self, place: Place, retrieved: SpanRows, of_query: slice) -> int:
        """Return how much of a place the longest-reaching of a query's spans holds."""
        same = retrieved.doc[of_query] == self.of(place.doc_id)
        overlap = np.minimum(retrieved.end[of_query], place.end) - np.maximum(
            retrieved.start[of_query], place.start
        )
        return max(0, int(overlap[same].max(initial=0)))

    def _rows(self, query: Ints, rows: Ints) -> SpanRows:
        chunks = self._chunks
        return SpanRows(
            query=query, doc=self.chunk_docs[rows], start=chunks.starts[rows], end=chunks.ends[rows]
        )
