"""The page where people label: one query, its candidates blind, a key a grade."""

from __future__ import annotations

import time
from collections.abc import Sequence
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from assay.model.errors import InputError
from assay.model.golden import Anchor, Query
from assay.model.labels import Candidate, Decision, Edit, Judgement, Pool
from assay.report.html.visible import pieces, shown
from assay.workbench.anchoring import Offer, Span, code_points, offer_of
from assay.workbench.asked import Sent, bench_of, id_of, number_of, text_of, who
from assay.workbench.bench import Workbench
from assay.workbench.finding import MOST_WORDS, add_candidate, clean_words, find_passages
from assay.workbench.labelling import (
    GRADES,
    Task,
    add_anchor,
    find_candidate,
    find_pool,
    marks_of,
    open_pools,
    place_states,
    poolings,
    settle_place,
    shown_candidates,
    stored_query,
    tasks,
)
from assay.workbench.rendering import Keys, link, render

_RELOAD = "reload the page: what it shows has changed"

KEYS: Keys = (
    ("j, k", "next and previous candidate"),
    ("0 1 2 3", "grade it: " + ", ".join(f"{grade} {name}" for grade, name in GRADES)),
    ("s", "cannot tell: leave it open"),
    ("u", "take back the last thing said"),
    ("n, p", "next and previous query"),
    ("a", "make an anchor: then drag over text, or use the arrows (Shift widens), Enter keeps it"),
    ("/", "search the documents for what nobody found"),
    ("w", "the corpus holds no answer"),
)
_MOST_WHY = 2000


def page(request: Request) -> Response:
    """Show one query, named by its id or by a pool; without a name, the first with something left to do."""
    bench, by = bench_of(request), who(request)
    if not by:
        return RedirectResponse(f"/name?back={quote(str(request.url.path))}", 303)
    pooling = request.query_params.get("pooling") or None
    pools = open_pools(bench, pooling)
    listed = tasks(bench, pools, by)
    if not listed:
        return render(request, "label_empty.html", keys=KEYS)
    wanted = request.query_params.get("q")
    if wanted is None and "pool" in request.query_params:
        wanted = find_pool(bench, request.query_params["pool"]).query_id
    if wanted is not None and wanted not in pools:
        raise InputError(f"no candidates were pooled for query {wanted!r}", fix="assay golden pool")
    task = next((one for one in listed if one.query_id == wanted), None) or _first_open(listed)
    at = listed.index(task)
    pool = pools[task.query_id]
    query = stored_query(bench, task.query_id)
    anchors = () if query is None else query.anchors
    words = clean_words(request.query_params.get("find", ""))
    return render(
        request,
        "label.html",
        keys=KEYS,
        pooling=pooling,
        poolings=poolings(bench),
        tasks=listed,
        task=task,
        at=at,
        before=listed[at - 1] if at > 0 else None,
        after=listed[at + 1] if at + 1 < len(listed) else None,
        finished=sum(one.finished for one in listed),
        pool=pool,
        candidates=shown_candidates(bench, pool, query, by),
        anchors=anchors,
        words=words,
        found=find_passages(bench, pool, anchors, words),
        most_words=MOST_WORDS,
        grades=GRADES,
        opened_at=int(time.time() * 1000),
    )


def state(request: Request) -> Response:
    """Return what was said of one query until now, for a page that is open elsewhere too."""
    bench, by = bench_of(request), who(request)
    pool = find_pool(bench, request.query_params.get("pool", ""))
    query = stored_query(bench, pool.query_id)
    states = place_states(bench, pool.query_id, by)
    return JSONResponse(
        {
            "states": [states.get(one.place, {}) for one in pool.candidates],
            "anchors": [] if query is None else _told(query.anchors),
            "answerless": _answerless(bench, pool.query_id) is not None,
        }
    )


def add(request: Request, sent: Sent) -> Response:
    """Put a passage that was found in the documents among the candidates, and show it there."""
    del sent  # ids and places are other people's text: they stand in the address, where nothing changes them
    bench, by, asked = bench_of(request), _signed(request), request.query_params
    pool = find_pool(bench, text_of(asked, "pool"))
    words = clean_words(text_of(asked, "find"))
    pool, number = add_candidate(bench, pool, words, text_of(asked, "place"), by=by)
    pooling = asked.get("pooling") or None
    return RedirectResponse(f"{link('/label', q=pool.query_id, pooling=pooling)}#c{number}", 303)


