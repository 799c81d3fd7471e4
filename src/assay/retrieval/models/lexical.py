"""The lexical reranker: how well, and how closely together, a chunk's words meet the query's.

Query and chunk are read as stemmed content words (``assay.model.words``); every word weighs its idf in the
corpus. The score is the weighted mean, 0 to 1, of five shares of the query's weight:

=============  ==============================================================================
``coverage``   words that the chunk holds at all
``frequency``  the same, each word counted tf / (tf + 1)
``proximity``  the most that stand together within ``span`` words of the chunk
``bigrams``    pairs of neighbours in the query that are neighbours in the chunk, in order
``heading``    words that the chunk's context (heading path, title) holds
=============  ==============================================================================

It reads whole chunks: it has no window.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from assay.model.words import content_words
from assay.retrieval.models.protocols import Candidates, Reply, RerankerSettings, Window
from assay.retrieval.terms import TermIndex

Weight = Annotated[float, Meta(ge=0)]


class LexicalSettings(RerankerSettings, frozen=True, kw_only=True):
    """``[pipeline.reranker] name = "lexical"``."""

    name: Literal["lexical"] = "lexical"
    coverage: Weight = 0.35
    frequency: Weight = 0.20
    proximity: Weight = 0.20
    bigrams: Weight = 0.15
    heading: Weight = 0.10
    span: Annotated[int, Meta(ge=2)] = 16
    """How many content words of the chunk count as together."""


@dataclass(frozen=True, slots=True)
class LexicalReranker:
    """See the page's head."""

    settings: LexicalSettings

    @property
    def window(self) -> Window | None:
        return None

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:
        """Score every candidate; 0 for one that shares no word with the query."""
        scores = np.zeros(len(positions))
        numbers = candidates.terms.numbers(content_words(query))
        own = self.settings
        total = own.coverage + own.frequency + own.proximity + own.bigrams + own.heading
        if numbers and len(positions) and total:
            met = _meet(list(dict.fromkeys(numbers)), positions, candidates.terms)
            scores = (
                own.coverage * met.share(met.counts > 0)
                + own.frequency * met.share(met.counts / (met.counts + 1.0))
                + own.proximity * _proximity(met, own.span)
                + own.bigrams * _bigrams(met, numbers)
                + own.heading * met.share(met.head_counts > 0)
            ) / total
        return Reply(places=np.arange(len(positions), dtype=np.int64), scores=scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meeting:
    """Where the words of one query stand in its candidates, in columns sorted by candidate and place."""

    slots: dict[int, int]
    """Term number -> column."""
    idf: NDArray[np.float64]
    """Column -> weight."""
    counts: NDArray[np.float64]
    """Candidates x columns: how often."""
    head_counts: NDArray[np.float64]
    """The same, within the contexts."""
    candidate: NDArray[np.int64]
    place: NDArray[np.int64]
    slot: NDArray[np.int64]

    def share(self, parts: NDArray[np.float64] | NDArray[np.bool_]) -> NDArray[np.float64]:
        return (parts * self.idf).sum(axis=1) / self.idf.sum()


def _meet(query: list[int], positions: NDArray[np.int32], terms: TermIndex) -> _Meeting:
    slots = {number: column for column, number in enumerate(query)}
    known = np.sort(np.array(query, np.int64))
    column_of = np.array([slots[number] for number in known.tolist()], np.int64)
    starts, ends = terms.offsets[positions], terms.offsets[positions + 1]
    flat = np.concatenate([terms.flat[start:end] for start, end in zip(starts, ends, strict=True)])
    candidate = np.repeat(np.arange(len(positions)), ends - starts)
    place = np.arange(len(flat)) - np.repeat(np.cumsum(ends - starts) - (ends - starts), ends - starts)
    at = np.minimum(np.searchsorted(known, flat), len(known) - 1)
    hit = known[at] == flat
    candidate, place, slot = candidate[hit], place[hit], column_of[at[hit]]
    shape = (len(positions), len(query))
    cell = candidate * len(query) + slot
    in_head = place < terms.heads[positions][candidate]
    return _Meeting(
        slots=slots,
        idf=terms.idf[np.array(query)],
        counts=np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64),
        head_counts=np.bincount(cell[in_head], minlength=shape[0] * shape[1])
        .reshape(shape)
        .astype(np.float64),
        candidate=candidate,
        place=place,
        slot=slot,
    )


def _proximity(met: _Meeting, span: int) -> NDArray[np.float64]:
    """Return the largest share of the query's weight that stands within ``span`` words, a candidate."""
    far = int(met.place.max(initial=0)) + span + 1
    where = met.candidate * far + met.place
    together = np.zeros(len(where))
    for column, weight in enumerate(met.idf.tolist()):
        own = where[met.slot == column]
        if len(own):
            following = own[np.minimum(np.searchsorted(own, where), len(own) - 1)]
            together += weight * ((following >= where) & (following < where + span))
    best = np.zeros(len(met.counts))
    np.maximum.at(best, met.candidate, together)
    return best / met.idf.sum()


def _bigrams(met: _Meeting, numbers: list[int]) -> NDArray[np.float64]:
    """Return the share of the query's neighbouring pairs that are neighbours in each candidate."""
    pairs = list(dict.fromkeys(pairwise(numbers)))
    if not pairs:
        return np.zeros(len(met.counts))
    neighbours = (met.candidate[1:] == met.candidate[:-1]) & (met.place[1:] == met.place[:-1] + 1)
    left, right = met.slot[:-1][neighbours], met.slot[1:][neighbours]
    candidate = met.candidate[1:][neighbours]
    found, weighed = np.zeros(len(met.counts)), 0.0
    for first, second in pairs:
        a, b = met.slots[first], met.slots[second]
        weight = float(met.idf[a] + met.idf[b])
        weighed += weight
        holds = np.zeros(len(met.counts), np.bool_)
        holds[candidate[(left == a) & (right == b)]] = True
        found += weight * holds
    return found / weighed
