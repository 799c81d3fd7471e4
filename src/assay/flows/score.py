"""``assay score``: runs against judgements, from files to means.

``run + qrels -> batches -> Judged -> measures -> ScoredRun``. Rooms: store (runs and judgements in
other people's forms), measures (values, ceilings, what ties could change).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.measures.batch import ceilings, score
from assay.measures.family import Measure
from assay.measures.spec import parse_measures
from assay.model.notices import Notice
from assay.model.relevance import Judged, JudgedRows
from assay.model.scored import Scorecard, ScoredRun
from assay.model.scores import Average, ScoreTable
from assay.store.rankings.ahead import meanwhile
from assay.store.rankings.batch import Duplicates
from assay.store.rankings.ids import Positions
from assay.store.rankings.judgements import Judgements
from assay.store.rankings.meet import Meeting, Rules
from assay.store.rankings.ordering import Ties
from assay.store.rankings.reading import Met, meet_run, read_judgements
from assay.store.rankings.sources import Form, Readable, Source, open_run
from assay.store.rankings.stretches import distinct

if TYPE_CHECKING:
    from assay.flows.compat import Manner, Tool

Floats = NDArray[np.float64]

MEASURES = ("nDCG@10", "recall@10", "recall@100", "RR", "AP")
"""What is measured when nothing is asked for."""
_MANY = 1 << 16
"""Judgements that are worth a thread."""
NONE = "(none)"
"""The group of queries that have no value in the column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """How runs are scored; the defaults are SEMANTICS in full."""

    measures: Sequence[str] = MEASURES
    ties: Ties | None = None
    """None: as trec_eval for TREC files, in the order given for everything else."""
    duplicates: Duplicates = "error"
    judged_only: bool = False
    """Leave unjudged documents out of the lists."""
    lenient: bool = False
    """Leave broken rows out, saying so."""
    by: Sequence[str] = ()
    """Columns to group by: of the judgements, or of ``queries``."""
    queries: Path | None = None
    """A file with more columns of the queries: a golden set, JSONL, CSV, TSV or Parquet."""
    compat: str | None = None
    """Score as this tool would."""
    run_form: Form | None = None
    qrels_form: Form | None = None
    cache: Path | None = None
    """A folder for coded runs: scoring a run again is then a matter of its judged rows."""


def score_runs(runs: Sequence[Source], qrels: Source, scoring: Scoring | None = None) -> Scorecard:
    """Score runs against judgements.

    The mean of each measure is over the judged queries: one that the run lacks scores 0, one with nothing
    relevant has no value and is counted.

    Args:
        runs: paths, mappings, frames or iterables of records; scored one after the other.
        qrels: judgements, in any of these forms.
        scoring: what is measured, and how.

    Raises:
        InputError: a file is broken (all faults, with their lines), a measure is unknown, or a run shares no
            query with the judgements.

    >>> qrels = {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 1}}
    >>> card = score_runs([{"q1": {"d1": 0.9, "d7": 0.5}}], qrels, Scoring(measures=["R@10", "RR"]))
    >>> {name: average.mean for name, average in card.runs[0].means.items()}
    {'R@10': 0.25, 'RR': 0.5}
    """
    scoring = scoring or Scoring()
    measures = parse_measures(scoring.measures)
    tool, printed = _as_asked(scoring.compat, measures)
    # while the judgements are read, the first run is begun already
    first = [_opened(run, scoring).begun() for run in runs[:1]]
    judgements = read_judgements(
        qrels, form=scoring.qrels_form, duplicates=scoring.duplicates, lenient=scoring.lenient
    )
    if tool is not None:
        judgements = _whole_grades(judgements)
    groups: dict[str, tuple[str | None, ...]] = {}
    if scoring.by:
        from assay.flows.groups import group_columns  # noqa: PLC0415 - as above

        groups = group_columns(judgements, scoring.by, scoring.queries)
    best = dict[str, Floats] if tool is not None else _best(judgements, measures)
    return Scorecard(
        judgements=judgements.name,
        runs=tuple(
            _scored(run, judgements, measures, best, groups, scoring, tool)
            for run in chain(first, (_opened(run, scoring) for run in runs[1:]))
        ),
        measures=tuple(map(str, measures)),
        tool=None if tool is None else tool.name,
        printed=printed,
        notices=judgements.notices,
    )


