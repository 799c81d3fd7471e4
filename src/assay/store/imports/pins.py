"""Tying quotes to their places, and keeping account of those that are not where they say they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.letters import is_word_edge
from assay.model.notices import Notice, listed
from assay.model.phrases import agrees, find
from assay.model.text import NormalText, normalise


@dataclass(slots=True)
class Pins:
    """Makes anchors, and remembers what was said of each place.

    A quote whose offsets hold it is pinned there. One that stands elsewhere is pinned to its nearest
    occurrence and counted as repaired. One that stands nowhere is kept without a place and counted as
    stale, so that it is measured as what it is: a label that nothing can earn.
    """

    documents: Mapping[str, Document]
    exact: int = 0
    repaired: list[str] = field(default_factory=list[str])
    stale: list[str] = field(default_factory=list[str])
    inside_words: list[str] = field(default_factory=list[str])
    repeated: list[str] = field(default_factory=list[str])
    absent: list[str] = field(default_factory=list[str])
    _normal: dict[str, NormalText] = field(default_factory=dict[str, NormalText])

    def anchor(
        self,
        query_id: str,
        anchor_id: str,
        doc_id: str,
        quote: str,
        at: tuple[int, int] | None = None,
        *,
        grade: float = 1.0,
    ) -> Anchor:
        """Return the anchor of a quote.

        Args:
            query_id: names the anchor in notices.
            anchor_id: unique within its query.
            doc_id: the document that is said to hold the quote.
            quote: the phrase.
            at: where it is said to stand; None: the anchor is pinned only when it stands once.
            grade: what it is worth.
        """
        place = self._place(f"{query_id} {anchor_id}", doc_id, quote, at)
        start, end = place or (None, None)
        return Anchor(id=anchor_id, doc_id=doc_id, quote=quote, start=start, end=end, grade=grade)

    def counts(self) -> dict[str, int]:
        """Return how many anchors are exact, and of each other sort that occurred."""
        sorts = {
            "exact_places": self.exact,
            "repaired": len(self.repaired),
            "stale": len(self.stale),
            "inside_words": len(self.inside_words),
            "repeated_quotes": len(self.repeated),
            "document_absent": len(self.absent),
        }
        return {name: count for name, count in sorts.items() if count or name == "exact_places"}

    def notices(self) -> Iterator[Notice]:
        """Yield one notice for each sort of place that a user should know of."""
        sentences = (
            ("repaired-offsets", "stood elsewhere and were moved to the nearest occurrence", self.repaired),
            ("stale-labels", "stand nowhere in their document and can never be found", self.stale),
            ("inside-words", "begin or end inside a word", self.inside_words),
            (
                "repeated-quotes",
                "stand more than once in their document (where offsets pin one, the others earn nothing)",
                self.repeated,
            ),
            ("documents-absent", "name a document that is not there", self.absent),
        )
        for code, sentence, anchors in sentences:
            if anchors:
                text = f"{len(anchors)} anchor(s) {sentence}: {listed(anchors)}"
                yield Notice(code=code, text=text, ids=tuple(anchors))

    def _place(
        self, name: str, doc_id: str, quote: str, at: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        document = self.documents.get(doc_id)
        if document is None:
            self.absent.append(name)
            return at
        if at is not None and _holds(document.text, at, quote):
            self.exact += 1
            if document.text.find(quote, document.text.find(quote) + 1) >= 0:
                self.repeated.append(name)
            return self._looked_at(name, document.text, at)
        found = self._occurrences(document, quote)
        if not found:
            self.stale.append(name)
            return None
        if at is not None:
            self.repaired.append(name)
            return self._looked_at(name, document.text, min(found, key=lambda span: abs(span[0] - at[0])))
        self.exact += 1
        if len(found) > 1:
            self.repeated.append(name)
            return None
        return self._looked_at(name, document.text, found[0])

    def documents_with(self, quote: str) -> list[str]:
        """Return the documents that hold a quote, in their order."""
        return [name for name, document in self.documents.items() if self._occurrences(document, quote)]

    def _occurrences(self, document: Document, quote: str) -> list[tuple[int, int]]:
        """Return the places of the quote as it is; else after normalising, whole words before parts."""
        verbatim = list(_verbatim(document.text, quote))
        if verbatim:
            return verbatim
        if document.id not in self._normal:
            self._normal[document.id] = normalise(document.text)
        normal = self._normal[document.id]
        return find(quote, normal) or find(quote, normal, whole_words=False)

    def _looked_at(self, name: str, text: str, at: tuple[int, int]) -> tuple[int, int]:
        if not (is_word_edge(text, at[0]) and is_word_edge(text, at[1])):
            self.inside_words.append(name)
        return at


def _holds(text: str, at: tuple[int, int], quote: str) -> bool:
    """Whether a span is the quote, or differs from it in presentation alone."""
    if not 0 <= at[0] < at[1] <= len(text):
        return False
    there = text[at[0] : at[1]]
    return there == quote or agrees(quote, there)


def _verbatim(text: str, quote: str) -> Iterator[tuple[int, int]]:
    at = text.find(quote) if quote.strip() else -1
    while at >= 0:
        if is_word_edge(text, at) and is_word_edge(text, at + len(quote)):
            yield at, at + len(quote)
        at = text.find(quote, at + 1)


NOWHERE = "nowhere"
"""The document of a quote that names none and stands in none: a label that nothing can earn."""


def place_quotes(golden: GoldenSet, documents: Sequence[Document]) -> tuple[GoldenSet, Pins, list[Notice]]:
    """Tie every anchor of a set to its place in the documents.

    An anchor without a document gets the one that holds its quote; where several do, each of the others
    is an alternative. A quote that is nowhere is kept, under the document ``nowhere``.
    """
    pins = Pins({document.id: document for document in documents})
    homeless: list[str] = []
    queries: list[Query] = []
    for query in golden.queries:
        anchors: list[Anchor] = []
        for anchor in query.anchors:
            homes = [anchor.doc_id] if anchor.doc_id else pins.documents_with(anchor.quote)
            if not homes:
                homeless.append(f"{query.id} {anchor.id}")
                anchors.append(replace(anchor, doc_id=NOWHERE))
                continue
            at = None if anchor.start is None or anchor.end is None else (anchor.start, anchor.end)
            first, *others = (
                pins.anchor(query.id, anchor.id, home, anchor.quote, at, grade=anchor.grade) for home in homes
            )
            anchors.append(replace(first, alternatives=(*others, *anchor.alternatives)))
        queries.append(replace(query, anchors=tuple(anchors)))
    notices = list(pins.notices())
    if homeless:
        text = f"{len(homeless)} quote(s) stand in no document and can never be found: {listed(homeless)}"
        notices.append(Notice(code="quotes-nowhere", text=text, ids=tuple(homeless)))
    return replace(golden, queries=tuple(queries)), pins, notices
