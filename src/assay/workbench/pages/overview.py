"""The first page: how the set is, what the last run said, what waits for a person."""

from __future__ import annotations

from collections import Counter

from starlette.requests import Request
from starlette.responses import Response

from assay.building.standing import standings
from assay.flows.check import Checked
from assay.flows.evaluate import Evaluation
from assay.model.findings import Waterfall
from assay.workbench.asked import bench_of, who
from assay.workbench.bench import Workbench
from assay.workbench.labelling import open_pools, tasks
from assay.workbench.rendering import render

_MOST_RUNS = 12
_MOST_REMARKS = 12
_ORDER = {"error": 0, "warning": 1, "note": 2}


def page(request: Request) -> Response:
    """Show what there is and what there is to do."""
    bench, by = bench_of(request), who(request)
    runs = bench.runs()
    latest = bench.evaluation(runs[0].id) if runs else None
    checked = bench.check(wait=False)
    listed = tasks(bench, open_pools(bench), by)
    held = bench.labels.snapshot()
    people = [row for row in held.judgements if row.origin == "person"]
    return render(
        request,
        "overview.html",
        runs=runs[:_MOST_RUNS],
        more_runs=max(0, len(runs) - _MOST_RUNS),
        latest=latest,
        headline=None if latest is None else _headline(latest),
        fall=None if latest is None else _fall(bench, latest),
        checked=checked,
        remarks=() if checked is None else _remarks(checked),
        severities=Counter[str]() if checked is None else Counter(one.severity for one in checked.findings),
        finished=sum(one.finished for one in listed),
        to_label=len(listed),
        drafts=len(bench.labels.drafts(undecided=True)),
        labels=len(people),
        own=sum(row.by == by for row in people),
        names=len({row.by for row in people}),
        conflicts=sum(one.conflict for one in standings(people, held.decisions)),
        jobs=bench.jobs.running(),
        failed=bench.jobs.failed(),
        shown_at=bench.labels.shown,
    )


def _headline(evaluation: Evaluation) -> tuple[tuple[str, float | None, float | None, int], ...]:
    """Name the measures of a run: (measure, mean, ceiling, queries)."""
    return tuple(
        (name, average.mean, average.ceiling, average.n)
        for name, average in evaluation.summary.measures.items()
    )


def _fall(bench: Workbench, evaluation: Evaluation) -> Waterfall | None:
    falls = bench.diagnosed(evaluation.run.id).diagnosis.waterfall
    return falls[0] if falls and falls[0].queries else None


def _remarks(checked: Checked) -> list[tuple[str, str, str | None]]:
    """Take the gravest remarks of the check: (severity, sentence, fix)."""
    ordered = sorted(checked.findings, key=lambda one: _ORDER.get(one.severity, len(_ORDER)))
    return [
        (one.severity, one.text if one.query_id is None else f"{one.query_id}: {one.text}", one.fix)
        for one in ordered[:_MOST_REMARKS]
    ]