def _best(judgements: Judgements, measures: Sequence[Measure]) -> Callable[[], dict[str, Floats]]:
    """Return what gives the ceilings; those of many judgements are made while the first run is read."""

    def make() -> dict[str, Floats]:
        return ceilings(judgements.best_lists(), measures)

    if len(judgements) >= _MANY:
        return meanwhile(make)
    made = make()
    return lambda: made


def _as_asked(compat: str | None, measures: Sequence[Measure]) -> tuple[Tool | None, dict[str, str]]:
    """Return the tool that is asked for, and the name of each measure in print."""
    if compat is None:
        return None, {str(measure): str(measure) for measure in measures}
    from assay.flows.compat import find_tool, names_in  # noqa: PLC0415 - small files are scored before it loads

    tool = find_tool(compat)
    return tool, names_in(tool, measures)


def _opened(run: Source, scoring: Scoring) -> Readable:
    readable = open_run(run, form=scoring.run_form)
    if scoring.cache is None or readable.quick:
        return readable
    from assay.store.rankings.cache import with_cache  # noqa: PLC0415 - small files are scored before it loads

    return with_cache(readable, scoring.cache)


def _scored(
    run: Readable,
    judgements: Judgements,
    measures: Sequence[Measure],
    best: Callable[[], dict[str, Floats]],
    groups: Mapping[str, tuple[str | None, ...]],
    scoring: Scoring,
    tool: Tool | None,
) -> ScoredRun:
    rules = Rules(
        ties=scoring.ties or run.ties,
        duplicates=scoring.duplicates,
        judged_only=scoring.judged_only,
    )
    if tool is None:
        met = meet_run(run, judgements, rules, lenient=scoring.lenient)
        values = score(met.meeting.judged, measures)
    else:
        met, values = _as_tool(run, judgements, measures, rules, scoring, tool)
    table = ScoreTable(query_ids=judgements.query_ids, values=values, ceilings=best(), groups=groups)
    means = {name: table.average(name) for name in values}
    tied, tie_notice = _ties(run.name, met.meeting, measures, table, means) if tool is None else ({}, None)
    return ScoredRun(
        name=run.name,
        table=table,
        means=means,
        counts=_counts(met.meeting, judgements),
        by={column: _by(table, cells) for column, cells in groups.items()},
        tied=tied,
        notices=(*met.notices, *([tie_notice] if tie_notice else [])),
    )


def _as_tool(
    run: Readable,
    judgements: Judgements,
    measures: Sequence[Measure],
    rules: Rules,
    scoring: Scoring,
    tool: Tool,
) -> tuple[Met, dict[str, Floats]]:
    """Score by the rules of a tool: NaN leaves a query out of the mean, as the tool would."""
    met: dict[Rules, Met] = {}
    values: dict[str, Floats] = {}
    for measure in measures:
        manner: Manner = tool.manner(measure)
        own = replace(manner.rules, duplicates=rules.duplicates, judged_only=rules.judged_only)
        if own not in met:
            met[own] = meet_run(run, judgements, own, lenient=scoring.lenient)
        judged = met[own].meeting.judged
        column = np.nan_to_num(score(judged, [measure])[str(measure)], nan=0.0)
        answered = np.ones(len(column), np.bool_) if judged.answered is None else judged.answered
        values[str(measure)] = np.where(answered, column, np.nan if manner.over == "answered" else 0.0)
    return next(iter(met.values())), values


def _whole_grades(judgements: Judgements) -> Judgements:
    """Cut fractions off the grades, as tools that read whole numbers do."""
    whole = np.trunc(judgements.grades)
    changed = int(np.count_nonzero(whole != judgements.grades))
    if not changed:
        return judgements
    text = f"{judgements.name}: {changed} grades are fractions; the tool reads their whole part"
    return replace(
        judgements,
        grades=whole,
        notices=(*judgements.notices, Notice(code="fractional-grades", text=text)),
    )


