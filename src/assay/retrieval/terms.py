"""The words of all chunks in columns: what full text, feedback and the lexical reranker read."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.model.documents import Chunk
from assay.model.words import analyser

_BLOCK = 1 << 22
"""Words that are counted at a time."""


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
    numbers: dict[str, int] = {}
    flat = array("i")
    ends, heads = array("q", [0]), array("i")
    for chunk in chunks:
        head = _numbered(chunk.context, analyse, numbers) if chunk.context else []
        flat.extend(head)
        flat.extend(_numbered(chunk.text, analyse, numbers))
        heads.append(len(head))
        ends.append(len(flat))
    columns = np.array(flat, dtype=np.int32)
    offsets = np.array(ends, dtype=np.int64)
    return TermIndex(
        vocabulary=tuple(numbers),
        flat=columns,
        offsets=offsets,
        heads=np.array(heads, dtype=np.int32),
        document_frequency=_document_frequency(columns, offsets, len(numbers)),
    )


def _numbered(text: str, analyse: Callable[[str], list[str]], numbers: dict[str, int]) -> list[int]:
    return [numbers.setdefault(term, len(numbers)) for term in analyse(text)]


def _document_frequency(
    flat: NDArray[np.int32], offsets: NDArray[np.int64], n_terms: int
) -> NDArray[np.int64]:
    """Count the chunks that hold each term, some millions of words at a time."""
    counts = np.zeros(n_terms, np.int64)
    first = 0
    while first < len(offsets) - 1:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + _BLOCK, side="right")) - 1)
        lengths = np.diff(offsets[first : last + 1])
        keys = np.repeat(np.arange(last - first, dtype=np.int64), lengths) * n_terms
        keys += flat[offsets[first] : offsets[last]]
        counts += np.bincount(np.unique(keys) % max(n_terms, 1), minlength=n_terms)
        first = last
    return counts
