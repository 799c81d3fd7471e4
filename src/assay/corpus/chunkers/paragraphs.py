"""Whole paragraphs, as many as fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.corpus.chunkers.chunker import SpanChunker
from assay.corpus.chunkers.settings import ChunkerSettings, size_faults
from assay.corpus.chunkers.spans import Span, divide, pack, paragraphs
from assay.model.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphSettings(ChunkerSettings):
    """Settings of the paragraph chunker."""

    max_chars: int = 1200
    """The most characters of a chunk; a longer paragraph is cut after a sentence, else at a blank."""
    overlap: int = 0
    """The most characters that are repeated from the chunk before, from the beginning of a word."""
    max_paragraphs: int | None = None
    """The most paragraphs of a chunk; 1 makes every paragraph a chunk."""

    def faults(self) -> Iterator[tuple[str, str]]:
        yield from size_faults(self.max_chars, self.overlap, size_name="max_chars")
        if self.max_paragraphs is not None and self.max_paragraphs < 1:
            yield "max_paragraphs", f"must be at least 1, not {self.max_paragraphs}"


class ParagraphChunker(SpanChunker[ParagraphSettings]):
    """Paragraphs (blank lines part them), packed up to ``max_chars``."""

    name = "paragraphs"
    settings_type = ParagraphSettings

    def spans(self, document: Document) -> Iterator[Span]:
        settings, text = self.settings, document.text
        whole = (
            piece
            for start, end in paragraphs(text)
            for piece in (
                [(start, end)]
                if end - start <= settings.max_chars
                # Shorter pieces leave room for what is repeated before them.
                else divide(text, start, end, settings.max_chars - settings.overlap)
            )
        )
        return pack(text, whole, settings.max_chars, settings.overlap, settings.max_paragraphs)
