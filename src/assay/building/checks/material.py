"""What every rule of the check looks at: queries with their places, found once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assay.matching import Located, Sources, find_relevance, locate
from assay.model.checks import CheckFinding, Severity
from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.relevance import Place, Relevance
from assay.model.runs import ChunkTable

PARAGRAPH_END = re.compile(r"(?:\r\n|\n|\r(?!\n))[^\S\r\n]*(?:\r\n|[\r\n])")
"""Two line ends with nothing but blanks between them."""
LONG_PARAGRAPH = 2_000
"""Characters from which a paragraph is taken to be many."""
_LINE_END = re.compile(r"\r\n|[\r\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedAnchor:
    """One anchor, or one alternative, with its query and its places."""

    query: Query
    item: Anchor
    """The item that it belongs to: the anchor itself, or the one that it is an alternative to."""
    anchor: Anchor
    located: Located
    document: Document | None


@dataclass(frozen=True, kw_only=True)
class Material:
    """A golden set, its corpus, and where everything stands."""

    golden: GoldenSet
    sources: Sources
    chunks: Mapping[str, ChunkTable]
    """Chunker -> its chunks; the first is the configured one."""
    relevance: Mapping[str, Relevance]
    """Chunker -> relevance against its chunks."""
    anchors: tuple[PlacedAnchor, ...]
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    top_texts: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Query id -> texts of the retriever's first hits; empty where nobody ran it."""

    def about(
        self, query: Query, severity: Severity, code: str, text: str, *, fix: str | None = None
    ) -> CheckFinding:
        """Return a finding about one query."""
        return CheckFinding(
            severity=severity,
            code=code,
            text=text,
            fix=fix,
            query_id=query.id,
            line=self.lines.get(query.id),
        )

    def about_anchor(
        self, placed: PlacedAnchor, severity: Severity, code: str, text: str, *, fix: str | None = None
    ) -> CheckFinding:
        """Return a finding about one anchor."""
        return CheckFinding(
            severity=severity,
            code=code,
            text=text,
            fix=fix,
            query_id=placed.query.id,
            anchor_id=placed.anchor.id,
            line=self.lines.get(placed.query.id),
        )

    def passages(self, query: Query) -> list[str]:
        """Return the paragraphs that hold the query's anchors, each at its first place."""
        return [
            paragraph(placed.document.text, placed.located.places[0])
            for placed in self.anchors_of(query)
            if placed.document is not None and placed.located.places
        ]

    def holding_chunks(self, query: Query) -> Iterator[str]:
        """Yield the texts of the configured chunker's chunks that hold an anchor of the query."""
        for chunker, relevance in self.relevance.items():
            table = self.chunks[chunker]
            one = relevance.by_query.get(query.id)
            for chunk in one.chunk_grades if one else ():
                row = table.position.get(chunk)
                document = None if row is None else self.sources.document(table.doc_ids[row])
                if row is not None and document is not None and table.starts[row] >= 0:
                    yield document.text[int(table.starts[row]) : int(table.ends[row])]
            return

    def anchors_of(self, query: Query) -> Sequence[PlacedAnchor]:
        """Return the query's anchors and alternatives."""
        return self._by_query.get(query.id, ())

    @cached_property
    def _by_query(self) -> Mapping[str, Sequence[PlacedAnchor]]:
        groups: dict[str, list[PlacedAnchor]] = {}
        for placed in self.anchors:
            groups.setdefault(placed.query.id, []).append(placed)
        return groups


def gather(
    golden: GoldenSet,
    documents: Sequence[Document],
    chunks: Mapping[str, ChunkTable],
    *,
    lines: Mapping[str, int] | None = None,
    top_texts: Mapping[str, Sequence[str]] | None = None,
) -> Material:
    """Find every place once."""
    sources = Sources(documents)
    anchors = [
        PlacedAnchor(
            query=query,
            item=item,
            anchor=anchor,
            located=locate(anchor, sources),
            document=sources.document(anchor.doc_id),
        )
        for query in golden.queries
        for item in query.anchors
        for anchor in item.any_of
    ]
    relevance = {
        chunker: find_relevance(golden, documents, table, twins=not at)
        for at, (chunker, table) in enumerate(chunks.items())
    }
    return Material(
        golden=golden,
        sources=sources,
        chunks=chunks,
        relevance=relevance,
        anchors=tuple(anchors),
        lines=lines or {},
        top_texts=top_texts or {},
    )


def paragraph(text: str, place: Place) -> str:
    r"""Return the paragraph, or the paragraphs, that a place stands in.

    Where that is long, because lines are paragraphs there, it is the lines; at most some 2,000 characters.

    >>> paragraph("One.\n\nTwo, three.\n\nFour.", Place(doc_id="a", start=6, end=9))
    'Two, three.'
    """
    first = max(0, place.start - LONG_PARAGRAPH)
    last = min(len(text), place.end + LONG_PARAGRAPH)
    start, end = _between(PARAGRAPH_END, text, place, (first, last))
    if end - start > LONG_PARAGRAPH:
        start, end = _between(_LINE_END, text, place, (start, end))
    if end - start > LONG_PARAGRAPH:
        start = max(start, place.start - LONG_PARAGRAPH // 2)
        end = min(end, place.end + LONG_PARAGRAPH // 2)
    return text[start:end]


def _between(mark: re.Pattern[str], text: str, place: Place, within: tuple[int, int]) -> tuple[int, int]:
    """Return the stretch around a place from the mark before it to the mark behind it."""
    start, end = within
    for match in mark.finditer(text, start, place.start):
        start = match.end()
    behind = mark.search(text, place.end, end)
    return start, end if behind is None else behind.start()
