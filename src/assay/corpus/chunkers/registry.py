"""The chunkers by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from assay.corpus.chunkers.characters import CharacterChunker
from assay.corpus.chunkers.chunker import Chunker, SpanChunker
from assay.corpus.chunkers.markdown import MarkdownChunker
from assay.corpus.chunkers.paragraphs import ParagraphChunker
from assay.corpus.chunkers.recursive import RecursiveChunker
from assay.corpus.chunkers.sentences import SentenceChunker
from assay.corpus.chunkers.settings import read_settings
from assay.corpus.chunkers.tokens import TokenChunker
from assay.model.errors import ConfigError, Fault, nearest

CHUNKERS: Mapping[str, type[SpanChunker[Any]]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ParagraphChunker,
            MarkdownChunker,
            RecursiveChunker,
            SentenceChunker,
            TokenChunker,
            CharacterChunker,
        )
    }
)
"""Assay's own chunkers, by the name that settings use; the first is the default."""


def make_chunker(
    name: str, settings: Mapping[str, object] | None = None, *, where: str | None = None
) -> Chunker:
    """Return a chunker of that name with those settings (defaults for the others).

    ``langchain:NAME``, ``chonkie:NAME`` and ``llama-index:NAME`` are the splitters of those packages.

    Args:
        name: one of ``CHUNKERS``, or a package and the name of a splitter in it.
        settings: its settings, as they stand in ``assay.toml``.
        where: what errors call the place; by default the chunker's name.

    Raises:
        ConfigError: no chunker has the name, or settings are wrong; all of them, with the nearest names.
        MissingExtraError: the package of a foreign splitter is not installed.

    >>> make_chunker("characters", {"size": 30, "overlap": 6}).describe()["settings"]
    {'context': 'none', 'size': 30, 'overlap': 6}
    """
    place = where or f"chunker {name}"
    kind = CHUNKERS.get(name)
    if kind is not None:
        return kind(read_settings(kind.settings_type, settings or {}, where=place))
    from assay.corpus.chunkers.foreign import PACKAGES, make_foreign  # noqa: PLC0415 - slow, seldom used

    if ":" in name:
        return make_foreign(name, settings or {}, where=place)
    like = nearest(name, list(CHUNKERS))
    there = ", ".join((*CHUNKERS, *(f"{package}:..." for package in PACKAGES)))
    fix = f"did you mean {like!r}?" if like else f"there are: {there}"
    raise ConfigError(Fault(where=place, what=f"no chunker is called {name!r}", fix=fix))
