"""Windows of a fixed number of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.corpus.chunkers.chunker import SpanChunker
from assay.corpus.chunkers.settings import ChunkerSettings, size_faults
from assay.corpus.chunkers.spans import Span
from assay.corpus.tokens import COUNTERS, token_counter
from assay.model.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSettings(ChunkerSettings):
    """Settings of the token windows."""

    size: int = 256
    """Tokens of a chunk."""
    overlap: int = 32
    """Tokens that a chunk shares with the one before."""
    counter: str = "words"
    """What a token is: ``words`` (and marks), ``estimate``, ``cl100k``, ``characters``."""

    def faults(self) -> Iterator[tuple[str, str]]:
        yield from size_faults(self.size, self.overlap)
        if self.counter not in COUNTERS:
            yield "counter", f"must be one of {', '.join(COUNTERS)}, not {self.counter!r}"


class TokenChunker(SpanChunker[TokenSettings]):
    """Windows of ``size`` tokens, each ``size - overlap`` after the one before.

    A window begins where its first token begins and ends where its last one ends. A character that two
    windows share (an emoji is several tokens) is whole in both.
    """

    name = "tokens"
    settings_type = TokenSettings
    trims = False

    def spans(self, document: Document) -> Iterator[Span]:
        size = self.settings.size
        tokens = token_counter(self.settings.counter).spans(document.text)
        length = len(tokens.starts)
        for first in range(0, length, size - self.settings.overlap):
            last = min(first + size, length) - 1
            yield tokens.starts[first], tokens.ends[last]
            if last == length - 1:
                return
