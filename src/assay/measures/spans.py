"""Character-level measures: how much of the anchors' text the retrieved spans hold, and how little else.

Spans are numbers only: a query, a document code, a start and an end (code points, end exclusive). A
character counts once, however many chunks of the list hold it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.measures.columns import Floats, Ints, ratio
from assay.model.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Spans of many queries, in columns, in any order; they may overlap."""

    query: NDArray[np.int64]
    """Position of the query."""
    doc: NDArray[np.int64]
    """Code of the document."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    """One past the last code point."""

    def __len__(self) -> int:
        return len(self.query)

    def joined(self, other: Spans) -> Spans:
        """Return the spans of both."""
        return Spans(
            query=np.concatenate((self.query, other.query)),
            doc=np.concatenate((self.doc, other.doc)),
            start=np.concatenate((self.start, other.start)),
            end=np.concatenate((self.end, other.end)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanScores:
    """One value a query; NaN where the query has no anchor."""

    recall: Floats
    """Share of the anchors' characters that the retrieved spans hold."""
    precision: Floats
    """Share of the retrieved characters that belong to an anchor; 0 when nothing was retrieved."""
    iou: Floats
    """Characters in both, over characters in either."""


def covered(spans: Spans, n: int) -> Ints:
    """Return how many characters the union of each query's spans holds.

    Raises:
        InputError: a span ends before it begins, or names a query outside 0 to n - 1.

    >>> def column(*numbers): return np.array(numbers)
    >>> two = Spans(query=column(0, 0), doc=column(0, 0), start=column(0, 5), end=column(10, 12))
    >>> covered(two, 2)
    array([12,  0])
    """
    if not len(spans):
        return np.zeros(n, np.int64)
    if (spans.end < spans.start).any() or spans.query.min() < 0 or spans.query.max() >= n:
        raise InputError(
            f"a span ends before it begins, or names a query outside 0 to {n - 1}",
            fix="offsets are code points, end exclusive; number the queries by their place",
        )
    order = np.lexsort((spans.start, spans.doc, spans.query))
    query, doc = spans.query[order], spans.doc[order]
    start, end = spans.start[order], spans.end[order]
    # lay the documents one behind the other, so that one running maximum serves all of them
    new = np.ones(len(order), np.bool_)
    new[1:] = (query[1:] != query[:-1]) | (doc[1:] != doc[:-1])
    group = np.cumsum(new) - 1
    extent = np.maximum.reduceat(end, np.flatnonzero(new)) - start[new]
    shift = (np.cumsum(extent) - extent - start[new])[group]
    start, end = start + shift, end + shift
    reached = np.concatenate((start[:1], np.maximum.accumulate(end)[:-1]))
    fresh = np.maximum(0, end - np.maximum(start, reached))
    return np.bincount(query, weights=fresh, minlength=n).astype(np.int64)


def span_scores(retrieved: Spans, anchors: Spans, n: int) -> SpanScores:
    """Return character recall, precision and IoU of the union of retrieved spans against the anchors'.

    Each 0 to 1, higher is better; NaN where a query has no anchor, 0 where it has and nothing was
    retrieved.

    Raises:
        InputError: as ``covered``.

    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, Chroma (2024).

    >>> def column(*numbers): return np.array(numbers)
    >>> hit = Spans(query=column(0), doc=column(7), start=column(0), end=column(100))
    >>> anchor = Spans(query=column(0), doc=column(7), start=column(80), end=column(120))
    >>> scores = span_scores(hit, anchor, 1)
    >>> float(scores.recall[0]), float(scores.precision[0]), round(float(scores.iou[0]), 4)
    (0.5, 0.2, 0.1667)
    """
    wanted = covered(anchors, n)
    shown = covered(retrieved, n)
    either = covered(retrieved.joined(anchors), n)
    both = wanted + shown - either
    return SpanScores(
        recall=ratio(both, wanted),
        precision=np.where(wanted > 0, both / np.maximum(shown, 1), np.nan),
        iou=np.where(wanted > 0, both / np.maximum(either, 1), np.nan),
    )


def touching(chunks: Spans, anchors: Spans) -> Spans:
    """Return, for each query, the chunks that share at least one character with one of its anchors.

    Args:
        chunks: all the chunks of the corpus; their ``query`` is not read.
        anchors: the anchors of the queries.
    """
    order = np.lexsort((chunks.end, chunks.start, chunks.doc))
    doc, start, end = chunks.doc[order], chunks.start[order], chunks.end[order]
    width = 1 + max((int(side.max()) for side in (end, anchors.end) if len(side)), default=0)
    keys = doc * width + start
    # chunks may nest, so that ends are not sorted: the running maximum gives a first bound
    reach = np.maximum.accumulate(doc * width + end)
    low = np.searchsorted(reach, anchors.doc * width + anchors.start, side="right")
    high = np.searchsorted(keys, anchors.doc * width + anchors.end, side="left")
    counts = np.maximum(0, high - low)
    anchor = np.repeat(np.arange(len(anchors)), counts)
    chunk = np.arange(len(anchor)) - np.repeat(np.cumsum(counts) - counts, counts) + low[anchor]
    first = np.maximum(start[chunk], anchors.start[anchor])
    last = np.minimum(end[chunk], anchors.end[anchor])
    kept = (doc[chunk] == anchors.doc[anchor]) & (first < last)
    anchor, chunk = anchor[kept], chunk[kept]
    return Spans(query=anchors.query[anchor], doc=doc[chunk], start=start[chunk], end=end[chunk])


def precision_omega(chunks: Spans, anchors: Spans, n: int) -> Floats:
    """Return the precision if exactly the chunks that touch an anchor were retrieved.

    The best precision that a chunking allows with full recall: no retriever is needed to know it. Range
    0 to 1, higher is better; NaN where a query has no anchor.

    Raises:
        InputError: as ``covered``.

    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, Chroma (2024).

    >>> def column(*numbers): return np.array(numbers)
    >>> chunks = Spans(query=column(0, 0), doc=column(0, 0), start=column(0, 50), end=column(50, 100))
    >>> anchor = Spans(query=column(0), doc=column(0), start=column(60), end=column(70))
    >>> precision_omega(chunks, anchor, 1)
    array([0.2])
    """
    return span_scores(touching(chunks, anchors), anchors, n).precision
