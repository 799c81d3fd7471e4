"""Scores of a run's stages: which measures, at which cuts, in which unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.matching import judge
from assay.measures.batch import ceilings, score
from assay.measures.family import Measure
from assay.measures.spec import parse_measure, parse_measures
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


Columns = Mapping[str, Mapping[int, Measure]]
"""Column -> the k of a query -> the measure that it gets in that column."""


def stage_measures(evaluation: Evaluation, stage: StageTable) -> Columns:
    """Return the measures of a stage: all of the project's for the final one, else recall.

    An earlier stage has recall at the cut and at its own depth.
    """
    if stage is evaluation.run.final:
        return cut_columns(evaluation, evaluation.project.measure.names)
    return cut_columns(evaluation, ["recall", f"recall@{stage_depth(evaluation, stage)}"])


def cut_columns(evaluation: Evaluation, names: Sequence[str]) -> Columns:
    """Name the columns by the run's k, and give each the measure at every k that some kind has."""
    base = evaluation.run.k
    ks = sorted({base, *evaluation.cuts.values()})
    columns: dict[str, dict[int, Measure]] = {}
    for name in names:
        (column,) = headline_measures([name], base)
        columns.setdefault(str(column), {k: headline_measures([name], k)[0] for k in ks})
    return columns


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
    columns: Columns,
    *,
    unit: Unit | None = None,
) -> ScoreTable:
    """Score one stage of a run.

    Where kinds have a k of their own, the measures of the run's k name the columns, and each query has the
    value at the k of its kind.
    """
    golden = evaluation.prepared.golden
    judged = judge(stage, evaluation.run, evaluation.relevance, golden, unit or evaluation.unit)
    every = list(dict.fromkeys(measure for by_k in columns.values() for measure in by_k.values()))
    values = _by_cut(evaluation, score(judged, every), columns)
    best = _by_cut(evaluation, ceilings(judged, every), columns)
    relevance = evaluation.relevance.by_query
    meta = sorted({name for query in golden.queries for name in query.meta})
    return ScoreTable(
        query_ids=judged.query_ids,
        values=values,
        ceilings=best,
        groups={
            "kind": tuple(query.kind for query in golden.queries),
            "split": tuple(query.split for query in golden.queries),
            **{name: tuple(query.meta.get(name) for query in golden.queries) for name in meta},
        },
        unwinnable=np.array(
            [
                query.id in relevance and relevance[query.id].labelled and not relevance[query.id].winnable
                for query in golden.queries
            ]
        ),
    )


def _by_cut(evaluation: Evaluation, scores: Mapping[str, Floats], columns: Columns) -> dict[str, Floats]:
    base = evaluation.run.k
    result = {column: np.array(scores[str(by_k[base])]) for column, by_k in columns.items()}
    for place, query in enumerate(evaluation.prepared.golden.queries):
        k = evaluation.cuts.get(query.id, base)
        if k != base:
            for column, by_k in columns.items():
                result[column][place] = scores[str(by_k[k])][place]
    return result
