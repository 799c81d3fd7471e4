"""What a person decides of a draft: it enters the set, enters it changed, or stays outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.building.anchor_shapes import AnchorShaper
from assay.building.passages import Passage
from assay.model.documents import Document
from assay.model.golden import Anchor, Query
from assay.model.labels import Decision, Draft, Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A decision, and the edit of the set that follows from it; both go to the store together."""

    decision: Decision
    edits: tuple[Edit, ...] = ()


def blocked(query: Query) -> str | None:
    """Return why a draft cannot enter the set as it is; None when it can.

    >>> blocked(Query(id="q1", text=""))
    'the question is empty'
    """
    if not query.text.strip():
        return "the question is empty"
    from_log = (
        query.provenance.origin == "log"
    )  # its anchors come from the pool, where it has to be in the set
    if query.answerable and not query.anchors and not query.labels and not from_log:
        return "it has no anchor: find one, or say that no answer exists"
    return None


def accept(draft: Draft, *, by: str, query: Query | None = None, why: str = "") -> Ruling:
    """Return the yes of a person: the query enters the set, with the person's name on it.

    Args:
        draft: what was looked at.
        by: who looked.
        query: the draft as the person changed it; None: as it is.
        why: a remark.

    Raises:
        ValueError: the query cannot enter the set as it is (see ``blocked``).
    """
    entering = query or draft.query
    reason = blocked(entering)
    if reason is not None:
        raise ValueError(reason)
    verified = replace(entering, provenance=replace(entering.provenance, verified_by=by))
    edited = query is not None and query != draft.query
    decision = Decision(
        subject=draft.id,
        verdict="edited" if edited else "accepted",
        by=by,
        why=why,
        query=verified if edited else None,
    )
    edit = Edit(query_id=verified.id, action="put", by=by, why=why or "draft accepted", query=verified)
    return Ruling(decision=decision, edits=(edit,))


def refuse(draft: Draft, *, by: str, why: str = "") -> Ruling:
    """Return the no of a person: the draft stays on record and enters no set."""
    return Ruling(decision=Decision(subject=draft.id, verdict="refused", by=by, why=why))


def requoted(
    query: Query, number: int, quote: str, document: Document, shaper: AnchorShaper
) -> tuple[Query | None, str]:
    """Return the query with another phrase for one of its anchors, or None and why the phrase cannot serve.

    Args:
        query: the query.
        number: which anchor, from 0; one past the last adds one.
        quote: the phrase.
        document: the document that holds it.
        shaper: makes anchors.
    """
    whole = Passage(doc_id=document.id, start=0, end=len(document.text), text=document.text, words=0)
    shaped = shaper.shape(whole, quote)
    if shaped.anchor is None:
        return None, shaped.why or "refused"
    anchors = list(query.anchors)
    if number < len(anchors):
        anchors[number] = replace(shaped.anchor, id=anchors[number].id)
    else:
        taken = {anchor.id for anchor in anchors}
        free = next(name for at in range(1, len(taken) + 2) if (name := f"a{at}") not in taken)
        anchors.append(replace(shaped.anchor, id=free))
    return replace(query, anchors=tuple(anchors), answerable=True), "; ".join(shaped.notes)


def unanswerable(query: Query) -> Query:
    """Return the query as one that the corpus has no answer to."""
    return replace(query, anchors=(), labels={}, answerable=False)


def marked(passage: str, anchors: Sequence[Anchor]) -> list[tuple[str, bool]]:
    """Return a passage in pieces, each with whether it belongs to an anchor.

    >>> marked("Keys rotate yearly.", [Anchor(id="a1", doc_id="a.md", quote="rotate yearly")])
    [('Keys ', False), ('rotate yearly', True), ('.', False)]
    """
    spans: list[tuple[int, int]] = []
    for anchor in anchors:
        at = passage.find(anchor.quote)
        if at >= 0:
            spans.append((at, at + len(anchor.quote)))
    pieces: list[tuple[str, bool]] = []
    reached = 0
    for start, end in sorted(spans):
        if start < reached:
            continue
        pieces += [(passage[reached:start], False), (passage[start:end], True)]
        reached = end
    return [piece for piece in [*pieces, (passage[reached:], False)] if piece[0]]