def _counts(meeting: Meeting, judgements: Judgements) -> dict[str, int]:
    judged = meeting.judged
    answered = 0 if judged.answered is None else int(judged.answered.sum())
    return {
        "queries": len(judged.query_ids),
        "answered": answered,
        "missing": len(judged.query_ids) - answered,
        "extra": len(meeting.extra),
        "nothing_relevant": int(np.count_nonzero(judgements.relevant == 0)),
        "hits": int(judged.retrieved.sum()),
        "judged": len(judged.found.query),
        "relevant": len(judged.ideal.query),
        "found": int(np.count_nonzero(judged.found.grade > 0)),
    }


def _by(table: ScoreTable, cells: Sequence[str | None]) -> dict[str, dict[str, Average]]:
    names = dict.fromkeys(cell if cell is not None else NONE for cell in cells)
    place = {name: position for position, name in enumerate(names)}
    codes = np.array([place[cell if cell is not None else NONE] for cell in cells], np.int64)
    return {
        name: {measure: table.average(measure, codes == position) for measure in table.measures}
        for name, position in place.items()
    }


def _ties(
    run: str,
    meeting: Meeting,
    measures: Sequence[Measure],
    table: ScoreTable,
    means: Mapping[str, Average],
) -> tuple[dict[str, tuple[float, float]], Notice | None]:
    """Return the range of each mean over tie orders, where there is one, and the sentence about it."""
    if meeting.first is meeting.last:
        return {}, None
    tied = distinct(meeting.judged.found.query[meeting.first != meeting.last].astype(np.intp))
    if not len(tied):
        return {}, None
    from assay.measures.ties import TieGroups, tie_range  # noqa: PLC0415 - where nothing ties, nothing loads

    part, rows = _part(meeting.judged, tied)
    groups = TieGroups(first=meeting.first[rows].astype(np.int64), last=meeting.last[rows].astype(np.int64))
    spread = tie_range(part, groups, measures)
    changed = np.zeros(len(tied), np.bool_)
    ranges: dict[str, tuple[float, float]] = {}
    for name, one in spread.items():
        if not one.changed.any():
            continue
        changed |= one.changed
        mean, values = means[name], table.values[name][tied]
        low, high = (_mean_with(mean, values, ends) for ends in (one.worst, one.best))
        if low is not None and high is not None:
            ranges[name] = (low, high)
    if not ranges:
        return {}, None
    names = _names(meeting.judged, tied[changed])
    shown = "; ".join(f"{name} {low:.6f} to {high:.6f}" for name, (low, high) in ranges.items())
    text = f"{run}: equal scores change a measure in {len(names):,} of {len(table.query_ids):,} queries"
    return ranges, Notice(code="ties", text=f"{text}; by their order, {shown}", ids=names)


def _mean_with(mean: Average, values: Floats, ends: Floats) -> float | None:
    """Return a mean in which some of its values are replaced."""
    if mean.mean is None:
        return None
    moved = ends - values
    return mean.mean + math.fsum(moved[~np.isnan(moved)].tolist()) / mean.n


def _names(judged: Judged, queries: Positions) -> tuple[str, ...]:
    places: list[int] = queries.tolist()
    return tuple(judged.query_ids[place] for place in places)


def _part(judged: Judged, queries: Positions) -> tuple[Judged, NDArray[np.intp]]:
    """Return the judged rows of some queries, and which of the found rows they are."""
    place = np.full(len(judged.query_ids), -1, np.int32)
    place[queries] = np.arange(len(queries))

    def rows_of(rows: JudgedRows) -> tuple[JudgedRows, NDArray[np.intp]]:
        chosen = np.flatnonzero(place[rows.query] >= 0)
        return (
            JudgedRows(query=place[rows.query[chosen]], rank=rows.rank[chosen], grade=rows.grade[chosen]),
            chosen,
        )

    found, chosen = rows_of(judged.found)
    part = Judged(
        query_ids=_names(judged, queries),
        found=found,
        ideal=rows_of(judged.ideal)[0],
        retrieved=judged.retrieved[queries],
        nonrelevant=None if judged.nonrelevant is None else judged.nonrelevant[queries],
        negative=None if judged.negative is None else judged.negative[queries],
    )
    return part, chosen
