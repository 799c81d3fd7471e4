"""Where an anchor stands in its document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.matching.sources import Sources
from assay.model.documents import Document
from assay.model.golden import Anchor
from assay.model.phrases import agrees, find, phrase
from assay.model.relevance import Place
from assay.model.text import normalise

Finding = Literal["found", "repaired", "stale", "no document"]
"""``found``: where it should be. ``repaired``: its offsets were wrong, the nearest occurrence counts.
``stale``: its phrase stands nowhere in its document. ``no document``: there is no such document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """One anchor's places."""

    anchor: Anchor
    finding: Finding
    places: tuple[Place, ...] = ()
    """One when it is pinned by offsets; else every occurrence."""


def locate(anchor: Anchor, sources: Sources) -> Located:
    """Return where an anchor's phrase stands.

    Offsets pin one occurrence, even inside a word, as long as the text there agrees with the quote but for
    its presentation; else the occurrence nearest to them counts, and the anchor is ``repaired``. Blanks and
    emphasis at the ends of the quote do not belong to the place.

    >>> document = Document(id="a.md", text="Refunds take 14 days.")
    >>> locate(Anchor(id="a1", doc_id="a.md", quote="14  days"), Sources([document])).places
    (Place(doc_id='a.md', start=13, end=20),)
    """
    document = sources.document(anchor.doc_id)
    if document is None:
        return Located(anchor=anchor, finding="no document")
    if anchor.start is None:
        spans = find(anchor.quote, sources.normal(document))
        places = tuple(Place(doc_id=document.id, start=start, end=end) for start, end in spans)
        return Located(anchor=anchor, finding="found" if places else "stale", places=places)
    pinned = _pinned(anchor, document)
    if pinned is not None:
        return Located(anchor=anchor, finding="found", places=(pinned,))
    wanted = phrase(anchor.quote)
    normal = sources.normal(document)
    spans = find(wanted, normal) or find(wanted, normal, whole_words=False)
    if not spans:
        return Located(anchor=anchor, finding="stale")
    first = anchor.start
    start, end = min(spans, key=lambda span: (abs(span[0] - first), span))
    return Located(
        anchor=anchor, finding="repaired", places=(Place(doc_id=document.id, start=start, end=end),)
    )


def _pinned(anchor: Anchor, document: Document) -> Place | None:
    start = anchor.start or 0
    end = start + len(anchor.quote) if anchor.end is None else anchor.end
    if not 0 <= start < end <= len(document.text):
        return None
    there = document.text[start:end]
    if there == anchor.quote and there[0].isalnum() and there[-1].isalnum():
        return Place(doc_id=document.id, start=start, end=end)
    if there != anchor.quote and not agrees(anchor.quote, there):
        return None
    normal = normalise(there)
    if not normal.text:
        return None
    first, last = normal.to_source(0, len(normal.text))
    return Place(doc_id=document.id, start=start + first, end=start + last)
