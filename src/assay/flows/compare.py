"""``assay compare``: runs side by side, paired by query.

Stored runs of a project are measured against its golden set as it is now; run files against judgements.
Rooms: store (runs, run files), comparison (pairs, matrix), and the flows that score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.comparison.matrix import compare_many
from assay.comparison.measured import cut_table
from assay.comparison.paired import compare_tables
from assay.flows.evaluate import Evaluation, evaluation_of
from assay.flows.looks import HELDOUT, record_look
from assay.flows.prepare import prepare
from assay.flows.project import Project
from assay.flows.score import Scoring, score_runs
from assay.model.comparison import Comparison, Matrix, SideBySide
from assay.model.errors import InputError
from assay.model.golden import Query
from assay.model.notices import Notice
from assay.model.scores import ScoreTable
from assay.store.rankings.sources import Source
from assay.store.runs import RunStore

TOP = 10
"""Hits of each list that are shown for a query that moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What of two or more runs is compared."""

    measures: Sequence[str] | None = None
    """None: every measure that all of them have."""
    by: str | None = "kind"
    split: str | None = None
    """``dev``, ``heldout``, or None for every query."""
    seed: int = 0
    alpha: float = 0.05
    lists: int = 10
    """Queries that moved whose lists are shown."""


def compare_runs(project: Project, base: str, candidate: str, asked: Asked | None = None) -> Comparison:
    """Compare two stored runs of a project.

    Args:
        project: the project; both runs are measured against its golden set as it is now.
        base: an id, the beginning of one, ``latest`` or ``latest~1``.
        candidate: likewise.
        asked: what is compared.

    Raises:
        InputError: the runs share no query or no measure.
        StoreError: there is no such run.
    """
    asked = asked or Asked()
    evaluations, tables, notices = _measured(project, [base, candidate], asked)
    first, second = tables.values()
    names = tuple(tables)
    comparison = compare_tables(
        first,
        second,
        asked.measures,
        by=asked.by,
        seed=asked.seed,
        alpha=asked.alpha,
        names=(names[0], names[1]),
    )
    return replace(
        comparison,
        lists=_lists(comparison, evaluations[0], evaluations[1], asked.lists),
        notices=(*comparison.notices, *notices),
    )


def compare_all_runs(project: Project, runs: Sequence[str], asked: Asked | None = None) -> Matrix:
    """Compare several stored runs of a project, each with each, over all queries together.

    Raises:
        InputError: the runs share no query or no measure.
        StoreError: there is no such run.
    """
    asked = asked or Asked()
    _, tables, notices = _measured(project, runs, asked)
    matrix = compare_many(tables, asked.measures, seed=asked.seed, alpha=asked.alpha)
    return replace(matrix, notices=(*matrix.notices, *notices))


def compare_files(
    base: Source,
    candidate: Source,
    qrels: Source,
    asked: Asked | None = None,
    scoring: Scoring | None = None,
) -> Comparison:
    """Compare two run files (or mappings, or frames) under the same judgements.

    Args:
        base: the run that stands.
        candidate: the run that may replace it.
        qrels: the judgements.
        asked: what is compared; ``by`` is a column that ``scoring`` groups by.
        scoring: how both are scored.

    Raises:
        InputError: a file is broken, or the runs share no query or no measure.

    >>> qrels = {f"q{n}": {"d1": 1} for n in range(6)}
    >>> base = {f"q{n}": {"d2": 2.0, "d1": 1.0} for n in range(6)}
    >>> candidate = {f"q{n}": {"d1": 2.0} for n in range(6)}
    >>> asked = Asked(measures=["RR"], by=None)
    >>> print(compare_files(base, candidate, qrels, asked).rows[0].sentence)
    RR went 0.50 to 1.00 (+0.50, 95 % interval +0.50 to +0.50, p 0.031) on 6 queries: 6 gained, 0 lost,
    0 same.
    """
    asked = asked or Asked(by=None)
    tables, notices = _scored([base, candidate], qrels, asked, scoring)
    first, second = tables.values()
    names = tuple(tables)
    comparison = compare_tables(
        first, second, None, by=asked.by, seed=asked.seed, alpha=asked.alpha, names=(names[0], names[1])
    )
    return replace(comparison, notices=(*comparison.notices, *notices))


def compare_all_files(
    runs: Sequence[Source], qrels: Source, asked: Asked | None = None, scoring: Scoring | None = None
) -> Matrix:
    """Compare several run files under the same judgements, each with each.

    Raises:
        InputError: a file is broken, or the runs share no query or no measure.
    """
    asked = asked or Asked(by=None)
    tables, notices = _scored(runs, qrels, asked, scoring)
    matrix = compare_many(tables, None, seed=asked.seed, alpha=asked.alpha)
    return replace(matrix, notices=(*matrix.notices, *notices))


def _scored(
    runs: Sequence[Source], qrels: Source, asked: Asked, scoring: Scoring | None
) -> tuple[dict[str, ScoreTable], tuple[Notice, ...]]:
    scoring = scoring or Scoring()
    if asked.measures is not None:
        scoring = replace(scoring, measures=asked.measures)
    if asked.by is not None and asked.by not in scoring.by:
        scoring = replace(scoring, by=[*scoring.by, asked.by])
    card = score_runs(runs, qrels, scoring)
    names = _distinct([run.name for run in card.runs])
    notices = (*card.notices, *(notice for run in card.runs for notice in run.notices))
    tables = {name: run.table for name, run in zip(names, card.runs, strict=True)}
    return tables, tuple(dict.fromkeys(notices))


def _measured(
    project: Project, runs: Sequence[str], asked: Asked
) -> tuple[list[Evaluation], dict[str, ScoreTable], list[Notice]]:
    prepared = prepare(project)
    store = RunStore(project.home / "runs")
    loaded = [store.load(run) for run in runs]
    evaluations = [evaluation_of(prepared, run) for run in loaded]
    names = _distinct([f"{run.name} {run.id}" for run in loaded])
    notices: list[Notice] = []
    for name, run in zip(names, loaded, strict=True):
        if run.golden_digest != prepared.golden.digest:
            text = f"{name}: the golden set has changed since this run was made"
            notices.append(Notice(code="golden-changed", text=text))
        if run.corpus_digest != prepared.corpus.digest:
            text = f"{name}: the documents have changed since this run was made"
            notices.append(Notice(code="corpus-changed", text=text))
    held = {query.id for query in prepared.golden.queries if query.split == HELDOUT}
    wanted = _wanted(prepared.golden.queries, asked.split)
    tables = {
        name: _answered(evaluation, wanted) for name, evaluation in zip(names, evaluations, strict=True)
    }
    if held & wanted:
        ids = [run.id for run in loaded]
        notices.append(record_look(project, prepared.golden, by="compare", runs=ids))
    return evaluations, tables, notices


def _wanted(queries: Sequence[Query], split: str | None) -> set[str]:
    if split is None:
        return {query.id for query in queries}
    chosen = {query.id for query in queries if query.split == split}
    if not chosen:
        known = sorted({query.split for query in queries if query.split is not None})
        raise InputError(
            f"no query is in split {split!r}",
            fix=f"the golden set has {', '.join(known) or 'no splits'}",
        )
    return chosen


def _answered(evaluation: Evaluation, wanted: set[str]) -> ScoreTable:
    """Return the final scores of the wanted queries that this run was asked."""
    asked = evaluation.run.query_position
    table = evaluation.scores
    rows = [row for row, query in enumerate(table.query_ids) if query in asked and query in wanted]
    return cut_table(table, np.array(rows, dtype=np.int64))


def _lists(
    comparison: Comparison, base: Evaluation, candidate: Evaluation, most: int
) -> tuple[SideBySide, ...]:
    """Return both lists of the queries that moved most, over all measures."""
    furthest: dict[str, float] = {}
    for moved in comparison.moved.values():
        for query in moved:
            furthest[query.query_id] = max(furthest.get(query.query_id, 0.0), abs(query.difference))
    chosen = sorted(furthest, key=lambda query: (-furthest[query], query))[:most]
    queries = {query.id: query for query in base.prepared.golden.queries}
    return tuple(
        SideBySide(
            query_id=query,
            text=" ".join(queries[query].text.split()),
            kind=queries[query].kind,
            base=base.run.trace(query).final.hits[:TOP],
            candidate=candidate.run.trace(query).final.hits[:TOP],
            relevant=_relevant(base, query) | _relevant(candidate, query),
        )
        for query in chosen
    )


def _relevant(evaluation: Evaluation, query: str) -> frozenset[str]:
    grades: Mapping[str, float] = evaluation.relevance.by_query[query].chunk_grades
    return frozenset(chunk for chunk, grade in grades.items() if grade > 0)


def _distinct(names: Sequence[str]) -> list[str]:
    """Number names that stand more than once."""
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return result
