"""The page where drafts get a person's yes or no: nothing enters the set unseen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from assay.building.reviewing import Ruling, accept, blocked, marked, refuse, requoted
from assay.model.errors import InputError
from assay.model.golden import Query
from assay.model.labels import Decision, Draft, Edit
from assay.report.html.visible import shown
from assay.workbench.asked import Sent, bench_of, id_of, number_of, text_of, who
from assay.workbench.bench import Workbench
from assay.workbench.rendering import Keys, link, render

_RELOAD = "reload the page: what it shows has changed"

KEYS: Keys = (
    ("y", "accept it, as it stands in the fields"),
    ("x", "refuse it; the remark says why"),
    ("e", "edit the question (Esc leaves the field)"),
    ("a", "take the words that are selected in the passage as the anchor"),
    ("j, k", "next and previous draft, without deciding"),
    ("u", "take back the last decision"),
)
_MOST_LISTED = 500


def page(request: Request) -> Response:
    """Show one draft; without one named, the first that waits."""
    bench, by = bench_of(request), who(request)
    if not by:
        return RedirectResponse(f"/name?back={quote(request.url.path)}", 303)
    waiting = bench.labels.drafts(undecided=True)
    wanted = request.query_params.get("draft")
    draft = _find(bench, wanted) if wanted is not None else (waiting[0] if waiting else None)
    if draft is None:
        return render(request, "drafts_empty.html", keys=KEYS)
    at = next((at for at, one in enumerate(waiting) if one.id == draft.id), None)
    before, after = _beside(waiting, draft, at)
    return render(
        request,
        "drafts.html",
        keys=KEYS,
        waiting=waiting[:_MOST_LISTED],
        total=len(waiting),
        draft=draft,
        at=at,
        decided=_decided(bench, draft),
        passages=_passages(draft),
        kinds=_kinds(bench, draft),
        reason=blocked(draft.query),
        before=before,
        after=after,
    )


def check(request: Request, sent: Sent) -> Response:
    """Say whether a phrase can be an anchor of a draft, and how it would stand in the set."""
    bench = bench_of(request)
    draft = _find(bench, text_of(sent, "draft"))
    changed, told = _requoted(bench, draft.query, number_of(sent, "number"), text_of(sent, "quote"))
    kept = None if changed is None else changed.anchors[number_of(sent, "number")].quote
    return JSONResponse(
        {"holds": kept is not None, "told": shown(told), "quote": None if kept is None else shown(kept)}
    )


def decide(request: Request, sent: Sent) -> Response:
    """Keep a decision with its edit of the set; of two people at once, the second is told of the first."""
    bench, by = bench_of(request), who(request)
    if not by:
        raise InputError("decisions need a name beside them", fix="give yours at /name")
    draft = _find(bench, text_of(sent, "draft"))
    decision_id, edit_id = id_of(sent), id_of(sent, "edit")
    with bench.deciding:
        held = _decided(bench, draft)
        if held is not None:
            if held.id == decision_id:
                return _kept(bench, draft, decision_id)
            error = f"{held.by} has {held.verdict} this draft meanwhile"
            return JSONResponse({"error": error, "code": "conflict"}, 409)
        ruling = _ruling(bench, draft, sent, by)
        bench.labels.decide(
            [replace(ruling.decision, id=decision_id)],
            edits=[replace(edit, id=edit_id) for edit in ruling.edits],
        )
    return _kept(bench, draft, decision_id)


def undo(request: Request, sent: Sent) -> Response:
    """Take one's own decision back, and what it brought into the set."""
    bench, by = bench_of(request), who(request)
    draft = _find(bench, text_of(sent, "draft"))
    undoes, edit_id = id_of(sent, "undoes"), id_of(sent, "edit")
    with bench.deciding:
        held = next((one for one in bench.labels.decisions(subject=draft.id) if one.id == undoes), None)
        if held is None or held.by != by:
            raise InputError("that is no decision of yours", fix=_RELOAD)
        row = Decision(id=id_of(sent), subject=draft.id, verdict=held.verdict, by=by, undoes=undoes)
        brought = [one for one in bench.labels.edits() if one.id == edit_id and one.by == by]
        edits = [
            Edit(id=id_of(sent, "edit_undo"), query_id=one.query_id, action="undo", by=by, undoes=one.id)
            for one in brought
        ]
        bench.labels.decide([row], edits=edits)
    return JSONResponse({"saved": row.id, "next": link("/drafts", draft=draft.id)})


