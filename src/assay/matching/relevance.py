"""Text becomes numbers here, once: a golden set against one chunking of one corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from assay.matching.foreign import locate_texts
from assay.matching.many import ManyPhrases
from assay.matching.places import Located, locate
from assay.matching.sources import Sources
from assay.matching.spots import ChunkSpots
from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.ids import id_key as identity
from assay.model.notices import Notice, listed
from assay.model.phrases import find, phrase
from assay.model.relevance import Loss, Place, QueryRelevance, Relevance
from assay.model.runs import ChunkTable
from assay.model.text import NormalText, normalise


def find_relevance(
    golden: GoldenSet,
    documents: Sequence[Document],
    chunks: ChunkTable,
    *,
    whole_index: bool = True,
    twins: bool = True,
) -> Relevance:
    """Return which chunks, anchors and documents are right for each query.

    A chunk is relevant when it belongs to the anchor's document and its span covers the whole anchor. A
    chunk that came without a place is located by its text first; where that fails, the anchor is looked for
    in the text, which a notice says (``located-by-text``). Two chunk ids of one place are one chunk.

    An item that no chunk can earn is ``lost``, with its reason. Labels name chunks, else documents (every
    chunk of such a document is relevant); labels that name neither are lost, or, where the index is not
    known as a whole, relevant and not retrieved.

    Args:
        golden: the queries with their anchors and labels.
        documents: the corpus; empty when only ids are known.
        chunks: the chunks of the index, or those that a foreign retriever returned.
        whole_index: ``chunks`` are all the chunks that there are. False for a foreign retriever: then an
            anchor that no returned chunk covers is one relevant item that was not retrieved, and the
            anchor unit is the one to read.
        twins: look for each anchor's phrase in the other documents too, which reads the whole corpus.

    Raises:
        InputError: two documents have one id.
    """
    sources = Sources(documents)
    named = {anchor.doc_id for query in golden.queries for item in query.anchors for anchor in item.any_of}
    chunks, located = locate_texts(chunks, sources, only=named) if documents else (chunks, ())
    matcher = _Matcher(sources=sources, chunks=chunks, whole_index=whole_index and len(documents) > 0)
    matcher.spots = ChunkSpots(chunks, matcher.documents_of(golden, named))
    queries = [matcher.query(query) for query in golden.queries]
    if twins:
        matcher.add_twins(golden, queries)
    return Relevance(
        queries=tuple(query.frozen() for query in queries), notices=(*located, *matcher.notices(golden))
    )


@dataclass(slots=True)
class _Draft:
    """One query's relevance while it is made."""

    query_id: str
    chunk_grades: dict[str, float] = field(default_factory=dict[str, float])
    anchor_grades: dict[str, float] = field(default_factory=dict[str, float])
    document_grades: dict[str, float] = field(default_factory=dict[str, float])
    covers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    places: dict[str, tuple[Place, ...]] = field(default_factory=dict[str, tuple[Place, ...]])
    lost: dict[str, Loss] = field(default_factory=dict[str, Loss])
    best_part: dict[str, float] = field(default_factory=dict[str, float])
    twins: dict[str, list[Place]] = field(default_factory=dict[str, list[Place]])

    def frozen(self) -> QueryRelevance:
        return QueryRelevance(
            query_id=self.query_id,
            chunk_grades=self.chunk_grades,
            anchor_grades=self.anchor_grades,
            document_grades=self.document_grades,
            covers={chunk: tuple(items) for chunk, items in self.covers.items()},
            places=self.places,
            lost=self.lost,
            best_part=self.best_part,
            twins={item: tuple(places) for item, places in self.twins.items()},
        )

    def item(self, item_id: str, grade: float, doc_ids: Iterable[str]) -> None:
        self.anchor_grades[item_id] = grade
        for doc_id in doc_ids:
            self.document_grades[doc_id] = max(grade, self.document_grades.get(doc_id, grade))

    def cover(self, chunk_id: str, item_id: str, *, first: bool) -> None:
        """Note that a chunk covers an item; only the first id of a place gets a grade of its own."""
        items = self.covers.setdefault(chunk_id, [])
        if item_id not in items:
            items.append(item_id)
        if first:
            grade = self.anchor_grades[item_id]
            self.chunk_grades[chunk_id] = max(grade, self.chunk_grades.get(chunk_id, grade))


