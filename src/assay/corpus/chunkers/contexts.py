"""What is put before a chunk for search: the document's title and the headings above it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.corpus.chunkers.settings import Context
from assay.corpus.chunkers.spans import Span
from assay.corpus.outline import outline_of
from assay.model.documents import Document


def contexts(document: Document, places: Sequence[Span], kind: Context) -> list[str]:
    r"""Return the context of each chunk; it never becomes text.

    ``headings`` is the title and the headings that are open where the chunk begins, outermost first; a
    heading with which the chunk begins is in its text already.

    >>> page = Document(id="a.md", text="# Refunds\n\n## Cards\n\nWithin 14 days.", title="Refunds")
    >>> contexts(page, [(0, 9), (21, 36)], "headings")
    ['', 'Refunds > Cards']
    """
    title = " ".join((document.title or "").split())
    if kind == "none" or not places:
        return [""] * len(places)
    if kind == "title":
        return [title] * len(places)
    outline = outline_of(document)
    written: list[str] = []
    for start, _ in places:
        path = outline.path_at(start)
        own = [heading.text for heading in outline.headings if heading.start == start]
        first = (*path, *own)[:1]
        named = () if not title or title in first else (title,)
        written.append(" > ".join((*named, *path)))
    return written
