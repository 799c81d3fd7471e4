"""Query rewriting without a model: pseudo-relevance feedback.

The query's best full-text hits are taken for relevant. Their words are weighed by how much of each hit they
are, by how well the hit scored, and by their rarity; the best of them that the query lacks join it.

Source: Lavrenko and Croft, Relevance-based language models (2001); the mixture with the query's own words is
RM3 (Abdul-Jaleel et al., 2004), here with idf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.model.words import words
from assay.retrieval.stages.fulltext import Postings, WeightedTerms, best, score_all
from assay.retrieval.terms import TermIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A query as it is searched for."""

    text: str
    """What the embedder is given: the query, with the added words after it."""
    terms: WeightedTerms
    """What full text is given."""
    added: tuple[str, ...] = ()
    """The words that were added, heaviest first."""


def as_terms(text: str, terms: TermIndex, analyse: Callable[[str], list[str]]) -> WeightedTerms:
    """Return the terms of a query that the index knows, by first appearance, each weighing its count."""
    return list(Counter(terms.numbers(analyse(text))).items()) if len(terms) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackStage:
    """Adds the best words of the best hits."""

    chunks: int
    """How many hits are taken for relevant."""
    terms: int
    """How many words are added."""
    weight: float
    """What they weigh together, against 1 for each of the query's own."""

    def run(
        self,
        texts: Sequence[str],
        index: TermIndex,
        postings: Postings,
        order: NDArray[np.int64],
        *,
        analyse: Callable[[str], list[str]],
        read: Callable[[int], str],
    ) -> list[Rewritten]:
        """Rewrite every query. One without a hit stays as it is.

        Args:
            texts: the queries.
            index: the terms of the chunks.
            postings: their BM25 weights.
            order: place of each chunk among the sorted chunk ids, for ties.
            analyse: text to terms, as the index was made.
            read: position of a chunk -> its text, to find how an added term is spelt.
        """
        return [
            self._rewrite(text, as_terms(text, index, analyse), index, postings, order, analyse, read)
            for text in texts
        ]

    def _rewrite(
        self,
        text: str,
        own: WeightedTerms,
        index: TermIndex,
        postings: Postings,
        order: NDArray[np.int64],
        analyse: Callable[[str], list[str]],
        read: Callable[[int], str],
    ) -> Rewritten:
        scores = score_all(own, postings)
        hits = best(scores, order, self.chunks)
        model = np.zeros(len(index.vocabulary))
        for hit in hits.tolist():
            found, counts = np.unique(index.of(hit), return_counts=True)
            model[found] += scores[hit] * counts / counts.sum()
        model *= index.idf
        model[[term for term, _ in own]] = 0.0
        # Heaviest first; equal ones in the order in which the corpus first names them.
        chosen = np.lexsort((np.arange(len(model)), -model))[: self.terms]
        chosen = chosen[model[chosen] > 0]
        if not len(chosen):
            return Rewritten(text=text, terms=own)
        shares = self.weight * model[chosen] / model[chosen].sum()
        numbers: list[int] = chosen.tolist()
        added = _spellings([index.vocabulary[term] for term in numbers], hits.tolist(), analyse, read)
        return Rewritten(
            text=f"{text} {' '.join(added)}",
            terms=[*own, *zip(numbers, shares.tolist(), strict=True)],
            added=added,
        )


def _spellings(
    terms: Sequence[str], hits: Sequence[int], analyse: Callable[[str], list[str]], read: Callable[[int], str]
) -> tuple[str, ...]:
    """Return the commonest word behind each term in the hits; embedders know words, not stems."""
    counts = Counter(word for hit in hits for word in words(read(hit)))
    spelt: dict[str, str] = {}
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        for term in analyse(word):
            spelt.setdefault(term, word)
    return tuple(spelt.get(term, term) for term in terms)
