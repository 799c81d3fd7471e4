"""When documents change: which anchors stay, move, change or vanish, and what can be mended without a person.

Only presentation is ever mended: offsets to the nearest occurrence of the quote, a quote to the source's own
text where the two differ in letter case, white space or typography, a document's name where the phrase stands
in exactly one other. Changed words are shown, and left to a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from assay.building.closest import closest_place, line_of
from assay.matching import Sources, locate
from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.phrases import find, phrase
from assay.model.text import normalise

DriftKind = Literal["moved", "presentation", "renamed", "changed", "vanished"]
"""``moved``: the same words stand at another place. ``presentation``: the words are the same, how they are
written is not. ``renamed``: the document is gone, and the phrase stands in exactly one other. ``changed``:
other words stand there. ``vanished``: nothing like it is left."""

ALIKE = 0.6
"""From this share of equal signs on, the closest place is what became of an anchor; else it has vanished."""
_LONGEST_SHOWN = 240
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What became of one anchor, or of one of its alternatives."""

    query_id: str
    anchor: Anchor
    """As the set has it."""
    kind: DriftKind
    text: str
    """For people: where it went, or what is different."""
    line: int | None = None
    """Line of the document, from 1, where it stands now, or what it became."""
    mended: Anchor | None = None
    """As it should be; None where a person has to decide."""
    proposed: str | None = None
    """The source's words at the place where changed words stand."""


def find_drift(golden: GoldenSet, documents: Sequence[Document]) -> tuple[Drift, ...]:
    """Return the anchors that do not stand as the set has them, in the order of the set.

    Args:
        golden: the set.
        documents: the corpus as it is now.

    >>> document = Document(id="a.md", text="New! Refunds take 14 days.")
    >>> anchor = Anchor(id="a1", doc_id="a.md", quote="Refunds take 14 days", start=0, end=20)
    >>> golden = GoldenSet(name="g", queries=(Query(id="q1", text="How long?", anchors=(anchor,)),))
    >>> [(one.kind, one.mended.start) for one in find_drift(golden, [document])]
    [('moved', 5)]
    """
    sources = Sources(documents)
    return tuple(
        drift
        for query in golden.queries
        for item in query.anchors
        for anchor in item.any_of
        for drift in _drift_of(query.id, anchor, sources)
    )


def mend(golden: GoldenSet, drifts: Sequence[Drift]) -> GoldenSet:
    """Return the set with the mended anchors in place of those that drifted; the rest is left as it is."""
    mended = {(one.query_id, one.anchor): one.mended for one in drifts if one.mended is not None}
    return replace(golden, queries=tuple(_mended_query(query, mended) for query in golden.queries))


def difference(old: str, new: str) -> str:
    """Show which words went and which came: ``take [-14-]{+30+} days``.

    >>> difference("Refunds take 14 days", "Refunds take 30 working days.")
    'Refunds take [-14-]{+30 working+} days{+.+}'
    """
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    parts: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        gone, came = "".join(before[a:b]), "".join(after[c:d])
        if tag == "equal":
            parts.append(gone)
            continue
        parts += [f"[-{gone}-]"] if gone else []
        parts += [f"{{+{came}+}}"] if came else []
    return "".join(parts)


def _drift_of(query_id: str, anchor: Anchor, sources: Sources) -> Iterator[Drift]:
    document = sources.document(anchor.doc_id)
    if document is None:
        yield _without_document(query_id, anchor, sources)
        return
    located = locate(anchor, sources)
    if located.finding == "stale":
        yield _without_phrase(query_id, anchor, document, sources)
        return
    text = document.text
    slices = [text[place.start : place.end] for place in located.places]
    place = located.places[0]
    line = line_of(text, place.start)
    if located.finding == "repaired":
        yield Drift(
            query_id=query_id,
            anchor=anchor,
            kind="moved",
            text=f"moved from {anchor.start} to {place.start} in {document.id}",
            line=line,
            mended=replace(anchor, quote=slices[0], start=place.start, end=place.end),
        )
    elif anchor.quote not in slices:
        pins = {} if anchor.start is None else {"start": place.start, "end": place.end}
        yield Drift(
            query_id=query_id,
            anchor=anchor,
            kind="presentation",
            text=f"{document.id} writes it {_shown(slices[0])}",
            line=line,
            mended=replace(anchor, quote=slices[0], **pins),
        )


def _without_document(query_id: str, anchor: Anchor, sources: Sources) -> Drift:
    wanted = phrase(anchor.quote)
    homes = [(document, spans) for document in sources if (spans := find(wanted, sources.normal(document)))]
    gone = f"there is no document {anchor.doc_id!r}"
    if len(homes) == 1 and len(homes[0][1]) == 1:
        document, ((start, end),) = homes[0]
        pins = {} if anchor.start is None else {"start": start, "end": end}
        return Drift(
            query_id=query_id,
            anchor=anchor,
            kind="renamed",
            text=f"{gone}; the phrase stands in {document.id}, and only there",
            line=line_of(document.text, start),
            mended=replace(anchor, doc_id=document.id, quote=document.text[start:end], **pins),
        )
    count = sum(len(spans) for _, spans in homes)
    where = f", and the phrase stands in {count} places of other documents" if count else ""
    return Drift(query_id=query_id, anchor=anchor, kind="vanished", text=gone + where)


def _without_phrase(query_id: str, anchor: Anchor, document: Document, sources: Sources) -> Drift:
    close = closest_place(anchor.quote, document.text, sources.normal(document))
    if close is None or close.alike < ALIKE:
        near = "no word of it is left" if close is None else str(close)
        return Drift(
            query_id=query_id, anchor=anchor, kind="vanished", text=f"it is not in {document.id} ({near})"
        )
    there = document.text[close.start : close.end]
    shown = difference(normalise(anchor.quote).text, normalise(there).text)
    return Drift(
        query_id=query_id,
        anchor=anchor,
        kind="changed",
        text=f"{document.id} now says: {shown[:_LONGEST_SHOWN]}",
        line=close.line,
        proposed=there,
    )


def _mended_query(query: Query, mended: Mapping[tuple[str, Anchor], Anchor | None]) -> Query:
    anchors = tuple(_mended_item(query.id, item, mended) for item in query.anchors)
    return query if anchors == query.anchors else replace(query, anchors=anchors)


def _mended_item(query_id: str, item: Anchor, mended: Mapping[tuple[str, Anchor], Anchor | None]) -> Anchor:
    alternatives = tuple(mended.get((query_id, other)) or other for other in item.alternatives)
    new = mended.get((query_id, item)) or item
    return replace(new, alternatives=alternatives)


def _shown(text: str) -> str:
    words = " ".join(text.split())
    return repr(words if len(words) <= _LONGEST_SHOWN else words[:_LONGEST_SHOWN] + "...")
