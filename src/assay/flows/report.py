"""``assay report``: one run laid open, for people who were not there.

``Evaluation -> Diagnosis (-> trials) -> figures with intervals, ranks, curves, misses -> ReportPage``.
Rooms: stats (intervals), diagnosis (through ``diagnose``: findings, waterfall, trials), comparison (through
``compare``: what moved against a baseline), store (versions); ``depths`` and ``misses`` beside this file.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from assay.flows.compare import Asked, compare_runs
from assay.flows.depths import rank_histogram, recall_curves
from assay.flows.diagnose import Diagnosed, diagnose_evaluation
from assay.flows.evaluate import Evaluation, evaluate, load_evaluation
from assay.flows.misses import missed_queries
from assay.flows.project import Project
from assay.model.comparison import Comparison
from assay.model.findings import PLACES, LostAt
from assay.model.report import Figure, KindRow, Making, ReportPage
from assay.stats.bootstrap import mean_interval
from assay.store.runs import RunStore

Progress = Callable[[str, int, int], None]
MOST_SHOWN = 300
"""Misses whose passages and hits a report holds; the others keep their places, ranks and evidence."""
DRAWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a report holds beside the run itself."""

    baseline: str | None = None
    """A stored run to compare with: an id, the beginning of one, ``latest~1``."""
    trials: bool = False
    """Whether fixes are tried; this runs the pipeline again."""
    passages: int = MOST_SHOWN
    """Misses that are shown with their passages."""


def report(
    project: Project,
    run_id: str | None = None,
    wanted: Wanted | None = None,
    *,
    progress: Progress | None = None,
) -> ReportPage:
    """Lay a stored run open; the latest, or a new one where none is stored.

    Raises:
        InputError: a file or a setting is wrong, or the baseline shares no query with the run.
        StoreError: there is no such run.
    """
    wanted = wanted or Wanted()
    store = RunStore(project.home / "runs")
    if run_id is not None or store.list():
        evaluation = load_evaluation(project, run_id or "latest")
    else:
        evaluation = evaluate(project, progress=progress)
    comparison: Comparison | None = None
    if wanted.baseline is not None:
        # Every query that moved by the headline is listed; both lists are shown of those that moved most.
        comparison = compare_runs(project, wanted.baseline, evaluation.run.id, Asked(seed=project.seed))
        wanted = replace(wanted, baseline=store.find(wanted.baseline))
    diagnosed = diagnose_evaluation(evaluation, trials=wanted.trials, progress=progress)
    page = report_page(diagnosed, comparison=comparison, passages=wanted.passages)
    making = replace(
        page.making,
        command=_command(evaluation, wanted),
        versions=store.versions(evaluation.run.id),
    )
    return replace(page, making=making)


def report_page(
    diagnosed: Diagnosed, *, comparison: Comparison | None = None, passages: int = MOST_SHOWN
) -> ReportPage:
    """Compose the page of a run that is measured and diagnosed already.

    Args:
        diagnosed: the run.
        comparison: against a baseline.
        passages: misses that are shown with their passages, evenly over kinds and places of loss.
    """
    evaluation, diagnosis = diagnosed.evaluation, diagnosed.diagnosis
    summary, run = evaluation.summary, evaluation.run
    lost: Counter[LostAt] = Counter(finding.lost_at for finding in diagnosis.findings)
    places: list[LostAt] = [place for place in PLACES if lost[place]]
    most = max(places, key=lambda place: lost[place], default=None)
    return ReportPage(
        summary=summary,
        diagnosis=diagnosis,
        figures=tuple(_figure(evaluation, measure) for measure in summary.measures),
        kinds=_kinds(evaluation),
        ranks=rank_histogram(evaluation),
        curves=recall_curves(evaluation),
        misses=missed_queries(diagnosed, passages),
        most_lost=None if most is None else (most, lost[most]),
        making=Making(
            command=f"assay report {run.id}",
            versions={},
            digests=summary.digests,
            settings=run.pipeline,
            seed=run.seed,
        ),
        comparison=comparison,
        draws=DRAWS,
    )


def _command(evaluation: Evaluation, wanted: Wanted) -> str:
    words = ["assay", "report", evaluation.run.id]
    if wanted.baseline is not None:
        words += ["--baseline", wanted.baseline]
    if wanted.trials:
        words.append("--try")
    if wanted.passages != MOST_SHOWN:
        words += ["--passages", str(wanted.passages)]
    return shlex.join(words)


def _figure(evaluation: Evaluation, measure: str, kind: str | None = None) -> Figure:
    table = evaluation.scores
    mask = None if kind is None else table.where("kind", kind)
    values = table.values[measure] if mask is None else table.values[measure][mask]
    rng = np.random.default_rng(evaluation.project.seed)
    return Figure(
        measure=measure,
        average=table.average(measure, mask),
        interval=mean_interval(values[~np.isnan(values)], rng, draws=DRAWS),
    )


def _kinds(evaluation: Evaluation) -> tuple[KindRow, ...]:
    summary = evaluation.summary
    first, *others = summary.measures
    asked = Counter(query.kind for query in evaluation.prepared.golden.queries)
    missed = Counter(miss.kind for miss in summary.misses)
    return tuple(
        KindRow(
            kind=kind,
            k=summary.k_by_kind.get(kind, summary.k),
            queries=asked[kind],
            misses=missed[kind],
            headline=_figure(evaluation, first, kind),
            others=tuple(values[name] for name in others),
        )
        for kind, values in summary.by_kind.items()
    )
