"""How deep what is relevant stands at every stage: ranks in bins, and recall at one cut after the other.

Rooms: diagnosis (ranks), measures (through ``scoring``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.diagnosis.ranks import stage_ranks
from assay.flows.evaluate import Evaluation
from assay.flows.scoring import cut_columns, score_stage, stage_depth
from assay.model.report import RankBin, RankHistogram, RecallCurves, StageCurve, StageRanks
from assay.model.runs import StageTable
from assay.model.summary import ALL

STEPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
"""Cuts at which recall is drawn, up to the depth of each stage; the project's own k is always one."""


def rank_histogram(evaluation: Evaluation) -> RankHistogram:
    """Count the relevant chunks of all queries by their rank at each stage, however deep it is known."""
    run = evaluation.run
    pairs = [
        (run.query_position[one.query_id], run.chunks.position[chunk])
        for one in evaluation.relevance.queries
        if one.query_id in run.query_position
        for chunk, grade in one.chunk_grades.items()
        if grade > 0 and chunk in run.chunks.position
    ]
    columns = np.array(pairs, np.int64).reshape(-1, 2).T
    ranks = {
        stage.name: stage_ranks(stage, columns[0], columns[1], n_chunks=len(run.chunks))
        for stage in run.stages
    }
    deepest = max([run.k, *(int(found.max(initial=0)) for found in ranks.values())])
    bins = rank_bins(run.k, deepest)
    edges = np.array([one.first for one in bins], np.int64)
    stages: list[StageRanks] = []
    for stage in run.stages:
        found = ranks[stage.name]
        known = np.searchsorted(edges, found[found > 0], side="right") - 1
        counts = np.bincount(known, minlength=len(bins))
        stages.append(
            StageRanks(
                stage=stage.name,
                role=stage.role,
                depth=int(np.diff(stage.offsets).max(initial=0)),
                counts=tuple(counts.tolist()),
                absent=int((found == 0).sum()),
            )
        )
    return RankHistogram(bins=bins, stages=tuple(stages), chunks=len(pairs))


def rank_bins(k: int, deepest: int) -> tuple[RankBin, ...]:
    """Cut ranks into bins that grow with depth, with an edge behind k.

    >>> [(one.first, one.last) for one in rank_bins(10, 250)]
    [(1, 1), (2, 3), (4, 10), (11, 30), (31, 100), (101, 300)]
    """
    lasts = {1, 3, k}
    last = 10
    while max(lasts) < deepest:
        lasts |= {last, 3 * last}
        last *= 10
    ends = [*sorted(one for one in lasts if one < deepest), min(one for one in lasts if one >= deepest)]
    firsts = [1, *(end + 1 for end in ends)]
    return tuple(
        RankBin(first=first, last=end, within_cut=end <= k) for first, end in zip(firsts, ends, strict=False)
    )


def recall_curves(evaluation: Evaluation) -> RecallCurves:
    """Return recall at one cut after the other for every stage, in the unit of the headline."""
    run, summary = evaluation.run, evaluation.summary
    curves: list[StageCurve] = []
    limit: dict[int, float | None] = {}
    for stage in run.stages:
        ks = _cuts(run.k, run.k if stage is run.final else stage_depth(evaluation, stage))
        columns = cut_columns(evaluation, [f"recall@{k}" for k in ks])
        table = score_stage(evaluation, stage, columns)
        averages = [table.average(f"recall@{k}") for k in ks]
        limit |= {k: average.ceiling for k, average in zip(ks, averages, strict=True)}
        curves.append(
            StageCurve(
                stage=stage.name, role=stage.role, ks=ks, recall=tuple(average.mean for average in averages)
            )
        )
    pool, held = _bounding(run.stages), None
    if pool is not None:
        whole = {stage.name: stage.recall[ALL].mean or 0.0 for stage in summary.stages}
        held = whole[pool]
        later = [stage.name for stage in run.stages if stage.role not in ("list", "pool")]
        if any(whole[name] > held for name in later):
            pool, held = None, None  # somebody's own pipeline, whose stages do not hand on what they hold
    return RecallCurves(
        curves=tuple(curves),
        k=run.k,
        pool=pool,
        pool_recall=held,
        limit=tuple(sorted(limit.items())),
    )


def _bounding(stages: Sequence[StageTable]) -> str | None:
    """Name the stage that hands on all that a later one can rank: the pool, or the one list there is."""
    pool = next((stage.name for stage in stages if stage.role == "pool"), None)
    if pool is None and len(stages) > 1 and sum(stage.role == "list" for stage in stages) == 1:
        return stages[0].name
    return pool


def _cuts(k: int, depth: int) -> tuple[int, ...]:
    return tuple(sorted({step for step in STEPS if step < depth} | {depth} | ({k} if k <= depth else set())))