def judge(request: Request, sent: Sent) -> Response:
    """Append one grade; a grade that is sent twice is kept once."""
    bench, by = bench_of(request), _signed(request)
    pool, candidate = _place(bench, sent)
    grade = sent.get("grade")
    if grade is not None and grade not in {value for value, _ in GRADES}:
        raise InputError(f"grade: 0 to {GRADES[-1][0]} is expected, not {grade!r}")
    row = Judgement(
        id=id_of(sent),
        query_id=pool.query_id,
        doc_id=candidate.doc_id,
        start=candidate.start,
        end=candidate.end,
        grade=None if grade is None else float(grade),
        shown=candidate.text,
        why=text_of(sent, "why", most=_MOST_WHY, default=""),
        by=by,
        pool_id=pool.id,
        elapsed_ms=float(number_of(sent, "elapsed_ms")),
    )
    bench.labels.add_judgements([row])
    return JSONResponse(
        {"saved": row.id, "number": sent["number"], "state": _state(bench, pool, candidate, by)}
    )


def undo(request: Request, sent: Sent) -> Response:
    """Take one's own grade back by a row that says so."""
    bench, by = bench_of(request), _signed(request)
    undoes = id_of(sent, "undoes")
    pool, candidate = _place(bench, sent)
    held = bench.labels.judgements(query_id=pool.query_id, by=by)
    if not any(row.id == undoes and row.undoes is None and row.place == candidate.place for row in held):
        raise InputError("that is no grade of yours", fix=_RELOAD)
    row = Judgement(
        id=id_of(sent),
        query_id=pool.query_id,
        doc_id=candidate.doc_id,
        start=candidate.start,
        end=candidate.end,
        grade=None,
        by=by,
        undoes=undoes,
    )
    bench.labels.add_judgements([row])
    return JSONResponse(
        {"saved": row.id, "number": sent["number"], "state": _state(bench, pool, candidate, by)}
    )


def settle(request: Request, sent: Sent) -> Response:
    """Settle a place about which people disagree."""
    bench, by = bench_of(request), _signed(request)
    pool, candidate = _place(bench, sent)
    grade = sent.get("grade")
    if grade not in {value for value, _ in GRADES}:
        raise InputError(f"grade: 0 to {GRADES[-1][0]} is expected, not {grade!r}")
    settle_place(bench, pool.query_id, candidate.place, float(grade), decision_id=id_of(sent), by=by)
    return JSONResponse(
        {"saved": sent["id"], "number": sent["number"], "state": _state(bench, pool, candidate, by)}
    )


def answerless(request: Request, sent: Sent) -> Response:
    """Say that the corpus holds no answer to a query, or take that back."""
    bench, by = bench_of(request), _signed(request)
    pool = find_pool(bench, text_of(sent, "pool"))
    with bench.deciding:
        held = _answerless(bench, pool.query_id)
        if sent.get("value") is True and held is None:
            row = Decision(id=id_of(sent), subject=pool.query_id, verdict="unanswerable", by=by)
            bench.labels.decide([row])
        elif sent.get("value") is False and held is not None:
            row = Decision(
                id=id_of(sent), subject=pool.query_id, verdict="unanswerable", by=by, undoes=held.id
            )
            bench.labels.decide([row])
    return JSONResponse({"saved": sent["id"], "answerless": _answerless(bench, pool.query_id) is not None})


def check_anchor(request: Request, sent: Sent) -> Response:
    """Say whether a stretch of a candidate can be an anchor; nothing is kept."""
    bench = bench_of(request)
    _, candidate = _place(bench, sent)
    return JSONResponse(_offered(candidate, _offer(bench, candidate, sent)))


