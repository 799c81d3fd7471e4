"""The page of a run's misses: where each was lost is certain, why is a proposal that people confirm."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from assay.diagnosis.review import utc_now
from assay.flows.diagnose import Diagnosed
from assay.flows.diagnose import decide as keep
from assay.flows.misses import missed_queries
from assay.model.errors import InputError
from assay.model.findings import Decision, Finding
from assay.model.report import MissedQuery
from assay.workbench.asked import Sent, bench_of, text_of, who
from assay.workbench.bench import Workbench
from assay.workbench.rendering import Keys, link, render

KEYS: Keys = (
    ("y", "the proposed kind is right"),
    ("1 2 3", "it is that one of the kinds"),
    ("0", "none of them: unexplained"),
    ("c", "write a note beside the decision (Esc leaves the field)"),
    ("j, k", "next and previous miss, without deciding"),
    ("u", "take back what was decided of this miss"),
)
_MOST_LISTED = 500


def page(request: Request) -> Response:
    """Show one finding with its evidence; without one named, the first that nobody has looked at."""
    bench = bench_of(request)
    if not who(request):
        return RedirectResponse(f"/name?back={quote(request.url.path)}", 303)
    runs = bench.runs()
    if not runs:
        return render(request, "misses_empty.html", keys=KEYS, run=None)
    diagnosed = bench.diagnosed(request.query_params.get("run", "latest"))
    findings = diagnosed.diagnosis.findings
    run_id = diagnosed.evaluation.run.id
    if not findings:
        return render(request, "misses_empty.html", keys=KEYS, run=run_id)
    wanted = request.query_params.get("miss")
    at = _position(findings, wanted) if wanted is not None else _first_open(findings)
    finding = findings[at]
    missed = _evidence(diagnosed, finding)
    return render(
        request,
        "misses.html",
        keys=KEYS,
        runs=runs,
        run=run_id,
        listed=[(one, _link(run_id, one)) for one in _window(findings, at)],
        total=len(findings),
        open=sum(_is_open(one) for one in findings),
        finding=finding,
        at=at,
        item=missed.items[0],
        missed=missed,
        key=key_of(finding),
        kinds=diagnosed.settings.kinds,
        before=_link(run_id, findings[at - 1]) if at > 0 else None,
        after=_link(run_id, findings[at + 1]) if at + 1 < len(findings) else None,
        agreement=diagnosed.diagnosis.agreement,
    )


def decide(request: Request, sent: Sent) -> Response:
    """Keep what a person says of one finding, unless somebody else has spoken since the page was made."""
    bench, by = bench_of(request), _signed(request)
    with bench.deciding:
        diagnosed, finding = _found(bench, sent)
        kind = sent.get("kind")
        if kind is not None and kind not in diagnosed.settings.kinds:
            raise InputError(
                f"{kind!r} is no kind of failure", fix=f"one of {', '.join(diagnosed.settings.kinds)}"
            )
        conflict = _meanwhile(finding, sent, by)
        if conflict is not None:
            return conflict
        decision = Decision(
            query_id=finding.query_id,
            item=finding.item,
            lost_at=finding.lost_at,
            kind=kind,
            proposed=finding.proposed,
            by=by,
            when=utc_now(),
            trace=finding.trace,
            note=text_of(sent, "note", default="").strip() or None,
        )
        after = keep(diagnosed, [decision])
        bench.keep_diagnosed(after)
    return _answer(after, finding, forward=True)


def undo(request: Request, sent: Sent) -> Response:
    """Take back what was decided of one finding: it is a proposal again."""
    bench, by = bench_of(request), _signed(request)
    with bench.deciding:
        diagnosed, finding = _found(bench, sent)
        conflict = _meanwhile(finding, sent, by)
        if conflict is not None:
            return conflict
        if finding.status == "proposed":
            return _answer(diagnosed, finding, forward=False)
        held = Decision(
            query_id=finding.query_id,
            item=finding.item,
            lost_at=finding.lost_at,
            kind=finding.kind,
            proposed=finding.proposed,
            by=finding.by or by,
            when=finding.when or "",
            trace=finding.trace,
        )
        after = keep(diagnosed, [], removed=[held])
        bench.keep_diagnosed(after)
    return _answer(after, finding, forward=False)


def key_of(finding: Finding) -> str:
    """Return a short name of a finding that can stand in a link, whatever its ids are made of."""
    told = f"{finding.query_id}\0{finding.item}\0{finding.lost_at}"
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _signed(request: Request) -> str:
    by = who(request)
    if not by:
        raise InputError("decisions need a name beside them", fix="give yours at /name")
    return by


def _found(bench: Workbench, sent: Sent) -> tuple[Diagnosed, Finding]:
    diagnosed = bench.diagnosed(text_of(sent, "run"))
    findings = diagnosed.diagnosis.findings
    return diagnosed, findings[_position(findings, text_of(sent, "miss"))]


def _meanwhile(finding: Finding, sent: Sent, by: str) -> Response | None:
    """Return the answer to somebody whose page shows less than there is: the other's word stands."""
    seen = sent.get("seen") or None
    if finding.when == seen or finding.by == by:
        return None
    said = "nothing any more" if finding.by is None else f"{finding.kind or 'unexplained'} ({finding.by})"
    error = f"somebody else has looked meanwhile: {said}; open the miss again"
    return JSONResponse({"error": error, "code": "conflict"}, 409)


def _answer(diagnosed: Diagnosed, finding: Finding, *, forward: bool) -> Response:
    findings, run_id = diagnosed.diagnosis.findings, diagnosed.evaluation.run.id
    at = _position(findings, key_of(finding))
    following = [one for one in [*findings[at + 1 :], *findings[:at]] if _is_open(one)]
    to = following[0] if forward and following else findings[at]
    return JSONResponse({"saved": key_of(finding), "next": _link(run_id, to)})


def _position(findings: tuple[Finding, ...], key: str) -> int:
    for at, one in enumerate(findings):
        if key_of(one) == key:
            return at
    raise InputError(
        "there is no such miss in this run; it may be found now",
        fix="reload the page: what it shows has changed",
    )


def _first_open(findings: tuple[Finding, ...]) -> int:
    return next((at for at, one in enumerate(findings) if _is_open(one)), 0)


def _is_open(finding: Finding) -> bool:
    return finding.status == "proposed" or finding.stale


def _window(findings: tuple[Finding, ...], at: int) -> tuple[Finding, ...]:
    """Return what the list shows: all, or as many as it can around the one that is open."""
    start = max(0, min(at - _MOST_LISTED // 2, len(findings) - _MOST_LISTED))
    return findings[start : start + _MOST_LISTED]


def _link(run_id: str, finding: Finding) -> str:
    return link("/misses", run=run_id, miss=key_of(finding))


def _evidence(diagnosed: Diagnosed, finding: Finding) -> MissedQuery:
    """Return one finding with its passage and the hits of the prompt."""
    alone = replace(diagnosed, diagnosis=replace(diagnosed.diagnosis, findings=(finding,)))
    return missed_queries(alone, 1)[0]