def _ruling(bench: Workbench, draft: Draft, sent: Sent, by: str) -> Ruling:
    why = text_of(sent, "why", default="").strip()
    if sent.get("verdict") == "refused":
        return refuse(draft, by=by, why=why)
    if sent.get("verdict") != "accepted":
        raise InputError("verdict: accepted or refused is expected")
    query = _as_edited(bench, draft, sent)
    reason = blocked(query)
    if reason is not None:
        raise InputError(f"the draft cannot be accepted yet: {reason}", fix="mend it here, or refuse it")
    return accept(draft, by=by, query=query, why=why)


def _as_edited(bench: Workbench, draft: Draft, sent: Sent) -> Query:
    """Return the draft's query with what stands in the fields of the page.

    A field that was not touched sends what was shown, which is not the text itself where signs that hide
    were spelled out: then nothing is changed.
    """
    query = draft.query
    text, kind = text_of(sent, "text").strip(), text_of(sent, "kind", most=100).strip()
    if text != shown(query.text).strip():
        query = replace(query, text=text)
    if kind and kind != shown(query.kind):
        query = replace(query, kind=kind)
    quotes = sent.get("quotes", [])
    if not isinstance(quotes, list) or len(quotes) != len(query.anchors):  # pyright: ignore[reportUnknownArgumentType]
        raise InputError("quotes: one phrase for each anchor is expected")
    for number, quoted in enumerate(quotes):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        if not isinstance(quoted, str) or quoted == shown(query.anchors[number].quote):
            continue
        changed, told = _requoted(bench, query, number, quoted)
        if changed is None:
            raise InputError(
                f"anchor {number + 1}: {told}", fix="quote a phrase as it stands in the document"
            )
        query = changed
    return query


def _requoted(bench: Workbench, query: Query, number: int, phrase: str) -> tuple[Query | None, str]:
    if number >= len(query.anchors):
        raise InputError(f"the draft has no anchor {number + 1}", fix=_RELOAD)
    document = bench.corpus.by_id.get(query.anchors[number].doc_id)
    if document is None:
        return None, f"there is no document {query.anchors[number].doc_id!r}"
    return requoted(query, number, phrase.strip(), document, bench.shaper)


def _kept(bench: Workbench, draft: Draft, decision_id: str) -> Response:
    waiting = bench.labels.drafts(undecided=True)
    after = next((one for one in waiting if one.seq > draft.seq), waiting[0] if waiting else None)
    return JSONResponse(
        {"saved": decision_id, "next": "/drafts" if after is None else link("/drafts", draft=after.id)}
    )


def _find(bench: Workbench, draft_id: str) -> Draft:
    found = bench.labels.drafts(draft_id=draft_id)
    if not found:
        raise InputError(f"there is no draft {draft_id!r}", fix=_RELOAD)
    return found[0]


def _decided(bench: Workbench, draft: Draft) -> Decision | None:
    held = bench.labels.decisions(subject=draft.id, standing=True)
    return held[-1] if held else None


def _beside(waiting: Sequence[Draft], draft: Draft, at: int | None) -> tuple[Draft | None, Draft | None]:
    if at is None:
        return (
            next((one for one in reversed(waiting) if one.seq < draft.seq), None),
            next((one for one in waiting if one.seq > draft.seq), None),
        )
    return (
        waiting[at - 1] if at > 0 else None,
        waiting[at + 1] if at + 1 < len(waiting) else None,
    )


def _passages(draft: Draft) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Cut each passage at its anchors: (place, pieces)."""
    return [
        (place, marked(text, [one for one in draft.query.anchors if place.startswith(f"{one.doc_id}#")]))
        for place, text in draft.evidence.items()
    ]


def _kinds(bench: Workbench, draft: Draft) -> list[str]:
    known = [*bench.project.golden.kinds, "factual", "lexical", "conceptual", "multi-hop", draft.query.kind]
    return list(dict.fromkeys(known))
