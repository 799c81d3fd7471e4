"""Scores of a run's stages: which measures, at which cuts, in which unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.matching import judge
from assay.measures.batch import ceilings, score
from assay.measures.spec import Measure, parse_measure, parse_measures
from assay.model.errors import InputError
from assay.model.relevance import Unit
from assay.model.runs import StageTable
from assay.model.scores import ScoreTable

if TYPE_CHECKING:
    from assay.flows.evaluate import Evaluation

Floats = NDArray[np.float64]


def headline_measures(names: Sequence[str], k: int) -> tuple[Measure, ...]:
    """Read the measures of a project; one without a cut of its own is cut at k.

    >>> [str(measure) for measure in headline_measures(["recall", "AP@100", "Rprec"], 10)]
    ['recall@10', 'AP@100', 'Rprec']
    """
    return parse_measures(_with_cut(name, k) for name in names)


def _with_cut(name: str, k: int) -> str:
    if "@" in name:
        return name
    try:
        parse_measure(f"{name}@{k}")
    except InputError:
        return name
    return f"{name}@{k}"


def stage_measures(evaluation: Evaluation, stage: StageTable) -> Mapping[int, tuple[Measure, ...]]:
    """Return the measures of a stage by the k of the queries that they are for.

    The final stage gets all of the project's measures, an earlier one recall at the cut and at its own depth.
    """
    project, run = evaluation.project, evaluation.run
    ks = sorted({run.k, *evaluation.cuts.values()})
    if stage is run.final:
        return {k: headline_measures(project.measure.names, k) for k in ks}
    depth = stage_depth(evaluation, stage)
    return {k: parse_measures([f"recall@{k}", f"recall@{depth}"]) for k in ks}


def stage_depth(evaluation: Evaluation, stage: StageTable) -> int:
    """Return how many hits of a stage count: its longest list, and for a first-stage list the pool's size."""
    longest = int(np.diff(stage.offsets).max(initial=0))
    pool = evaluation.run.stage("pool")
    if stage.role == "list" and pool is not None and pool is not stage:
        return max(1, min(longest, stage_depth(evaluation, pool)))
    return max(1, longest)


def score_stage(
    evaluation: Evaluation,
    stage: StageTable,
    measures: Mapping[int, Sequence[Measure]],
    *,
    unit: Unit | None = None,
) -> ScoreTable:
    """Score one stage of a run.

    Where kinds have a k of their own, the measures of the run's k name the columns, and each query has the
    value at the k of its kind.
    """
    golden = evaluation.prepared.golden
    judged = judge(
        stage, evaluation.run, evaluation.relevance, golden, unit or evaluation.project.measure.unit
    )
    values = _by_cut(evaluation, {k: score(judged, list(some)) for k, some in measures.items()}, measures)
    best = _by_cut(evaluation, {k: ceilings(judged, list(some)) for k, some in measures.items()}, measures)
    relevance = evaluation.relevance.by_query
    columns = sorted({column for query in golden.queries for column in query.meta})
    return ScoreTable(
        query_ids=judged.query_ids,
        values=values,
        ceilings=best,
        groups={
            "kind": tuple(query.kind for query in golden.queries),
            "split": tuple(query.split for query in golden.queries),
            **{column: tuple(query.meta.get(column) for query in golden.queries) for column in columns},
        },
        unwinnable=np.array(
            [
                query.id in relevance and relevance[query.id].labelled and not relevance[query.id].winnable
                for query in golden.queries
            ]
        ),
    )


def _by_cut(
    evaluation: Evaluation,
    by_k: Mapping[int, Mapping[str, Floats]],
    measures: Mapping[int, Sequence[Measure]],
) -> dict[str, Floats]:
    base = evaluation.run.k
    result = {name: np.array(column) for name, column in by_k[base].items()}
    names = [str(measure) for measure in measures[base]]
    for place, query in enumerate(evaluation.prepared.golden.queries):
        k = evaluation.cuts.get(query.id, base)
        if k != base:
            for name, other in zip(names, measures[k], strict=True):
                result[name][place] = by_k[k][str(other)][place]
    return result
