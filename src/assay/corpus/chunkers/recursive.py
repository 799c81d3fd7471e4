"""Cut at the coarsest separator that makes pieces small enough, and pack neighbours again."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from assay.corpus.chunkers.chunker import SpanChunker
from assay.corpus.chunkers.settings import ChunkerSettings, size_faults
from assay.corpus.chunkers.spans import Span
from assay.corpus.tokens import COUNTERS, TokenCounter, token_counter
from assay.model.documents import Chunk, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveSettings(ChunkerSettings):
    """Settings of the recursive chunker."""

    size: int = 1000
    """The most of a chunk, in ``unit``."""
    overlap: int = 200
    """The most that whole pieces of the chunk before are repeated for, in ``unit``."""
    unit: str = "characters"
    """What is counted: ``characters``, ``words``, ``estimate`` or ``cl100k`` (tokens)."""
    separators: tuple[str, ...] = ("\n\n", "\n", ". ", "? ", "! ", " ", "")
    """Tried in this order; a line end in them means LF, CR LF and CR. The empty one cuts between characters:
    without it, a piece with none of the others stands alone, however long it is."""
    separator_side: Literal["before", "after"] = "before"
    """On which side of the cut a separator stays: ``before`` ends a piece with it, ``after`` begins one."""

    def faults(self) -> Iterator[tuple[str, str]]:
        yield from size_faults(self.size, self.overlap)
        if self.unit not in COUNTERS:
            yield "unit", f"must be one of {', '.join(COUNTERS)}, not {self.unit!r}"
        if not self.separators:
            yield "separators", "must name at least one separator"
        if "" in self.separators[:-1]:
            yield "separators", "the empty separator must be the last: none after it is ever tried"


class RecursiveChunker(SpanChunker[RecursiveSettings]):
    """Pieces by the coarsest separator that does, packed up to ``size``.

    With ``separator_side = "after"`` the cuts are those of LangChain's RecursiveCharacterTextSplitter with
    ``keep_separator=True``; sizes are summed over pieces, as there.
    """

    name = "recursive"
    settings_type = RecursiveSettings

    def spans(self, document: Document) -> Iterator[Span]:
        text = document.text
        return self._split(text, 0, len(text), self.settings.separators, self._counter())

    def oversize(self, chunk: Chunk) -> bool:
        """Tell whether a chunk is longer than ``size``: it had no separator left."""
        return self._counter().count(chunk.text) > self.settings.size

    def _counter(self) -> TokenCounter:
        return token_counter(self.settings.unit)

    def _split(
        self, text: str, start: int, end: int, separators: Sequence[str], counter: TokenCounter
    ) -> Iterator[Span]:
        cuts: Sequence[int] = ()
        finer: Sequence[str] = ()
        for place, separator in enumerate(separators):
            cuts = self._cuts(text, start, end, separator)
            if cuts or separator == "":
                finer = separators[place + 1 :]
                break
        small: list[tuple[int, int, int]] = []  # start, end, size
        bounds = [start, *cuts, end]
        for piece_start, piece_end in pairwise(bounds):
            if piece_start == piece_end:
                continue
            size = self._size(text, piece_start, piece_end, counter)
            if size < self.settings.size or not finer:
                small.append((piece_start, piece_end, size))
                continue
            yield from self._pack(small)
            small = []
            yield from self._split(text, piece_start, piece_end, finer, counter)
        yield from self._pack(small)

    def _cuts(self, text: str, start: int, end: int, separator: str) -> list[int]:
        """Return where this separator cuts within the span."""
        if separator == "":
            return list(range(start + 1, end))
        found = _pattern(separator, has_cr="\r" in text).finditer(text, start, end)
        if self.settings.separator_side == "after":
            return [match.start() for match in found]
        return [match.end() for match in found]

    def _size(self, text: str, start: int, end: int, counter: TokenCounter) -> int:
        return end - start if self.settings.unit == "characters" else counter.count(text[start:end])

    def _pack(self, pieces: Sequence[tuple[int, int, int]]) -> Iterator[Span]:
        limit, overlap = self.settings.size, self.settings.overlap
        current: deque[tuple[int, int, int]] = deque()
        total = 0
        for piece in pieces:
            size = piece[2]
            if current and total + size > limit:
                yield current[0][0], current[-1][1]
                while current and (total > overlap or total + size > limit):
                    total -= current.popleft()[2]
            current.append(piece)
            total += size
        if current:
            yield current[0][0], current[-1][1]


@cache
def _pattern(separator: str, *, has_cr: bool) -> re.Pattern[str]:
    parts = (re.escape(part) for part in separator.split("\n"))
    return re.compile((r"(?>\r\n|\r|\n)" if has_cr else "\n").join(parts))
