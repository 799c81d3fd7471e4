"""From a measured run to the page that every report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.diagnosis.losses import by_query
from assay.flows.beside import budget_recall, span_scores
from assay.flows.judge_licence import unvalidated
from assay.flows.scoring import cut_columns, score_stage, stage_depth, stage_measures
from assay.model.findings import ItemLoss, LostAt
from assay.model.golden import Query
from assay.model.relevance import Unit
from assay.model.runs import Run, StageTable
from assay.model.scores import Average, ScoreTable
from assay.model.summary import ALL, Miss, StageSummary, Summary, Surfaced

if TYPE_CHECKING:
    from assay.flows.evaluate import Evaluation

Mask = NDArray[np.bool_]
UNITS: tuple[Unit, ...] = ("chunk", "anchor", "document")


def summarise(evaluation: Evaluation) -> Summary:
    """Return what one measured run says."""
    project, run, golden = evaluation.project, evaluation.run, evaluation.prepared.golden
    table = evaluation.scores
    kinds = {kind: table.where("kind", kind) for kind in golden.all_kinds}
    return Summary(
        run_id=run.id,
        name=project.name,
        golden_name=golden.name,
        k=run.k,
        k_by_kind=dict(project.measure.k_by_kind),
        unit=evaluation.unit,
        kinds=golden.all_kinds,
        measures=_averages(table),
        by_kind={kind: _averages(table, mask) for kind, mask in kinds.items()},
        winnable=_averages(table, ~_unwinnable(table)),
        units=_other_units(evaluation),
        spans=span_scores(evaluation),
        budgets=budget_recall(evaluation),
        stages=_stages(evaluation, kinds),
        misses=_misses(evaluation),
        unanswerable=_surfaced(evaluation),
        counts=_counts(evaluation),
        unwinnable=_why_unwinnable(evaluation),
        failed={run.query_ids[at]: why for at, why in run.final.errors.items()},
        digests={
            "corpus": run.corpus_digest,
            "golden": run.golden_digest,
            "pipeline": run.pipeline_digest,
            "run": run.id,
        },
        pipeline=run.pipeline,
        seed=run.seed,
        notices=evaluation.notices,
    )


def _unwinnable(table: ScoreTable) -> Mask:
    return np.zeros(len(table.query_ids), np.bool_) if table.unwinnable is None else table.unwinnable


def _averages(table: ScoreTable, mask: Mask | None = None) -> dict[str, Average]:
    return {name: table.average(name, mask) for name in table.measures}


def _other_units(evaluation: Evaluation) -> dict[str, dict[str, Average]]:
    stage = evaluation.run.final
    measures = stage_measures(evaluation, stage)
    return {
        unit: _averages(score_stage(evaluation, stage, measures, unit=unit))
        for unit in UNITS
        if unit != evaluation.unit
    }


def _stages(evaluation: Evaluation, kinds: Mapping[str, Mask]) -> tuple[StageSummary, ...]:
    lost: dict[str, int] = {}
    for loss in evaluation.losses:
        stage = stage_of(evaluation.run, loss.lost_at)
        if stage is not None:
            lost[stage] = lost.get(stage, 0) + 1
    return tuple(
        _stage_summary(evaluation, stage, kinds, lost.get(stage.name, 0)) for stage in evaluation.run.stages
    )


def _stage_summary(
    evaluation: Evaluation, stage: StageTable, kinds: Mapping[str, Mask], lost: int
) -> StageSummary:
    k = evaluation.run.k
    final = stage is evaluation.run.final
    depth = k if final else stage_depth(evaluation, stage)
    table = evaluation.tables[stage.name]
    if final and f"recall@{k}" not in table.values:
        table = score_stage(evaluation, stage, cut_columns(evaluation, ["recall"]))
    masks: dict[str, Mask | None] = {ALL: None, **kinds}
    return StageSummary(
        name=stage.name,
        role=stage.role,
        depth=depth,
        recall={name: table.average(f"recall@{depth}", mask) for name, mask in masks.items()},
        recall_at_k={name: table.average(f"recall@{k}", mask) for name, mask in masks.items()},
        lost=lost,
    )


def stage_of(run: Run, lost_at: LostAt | None) -> str | None:
    """Name the stage of a run in which an item was lost; None when it was lost before any, or never."""
    role = {
        "fusion": "pool",
        "pool cut": "pool",
        "reranker": "rerank",
        "diversity": "diversify",
        "final cut": "final",
        "token budget": "final",
    }.get(lost_at or "")
    found = next((stage.name for stage in run.stages if stage.role == role), None)
    if found is None and lost_at in ("first stage", "retriever error"):
        # The lists of a first stage share their losses; they are told at the stage that joins them.
        found = next((stage.name for stage in run.stages if stage.role != "list"), run.final.name)
    return found


def _misses(evaluation: Evaluation) -> tuple[Miss, ...]:
    queries = {query.id: query for query in evaluation.prepared.golden.queries}
    return tuple(
        _miss(queries[query_id], losses)
        for query_id, losses in by_query(evaluation.losses).items()
        if not all(loss.found for loss in losses)
    )


def _miss(query: Query, losses: Sequence[ItemLoss]) -> Miss:
    missing = [loss for loss in losses if not loss.found]
    first = missing[0]
    assert first.lost_at is not None
    return Miss(
        query_id=query.id,
        kind=query.kind,
        text=" ".join(query.text.split()),
        lost_at=first.lost_at,
        detail=first.detail,
        items=tuple(loss.item_id for loss in missing),
        of=len(losses),
        ranks=first.ranks,
    )


def _surfaced(evaluation: Evaluation) -> Surfaced | None:
    run = evaluation.run
    tops: dict[bool, list[float]] = {True: [], False: []}
    without = surfaced = 0
    for query in evaluation.prepared.golden.queries:
        at = run.query_position.get(query.id)
        span = run.final.hits_of(at) if at is not None else slice(0, 0)
        without += not query.answerable
        if span.stop > span.start:
            surfaced += not query.answerable
            top = float(run.final.scores[span.start])
            if not np.isnan(top):
                tops[query.answerable].append(top)
    if not without:
        return None
    return Surfaced(
        queries=without,
        surfaced=surfaced,
        top_scores=tuple(sorted(tops[False], reverse=True)),
        answerable_top_scores=tuple(sorted(tops[True], reverse=True)),
    )


def _counts(evaluation: Evaluation) -> dict[str, int]:
    golden, table = evaluation.prepared.golden, evaluation.scores
    first = table.average(table.measures[0])
    return {
        "documents": len(evaluation.prepared.corpus),
        "chunks": len(evaluation.run.chunks),
        "queries": len(golden.queries),
        "scored": first.n,
        "undefined": first.undefined,
        "unwinnable": int(_unwinnable(table).sum()),
        "unanswerable": sum(not query.answerable for query in golden.queries),
        "failed": len(evaluation.run.final.errors),
        "items": len(evaluation.losses),
        "found": sum(loss.found for loss in evaluation.losses),
        "unvalidated": len(unvalidated(evaluation.project, golden)),
    }


def _why_unwinnable(evaluation: Evaluation) -> dict[str, str]:
    table = evaluation.scores
    reasons: dict[str, str] = {}
    for query_id, never in zip(table.query_ids, _unwinnable(table).tolist(), strict=True):
        if never:
            lost = evaluation.relevance.by_query[query_id].lost
            reasons[query_id] = ", ".join(dict.fromkeys(lost.values())) or "no chunk is relevant"
    return reasons
