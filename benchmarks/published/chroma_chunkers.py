"""The chunkers of Chroma's chunking report, as it ran them with all-MiniLM-L6-v2.

Recursive counts lengths in the model's own word pieces, the two signs around each text included, whatever the
report's caption says. Cluster is written from the report's section on it and from what its released code says
of sizes; none of that code is here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.corpus.chunkers.recursive import RecursiveChunker, RecursiveSettings
from assay.corpus.chunkers.spans import Span, trim
from assay.corpus.tokens import TokenCounter, TokenSpans
from assay.model.documents import Chunk, Document, cut
from assay.retrieval.models import minilm

UNIT = "words"
"""Some unit of the settings that is not characters; the chunkers below count word pieces in its place."""
SIGNS = 2
"""What the model's own signs, ``[CLS]`` and ``[SEP]``, add to every text that is counted."""
SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
PIECE = 50
"""Tokens of the pieces that Cluster puts together."""
Vectors = Callable[[Sequence[Chunk]], NDArray[np.float32]]
"""Gives one unit row a piece."""


class WordPieces(TokenCounter):
    """MiniLM's word pieces. A text counts two more, for the signs around it, as the report's counter does."""

    name = "minilm"

    def __init__(self) -> None:
        self._tokenizer: Any = minilm.tokenizer()

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text).ids)

    def spans(self, text: str) -> TokenSpans:
        places = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return TokenSpans(starts=[start for start, _ in places], ends=[end for _, end in places])


pieces = cache(WordPieces)


class Recursive(RecursiveChunker):
    """The recursive chunker as the report ran it: sizes in word pieces, summed over what is joined.

    The counter puts its two signs around everything, so that each piece counts two more, and so does the
    empty separator between two pieces.
    """

    def __init__(self, size: int, overlap: int) -> None:
        super().__init__(_settings(size, overlap, UNIT))

    def _counter(self) -> TokenCounter:
        return pieces()

    def _pack(self, pieces: Sequence[tuple[int, int, int]]) -> Iterator[Span]:
        limit, overlap = self.settings.size, self.settings.overlap
        current: deque[tuple[int, int, int]] = deque()
        total = 0
        for piece in pieces:
            size = piece[2]
            if current and total + size + SIGNS > limit:
                yield current[0][0], current[-1][1]
                while current and (total > overlap or total + size + SIGNS > limit):
                    first = current.popleft()
                    total -= first[2] + (SIGNS if current else 0)
            current.append(piece)
            total += size + (SIGNS if len(current) > 1 else 0)
        if current:
            yield current[0][0], current[-1][1]


class Cluster(RecursiveChunker):
    """Neighbouring pieces of at most 50 tokens, put together where they are more alike than most.

    A chunk of a document is worth the sum, over all pairs of its pieces, of their cosine less the mean cosine
    of all pairs of the document's pieces. Of all ways to cut, the one that is worth the most is taken; no
    chunk has more than ``size // 50`` pieces. Pieces are cut in cl100k tokens, as in the released code.

    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, Chroma (2024).

    Args:
        size: of a chunk, in tokens, if each of its pieces were full.
        vectors: embeds the pieces of a document.
    """

    name = "cluster"

    def __init__(self, size: int, vectors: Vectors) -> None:
        super().__init__(_settings(PIECE, 0, "cl100k"))
        self.most = size // PIECE
        self._vectors = vectors

    def describe(self) -> Mapping[str, object]:
        """Return name and settings as plain JSON values."""
        return {**super().describe(), "most": self.most}

    def pieces(self, document: Document) -> list[Chunk]:
        """Return what is put together: never blank, no white space at the edges."""
        text = document.text
        places = [trim(text, start, end) for start, end in super().spans(document)]
        return [cut(document, start, end) for start, end in places if start < end]

    def spans(self, document: Document) -> Iterator[Span]:
        small = self.pieces(document)
        for first, last in likest(self._vectors(small), self.most) if small else ():
            yield small[first].start, small[last].end


def likest(rows: NDArray[np.float32], most: int) -> list[tuple[int, int]]:
    """Return the segments of the best cut, each as its first and last row.

    Of two cuts of equal worth, the one whose last segment is shorter.

    Args:
        rows: unit vectors, in the order of the text.
        most: how many rows a segment may have.

    >>> two = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    >>> likest(np.array(two, np.float32), 3)
    [(0, 1), (2, 3)]
    """
    wide = rows.astype(np.float64)
    n = len(wide)
    whole = wide.sum(axis=0)
    mean = float(whole @ whole - (wide * wide).sum()) / (n * (n - 1)) if n > 1 else 0.0
    # near[d][i]: how much more alike the rows i and i + d are than two rows mostly are
    near: list[NDArray[np.float64]] = [
        np.zeros(0),
        *((wide[d:] * wide[: n - d]).sum(axis=1) - mean for d in range(1, min(most, n))),
    ]
    best = [0.0]  # of the first 0, 1, 2 ... rows
    begins: list[int] = []
    for last in range(n):
        worth, total, begin = 0.0, -np.inf, last
        for first in range(last, max(last - most, -1), -1):
            worth += sum(float(near[row - first][first]) for row in range(first + 1, last + 1))
            if best[first] + worth > total:
                total, begin = best[first] + worth, first
        best.append(total)
        begins.append(begin)
    found: list[tuple[int, int]] = []
    last = n - 1
    while last >= 0:
        found.append((begins[last], last))
        last = begins[last] - 1
    return found[::-1]


def _settings(size: int, overlap: int, unit: str) -> RecursiveSettings:
    return RecursiveSettings(
        size=size, overlap=overlap, separators=SEPARATORS, separator_side="after", unit=unit
    )
