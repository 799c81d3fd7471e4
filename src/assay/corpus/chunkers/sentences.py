"""Whole sentences, as many as fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.corpus.chunkers.chunker import SpanChunker
from assay.corpus.chunkers.settings import ChunkerSettings
from assay.corpus.chunkers.spans import Span, divide, sentences
from assay.model.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSettings(ChunkerSettings):
    """Settings of the sentence chunker."""

    max_chars: int = 800
    """The most characters of a chunk; a longer sentence is cut at a blank."""
    overlap_sentences: int = 1
    """How many sentences are repeated from the end of the chunk before, as far as they fit."""
    max_sentences: int | None = None
    """The most sentences of a chunk, those repeated among them."""

    def faults(self) -> Iterator[tuple[str, str]]:
        if self.max_chars < 1:
            yield "max_chars", f"must be at least 1, not {self.max_chars}"
        if self.overlap_sentences < 0:
            yield "overlap_sentences", f"must be at least 0, not {self.overlap_sentences}"
        if self.max_sentences is None:
            return
        if self.max_sentences < 1:
            yield "max_sentences", f"must be at least 1, not {self.max_sentences}"
        if self.overlap_sentences >= max(self.max_sentences, 1):
            yield (
                "overlap_sentences",
                f"must be below max_sentences ({self.max_sentences}), not {self.overlap_sentences}",
            )


class SentenceChunker(SpanChunker[SentenceSettings]):
    """Sentences, packed up to ``max_chars``; the last ones are repeated in the next chunk."""

    name = "sentences"
    settings_type = SentenceSettings

    def spans(self, document: Document) -> Iterator[Span]:
        settings, text = self.settings, document.text
        current: list[Span] = []
        for start, end in sentences(text):
            for piece in divide(text, start, end, settings.max_chars):
                if current and not self._fits(current, piece):
                    yield current[0][0], current[-1][1]
                    current = current[max(0, len(current) - settings.overlap_sentences) :]
                    while current and not self._fits(current, piece):
                        current = current[1:]
                current.append(piece)
        if current:
            yield current[0][0], current[-1][1]

    def _fits(self, current: list[Span], piece: Span) -> bool:
        most = self.settings.max_sentences
        if most is not None and len(current) >= most:
            return False
        return piece[1] - current[0][0] <= self.settings.max_chars
