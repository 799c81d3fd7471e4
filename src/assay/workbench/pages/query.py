"""One query of a run, laid open: its anchors, every stage of its trace, the arithmetic of its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from assay.flows.evaluate import Evaluation
from assay.flows.explain import explain, show_hit
from assay.flows.summarise import stage_of
from assay.model.errors import InputError
from assay.model.explanation import ShownHit
from assay.workbench.asked import bench_of
from assay.workbench.rendering import Keys, link, render

KEYS: Keys = (("n, p", "next and previous query of the set"),)
_MOST_HITS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One list of the trace, as far as it is shown."""

    name: str
    role: str
    hits: tuple[ShownHit, ...]
    total: int
    elapsed_ms: float | None
    error: str | None


def page(request: Request) -> Response:
    """Lay one query of a run open."""
    bench = bench_of(request)
    if not bench.runs():
        raise InputError("no run is stored yet", fix="assay run")
    evaluation = bench.evaluation(request.query_params.get("run", "latest"))
    ids = evaluation.run.query_ids
    wanted = request.query_params.get("id", ids[0] if ids else "")
    made = explain(evaluation, wanted)
    at = ids.index(wanted)
    run_id = evaluation.run.id
    return render(
        request,
        "query.html",
        keys=KEYS,
        made=made,
        at=at,
        total=len(ids),
        stages=_stages(evaluation, wanted),
        lost_in={
            item.id: None if item.loss.lost_at is None else stage_of(evaluation.run, item.loss.lost_at)
            for item in made.items
        },
        before=link("/query", run=run_id, id=ids[at - 1]) if at > 0 else None,
        after=link("/query", run=run_id, id=ids[at + 1]) if at + 1 < len(ids) else None,
    )


def _stages(evaluation: Evaluation, query_id: str) -> tuple[Stage, ...]:
    relevance = evaluation.relevance.by_query[query_id]
    return tuple(
        Stage(
            name=stage.name,
            role=stage.role,
            hits=tuple(show_hit(evaluation, relevance, hit) for hit in stage.hits[:_MOST_HITS]),
            total=len(stage.hits),
            elapsed_ms=stage.elapsed_ms,
            error=stage.error,
        )
        for stage in evaluation.run.trace(query_id).stages
    )
