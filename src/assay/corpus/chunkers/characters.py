"""Windows of a fixed number of characters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.corpus.chunkers.chunker import SpanChunker
from assay.corpus.chunkers.settings import ChunkerSettings, size_faults
from assay.corpus.chunkers.spans import Span
from assay.model.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterSettings(ChunkerSettings):
    """Settings of the fixed windows."""

    size: int = 1000
    """Characters (code points) of a chunk."""
    overlap: int = 200
    """Characters that a chunk shares with the one before."""

    def faults(self) -> Iterator[tuple[str, str]]:
        yield from size_faults(self.size, self.overlap)


class CharacterChunker(SpanChunker[CharacterSettings]):
    """Windows of ``size`` characters, each ``size - overlap`` after the one before; words are cut."""

    name = "characters"
    settings_type = CharacterSettings
    trims = False

    def spans(self, document: Document) -> Iterator[Span]:
        size, length = self.settings.size, len(document.text)
        for start in range(0, length, size - self.settings.overlap):
            yield start, min(start + size, length)
            if start + size >= length:
                return
