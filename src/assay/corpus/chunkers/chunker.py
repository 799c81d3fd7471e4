"""What a chunker is, and what all of Assay's own have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Generic, Protocol

from assay.corpus.chunkers.contexts import contexts
from assay.corpus.chunkers.settings import ChunkerSettings, SettingsT
from assay.corpus.chunkers.spans import Span, merged, trim
from assay.model.documents import Chunk, Document, cut
from assay.model.notices import Notice, listed


class Chunker(Protocol):
    """Cuts documents into chunks, the same ones every time."""

    @property
    def name(self) -> str:
        """What settings call it."""
        ...

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document, in the order of their places.

        Each chunk's text is the slice of the document at its place; every character that is not white space
        is in at least one chunk; none lies wholly in the one before. A blank document has none.
        """
        ...

    def describe(self) -> Mapping[str, object]:
        """Return name and settings as plain JSON values: what a digest stands on."""
        ...

    def oversize(self, chunk: Chunk) -> bool:
        """Tell whether a chunk is longer than the settings ask for, because nothing in it could be cut."""
        ...


class SpanChunker(ABC, Generic[SettingsT]):
    """A chunker that says where to cut; texts, ids and context follow from the places."""

    name: str
    settings_type: ClassVar[type[ChunkerSettings]]
    trims: ClassVar[bool] = True
    """Whether white space at the edges of a chunk is left out."""

    def __init__(self, settings: SettingsT) -> None:
        self.settings = settings

    @abstractmethod
    def spans(self, document: Document) -> Iterable[Span]:
        """Yield where the chunks stand, in order."""

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document, in the order of their places."""
        text = document.text
        places: list[Span] = []
        for start, end in self.spans(document):
            inner = trim(text, start, end)
            if inner[0] < inner[1]:  # a chunk of white space alone says nothing
                places.append(inner if self.trims else (start, end))
        places = list(merged(places))
        before = contexts(document, places, self.settings.context)
        return [
            cut(document, start, end, context=context)
            for (start, end), context in zip(places, before, strict=True)
        ]

    def describe(self) -> Mapping[str, object]:
        """Return name and settings as plain JSON values."""
        return {"name": self.name, "settings": self.settings.plain()}

    def oversize(self, chunk: Chunk) -> bool:
        """Tell whether a chunk is longer than the settings ask for; no chunk is, by default."""
        del chunk
        return False


def chunk_corpus(documents: Iterable[Document], chunker: Chunker) -> list[Chunk]:
    r"""Return the chunks of all documents, in the order of the documents.

    >>> from assay.corpus import make_chunker
    >>> page = Document(id="a.md", text="One.\n\nTwo.")
    >>> [chunk.id for chunk in chunk_corpus([page], make_chunker("paragraphs", {"max_paragraphs": 1}))]
    ['a.md#0-4', 'a.md#6-10']
    """
    return [chunk for document in documents for chunk in chunker.chunk(document)]


def chunking_notices(
    documents: Iterable[Document], chunks: Sequence[Chunk], chunker: Chunker
) -> tuple[Notice, ...]:
    """Return what is worth saying of a chunking: chunks longer than asked for, and text in no chunk.

    Assay's own chunkers lose no text; some foreign ones drop headings or separators.
    """
    notices: list[Notice] = []
    long = tuple(chunk.id for chunk in chunks if chunker.oversize(chunk))
    if long:
        text = f"{len(long)} chunk(s) are longer than {chunker.name} was asked for: {listed(long)}"
        notices.append(Notice(code="oversize-chunks", text=text, ids=long))
    spans: dict[str, list[Span]] = {}
    for chunk in chunks:
        spans.setdefault(chunk.doc_id, []).append((chunk.start, chunk.end))
    lost = {document.id: lost_characters(document.text, spans.get(document.id, ())) for document in documents}
    losing = tuple(doc_id for doc_id, count in lost.items() if count)
    if losing:
        text = (
            f"{sum(lost.values())} visible characters of {len(losing)} document(s) are in no chunk of "
            f"{chunker.name}: {listed(losing)}"
        )
        notices.append(Notice(code="lost-text", text=text, ids=losing))
    return tuple(notices)


def lost_characters(text: str, spans: Iterable[Span]) -> int:
    """Return how many characters that are not white space are in none of the spans.

    >>> lost_characters("one two three", [(0, 3), (8, 13)])
    3
    """
    lost, reached = 0, 0
    for start, end in (*sorted(spans), (len(text), len(text))):
        if start > reached:
            lost += sum(len(word) for word in text[reached:start].split())
        reached = max(reached, end)
    return lost