class _Matcher:
    def __init__(self, *, sources: Sources, chunks: ChunkTable, whole_index: bool) -> None:
        self.sources = sources
        self.chunks = chunks
        self.whole_index = whole_index
        self.spots = ChunkSpots(chunks, ())
        self.unplaced: dict[str, list[int]] = {}
        for row in (chunks.starts < 0).nonzero()[0].tolist():
            if chunks.texts[row]:
                self.unplaced.setdefault(identity(chunks.doc_ids[row]), []).append(row)
        self.row_texts: dict[int, NormalText] = {}
        self.by_text: dict[str, None] = {}
        self.repaired: list[str] = []
        self.by_document: list[str] = []
        self._chunk_rows: dict[str, int] | None = None
        self._indexed: frozenset[str] | None = None

    def documents_of(self, golden: GoldenSet, named: set[str]) -> set[str]:
        """Return the documents whose chunks will be asked for."""
        wanted = set(named)
        for query in golden.queries:
            for label in query.labels:
                row = self.row_of(label)
                wanted.add(label if row is None else self.chunks.doc_ids[row])
        return wanted

    def row_of(self, label: str) -> int | None:
        row = self.chunks.position.get(label)
        if row is None and not label.isascii():
            if self._chunk_rows is None:
                self._chunk_rows = {identity(name): at for name, at in self.chunks.position.items()}
            row = self._chunk_rows.get(identity(label))
        return row

    def query(self, query: Query) -> _Draft:
        draft = _Draft(query_id=query.id)
        for item in query.anchors:
            self._anchor(draft, item)
        for label, grade in query.labels.items():
            self._label(draft, label, grade)
        return draft

    def _anchor(self, draft: _Draft, item: Anchor) -> None:
        located = [locate(anchor, self.sources) for anchor in item.any_of]
        self.repaired += [f"{draft.query_id} {item.id}" for one in located if one.finding == "repaired"]
        draft.item(item.id, item.grade, dict.fromkeys(_doc_id(one, self.sources) for one in located))
        places = tuple(dict.fromkeys(place for one in located for place in one.places))
        draft.places[item.id] = places
        covered = False
        for place in places:
            covered |= self._cover_place(draft, item.id, place)
        for one in located:
            covered |= self._cover_texts(draft, item.id, one)
        if places:
            parts = [self.spots.of(place.doc_id).best_part(place) for place in places]
            draft.best_part[item.id] = 1.0 if covered else max(parts)
        if not covered:
            reason = self._why_lost(located)
            if reason is not None:
                draft.lost[item.id] = reason

    def _cover_place(self, draft: _Draft, item_id: str, place: Place) -> bool:
        rows = self.spots.of(place.doc_id).covering(place)
        seen: set[tuple[int, int]] = set()
        for row in rows:
            span = (int(self.chunks.starts[row]), int(self.chunks.ends[row]))
            draft.cover(self.chunks.ids[row], item_id, first=span not in seen)
            seen.add(span)
        return bool(rows)

    def _cover_texts(self, draft: _Draft, item_id: str, located: Located) -> bool:
        """Look for the anchor in texts that no document holds: those of its document, those of none."""
        if not self.unplaced:
            return False
        wanted = phrase(located.anchor.quote)
        covered = False
        for row in [*self.unplaced.get(identity(located.anchor.doc_id), ()), *self.unplaced.get("", ())]:
            if row not in self.row_texts:
                self.row_texts[row] = normalise(self.chunks.texts[row] or "")
            if find(wanted, self.row_texts[row]):
                draft.cover(self.chunks.ids[row], item_id, first=True)
                self.by_text[self.chunks.ids[row]] = None
                covered = True
        return covered

    def _why_lost(self, located: Sequence[Located]) -> Loss | None:
        """Return why no chunk covers an item; None when the index is not known as a whole."""
        findings = {one.finding for one in located}
        if findings & {"found", "repaired"}:
            if not self.whole_index:
                return None
            indexed = any(self.spots.rows(place.doc_id) for one in located for place in one.places)
            return "cut by the chunker" if indexed else "not indexed"
        if "stale" in findings:
            return "stale label"
        # Without any document, nothing is known of the index but what was returned.
        return "not indexed" if self.whole_index or len(self.sources) else None

    def _label(self, draft: _Draft, label: str, grade: float) -> None:
        item_id = label if label not in draft.anchor_grades else f"label:{label}"
        row = self.row_of(label)
        if row is not None:
            draft.item(item_id, grade, [self.chunks.doc_ids[row]])
            rows = self.spots.same_place(row)
            for other in rows:
                draft.cover(self.chunks.ids[other], item_id, first=other == rows[0])
            return
        document = self.sources.document(label)
        rows = list(self.spots.rows(label))
        draft.item(item_id, grade, [document.id if document else label])
        if rows:
            self.by_document.append(draft.query_id)
            for other in rows:
                draft.cover(self.chunks.ids[other], item_id, first=other == self.spots.same_place(other)[0])
        elif grade > 0 and self.whole_index:
            draft.lost[item_id] = "not indexed"
        elif not self.whole_index:
            draft.cover(label, item_id, first=True)

    def add_twins(self, golden: GoldenSet, drafts: Sequence[_Draft]) -> None:
        """Find each anchor's phrase in the documents that it does not name."""
        anchors = [
            (draft, item.id, anchor, {identity(other.doc_id) for other in item.any_of})
            for draft, query in zip(drafts, golden.queries, strict=True)
            for item in query.anchors
            for anchor in item.any_of
        ]
        wanted: dict[str, list[int]] = {}
        for at, (_, _, anchor, _) in enumerate(anchors):
            wanted.setdefault(anchor.quote, []).append(at)
        if not anchors or len(self.sources) < 2:
            return
        quotes = list(wanted)
        many = ManyPhrases([phrase(quote) for quote in quotes])
        for document in self.sources:
            key = identity(document.id)
            for found, spans in many.found_in(self.sources.normal(document, keep=False)):
                for at in wanted[quotes[found]]:
                    draft, item_id, _, own = anchors[at]
                    if key not in own:
                        places = draft.twins.setdefault(item_id, [])
                        places += [Place(doc_id=document.id, start=a, end=b) for a, b in spans]

    def notices(self, golden: GoldenSet) -> list[Notice]:
        notices: list[Notice] = []
        if self.repaired:
            text = f"{len(self.repaired)} anchors had wrong offsets; the nearest place of the quote counts"
            notices.append(Notice(code="repaired-offsets", text=text, ids=tuple(self.repaired)))
        if self.by_text:
            text = f"{len(self.by_text)} chunks were located by text: the anchor stands in what was returned"
            notices.append(Notice(code="located-by-text", text=text, ids=tuple(self.by_text)))
        if self.by_document:
            queries = list(dict.fromkeys(self.by_document))
            text = (
                f"{len(queries)} queries are labelled by document: in the chunk unit every chunk of the "
                f"document counts as relevant, so read the document unit: {listed(queries)}"
            )
            notices.append(Notice(code="document-labels", text=text, ids=tuple(queries)))
        nameless = [name for name, doc in zip(self.chunks.ids, self.chunks.doc_ids, strict=True) if not doc]
        if nameless:
            text = f"{len(nameless)} chunks name no document, and match none: {listed(nameless)}"
            notices.append(Notice(code="no-document", text=text, ids=tuple(nameless)))
        if not self.whole_index and len(self.sources) and any(query.anchors for query in golden.queries):
            text = (
                "the index is known only by what was returned: in the chunk unit relevant chunks that were "
                "never returned are not counted, so read the anchor unit"
            )
            notices.append(Notice(code="index-not-known", text=text))
        return notices


def _doc_id(located: Located, sources: Sources) -> str:
    document = sources.document(located.anchor.doc_id)
    return document.id if document else located.anchor.doc_id
