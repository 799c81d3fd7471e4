"""Documents and the chunks cut from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One source document."""

    id: str
    """Stable and unique in its corpus: a relative path with forward slashes, or the id of a record."""
    text: str
    """The text exactly as read (only the byte-order mark is gone). Offsets count its code points."""
    title: str | None = None
    """A title, where the document has one."""
    meta: Mapping[str, str] = field(default_factory=dict[str, str])
    """Whatever else the source said of the document: language, tenant, section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document: ``document.text[start:end]`` is its text, always."""

    id: str
    """``doc_id#start-end``: the place is the identity, whoever cut the chunk."""
    doc_id: str
    """The document it was cut from."""
    start: int
    """First code point of the chunk in its document."""
    end: int
    """One past the last code point."""
    text: str
    """The slice itself."""
    context: str = ""
    """What is put before the text for search (heading path, title); it never counts as text."""

    @property
    def searchable(self) -> str:
        """The text that embedders and indexes see: the context, a line end, the chunk's own text."""
        return f"{self.context}\n{self.text}" if self.context else self.text


def chunk_id(doc_id: str, start: int, end: int) -> str:
    """Return the identity of the chunk at a place.

    >>> chunk_id("guide.md", 0, 120)
    'guide.md#0-120'
    """
    return f"{doc_id}#{start}-{end}"


def cut(document: Document, start: int, end: int, *, context: str = "") -> Chunk:
    """Cut one chunk out of a document.

    Raises:
        InputError: the span is empty or leaves the document.

    >>> cut(Document(id="a.md", text="Alpha beta."), 0, 5).text
    'Alpha'
    """
    if not 0 <= start < end <= len(document.text):
        raise InputError(
            f"{document.id}: span [{start}, {end}) is not inside the document (0 to {len(document.text)})",
            fix="offsets are code points of the untouched text, end exclusive",
        )
    return Chunk(
        id=chunk_id(document.id, start, end),
        doc_id=document.id,
        start=start,
        end=end,
        text=document.text[start:end],
        context=context,
    )