def make_anchor(request: Request, sent: Sent) -> Response:
    """Give the query an anchor."""
    bench, by = bench_of(request), _signed(request)
    pool, candidate = _place(bench, sent)
    offer = _offer(bench, candidate, sent)
    if not offer.holds:
        raise InputError(
            "; ".join(fact.text for fact in offer.facts if not fact.holds), fix="mark other words"
        )
    grade = sent.get("grade", 1)
    if grade not in {1, 2, 3}:
        raise InputError(f"grade: 1 to 3 is expected, not {grade!r}")
    anchor = Anchor(id="", doc_id=candidate.doc_id, quote=offer.quote, grade=float(grade))
    query = add_anchor(bench, pool, anchor, edit_id=id_of(sent), by=by)
    return JSONResponse({"saved": sent["id"], "number": sent["number"], **_anchored(query, candidate)})


def undo_anchor(request: Request, sent: Sent) -> Response:
    """Take an anchor back that was made here."""
    bench, by = bench_of(request), _signed(request)
    pool, candidate = _place(bench, sent)
    undoes = id_of(sent, "undoes")
    held = bench.labels.edits(query_id=pool.query_id)
    if not any(row.id == undoes and row.action == "anchor" and row.by == by for row in held):
        raise InputError("that is no anchor of yours", fix=_RELOAD)
    row = Edit(id=id_of(sent), query_id=pool.query_id, action="undo", by=by, undoes=undoes)
    bench.labels.edit([row])
    query = stored_query(bench, pool.query_id)
    assert query is not None, "the query of an anchor is in the store"
    return JSONResponse({"saved": row.id, "number": sent["number"], **_anchored(query, candidate)})


def _signed(request: Request) -> str:
    by = who(request)
    if not by:
        raise InputError("labels need a name beside them", fix="give yours at /name")
    return by


def _place(bench: Workbench, sent: Sent) -> tuple[Pool, Candidate]:
    pool = find_pool(bench, text_of(sent, "pool"))
    return pool, find_candidate(pool, number_of(sent, "number"))


def _state(bench: Workbench, pool: Pool, candidate: Candidate, by: str) -> dict[str, object]:
    return place_states(bench, pool.query_id, by).get(candidate.place, {})


def _answerless(bench: Workbench, query_id: str) -> Decision | None:
    held = bench.labels.decisions(subject=query_id, standing=True)
    return next((one for one in held if one.verdict == "unanswerable"), None)


def _offer(bench: Workbench, candidate: Candidate, sent: Sent) -> Offer:
    document = bench.corpus.by_id.get(candidate.doc_id)
    if document is None or document.text[candidate.start : candidate.end] != candidate.text:
        raise InputError(f"{candidate.doc_id} has changed since it was pooled", fix="assay golden pool")
    start, end = code_points(candidate.text, number_of(sent, "start"), number_of(sent, "end"))
    if start >= end:
        raise InputError("nothing is chosen", fix="mark the words that answer the query")
    chosen = (candidate.start + start, candidate.start + end)
    return offer_of(document, (candidate.start, candidate.end), chosen, bench.shaper)


def _offered(candidate: Candidate, offer: Offer) -> dict[str, object]:
    return {
        "holds": offer.holds,
        "quote": shown(offer.quote),
        "span": _units(candidate, offer.span),
        "facts": [{"name": one.name, "holds": one.holds, "text": shown(one.text)} for one in offer.facts],
        "better": None if offer.better is None else _units(candidate, offer.better),
    }


def _units(candidate: Candidate, span: Span) -> list[int]:
    """Return where a span of the document stands in the shown passage, as scripts count."""
    text = candidate.text
    inside = [min(max(0, at - candidate.start), len(text)) for at in span]
    return [len(shown(text[:at]).encode("utf-16-le")) // 2 for at in inside]


def _anchored(query: Query, candidate: Candidate) -> dict[str, object]:
    marks = marks_of(candidate, query.anchors)
    return {
        "anchors": _told(query.anchors),
        "pieces": [[shown(text), marked] for text, marked in pieces(candidate.text, marks)],
    }


def _told(anchors: Sequence[Anchor]) -> list[dict[str, str]]:
    return [{"id": shown(one.id), "doc": shown(one.doc_id), "quote": shown(one.quote)} for one in anchors]


def _first_open(listed: Sequence[Task]) -> Task:
    return next((one for one in listed if not one.finished), listed[0])
