"""Sections of Markdown and reStructuredText: a heading and what stands under it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.corpus.chunkers.chunker import SpanChunker
from assay.corpus.chunkers.settings import ChunkerSettings, size_faults
from assay.corpus.chunkers.spans import Span, divide, pack, paragraphs, trim
from assay.corpus.outline import Outline, blocks_between, outline_of
from assay.model.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownSettings(ChunkerSettings):
    """Settings of the section chunker."""

    max_chars: int = 1500
    """The most characters of a chunk. A longer section is cut between its blocks (paragraphs, lists, tables,
    fenced code), a longer block after a sentence, else at a blank."""
    overlap: int = 0
    """The most characters that are repeated from the chunk before, within one section."""
    max_level: int = 6
    """The deepest heading that begins a section: 2 keeps ``###`` with its ``##``."""

    def faults(self) -> Iterator[tuple[str, str]]:
        yield from size_faults(self.max_chars, self.overlap, size_name="max_chars")
        if not 1 <= self.max_level <= 6:
            yield "max_level", f"must be 1 to 6, not {self.max_level}"


class MarkdownChunker(SpanChunker[MarkdownSettings]):
    """Sections, cut between blocks where they are too long; a ``#`` in fenced code begins none.

    A heading with nothing under it but the next heading stays with that one, where both fit.
    """

    name = "markdown"
    settings_type = MarkdownSettings

    def spans(self, document: Document) -> Iterator[Span]:
        outline, text = outline_of(document), document.text
        for start, end in self._sections(text, outline):
            inner = trim(text, start, end)
            if inner[1] - inner[0] <= self.settings.max_chars:
                yield inner
            else:
                yield from self._cut(text, outline, inner)

    def _sections(self, text: str, outline: Outline) -> Iterator[Span]:
        begin, bare_end = 0, 0  # up to bare_end there are only headings
        starts = [one for one in outline.headings if one.level <= self.settings.max_level]
        for place, heading in enumerate(starts):
            bare = not text[bare_end : heading.start].strip()
            section_end = starts[place + 1].start if place + 1 < len(starts) else len(text)
            if not bare or section_end - begin > self.settings.max_chars:
                yield begin, heading.start
                begin = heading.start
            bare_end = heading.end
        yield begin, len(text)

    def _cut(self, text: str, outline: Outline, section: Span) -> Iterator[Span]:
        settings = self.settings
        blocks = self._blocks(text, outline, section)
        pieces = (
            piece
            for start, end in blocks
            for piece in (
                [(start, end)]
                if end - start <= settings.max_chars
                else divide(text, start, end, settings.max_chars - settings.overlap)
            )
        )
        return pack(text, pieces, settings.max_chars, settings.overlap)

    def _blocks(self, text: str, outline: Outline, section: Span) -> Iterator[Span]:
        """Yield the blocks of a section; what the parser calls no block (front matter) goes by paragraphs."""
        place = section[0]
        for start, end in blocks_between(outline, *section):
            yield from paragraphs(text, place, start)
            span = trim(text, start, end)
            if span[0] < span[1]:
                yield span
            place = end
        yield from paragraphs(text, place, section[1])
