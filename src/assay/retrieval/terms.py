"""The words of all chunks in columns: what full text, feedback and the lexical reranker read."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.model.documents import Chunk
from assay.model.words import analyser

_BLOCK = 1 << 22
"""Words whose chunks are counted at a time."""


@dataclass(frozen=True, kw_only=True)
class TermIndex:
    """Terms by number, chunk after chunk, in the order of the text."""

    vocabulary: tuple[str, ...]
    """Term number -> term, by first appearance."""
    flat: NDArray[np.int32]
    """Term numbers of all chunks, one chunk after the other."""
    offsets: NDArray[np.int64]
    """n_chunks + 1 values: the terms of chunk ``i`` are ``flat[offsets[i]:offsets[i + 1]]``."""
    heads: NDArray[np.int32]
    """How many of a chunk's terms, from its first, belong to its context."""
    document_frequency: NDArray[np.int64]
    """Term number -> chunks that hold it."""

    def __len__(self) -> int:
        return len(self.heads)

    @cached_property
    def number(self) -> Mapping[str, int]:
        """Term -> its number."""
        return {term: number for number, term in enumerate(self.vocabulary)}

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """Term number -> ``ln(1 + (N - n + 0.5) / (n + 0.5))``: above 0 for every term.

        Source: Robertson and Sparck Jones (1976), with Lucene's 1 inside the logarithm.
        """
        n = self.document_frequency
        return np.log1p((len(self) - n + 0.5) / (n + 0.5))

    def of(self, chunk: int) -> NDArray[np.int32]:
        """Return the term numbers of one chunk."""
        return self.flat[self.offsets[chunk] : self.offsets[chunk + 1]]

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """Return the numbers of those terms that some chunk holds, in their order, repeats included."""
        number = self.number
        return [number[term] for term in terms if term in number]


def index_terms(chunks: Sequence[Chunk], *, stemming: bool = True, stop_words: bool = True) -> TermIndex:
    """Number the terms of all chunks, each chunk's context before its own text.

    Args:
        chunks: the corpus.
        stemming: whether terms are stemmed.
        stop_words: whether stop words are left out.

    >>> chunk = Chunk(id="a#0-6", doc_id="a", start=0, end=6, text="chunks", context="Chunk it")
    >>> index = index_terms([chunk])
    >>> index.vocabulary, index.heads.tolist()
    (('chunk',), [1])
    """
    analyse = analyser(stemming=stemming, stop_words=stop_words)
    numbers = _Numbers()
    flat, held = array("i"), array("i")
    ends, heads = array("q", [0]), array("i")
    counts = np.zeros(0, np.int64)
    for chunk in chunks:
        head = list(map(numbers.__getitem__, analyse(chunk.context))) if chunk.context else []
        own = [*head, *map(numbers.__getitem__, analyse(chunk.text))]
        flat.extend(own)
        heads.append(len(head))
        ends.append(len(flat))
        held.extend(set(own))
        if len(held) >= _BLOCK:
            counts = _counted(counts, held, len(numbers))
            held = array("i")
    return TermIndex(
        vocabulary=tuple(numbers),
        flat=np.array(flat, dtype=np.int32),
        offsets=np.array(ends, dtype=np.int64),
        heads=np.array(heads, dtype=np.int32),
        document_frequency=_counted(counts, held, len(numbers)),
    )


class _Numbers(dict[str, int]):
    """Numbers words by first appearance."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


def _counted(counts: NDArray[np.int64], held: array[int], n_terms: int) -> NDArray[np.int64]:
    """Add how often each term stands in a column to what was counted before."""
    more = np.bincount(np.array(held, dtype=np.int32), minlength=n_terms)
    more[: len(counts)] += counts
    return more
