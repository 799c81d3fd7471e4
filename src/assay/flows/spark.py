"""Scoring on Apache Spark: the same kernel, one call a batch, equal bit for bit to the local engine.

Runs and judgements are shuffled once, by query, so that each query's judgements stand before its run in
one partition. A batch of Arrow rows may end inside a query: its rows are carried into the next. No
query is ever collected, and none is grouped by Spark itself. Rooms: store (where a run meets the
judgements), measures (the kernel).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from assay.flows.score import Scoring
from assay.measures.batch import score as kernel
from assay.measures.family import Measure
from assay.measures.spec import parse_measures
from assay.model.errors import Fault, InputError, MissingExtraError
from assay.model.scored import Scorecard, ScoredRun
from assay.model.scores import ScoreTable
from assay.store.rankings import columns
from assay.store.rankings.batch import Duplicates, RepeatedError, batch_of
from assay.store.rankings.ids import FrameDocs
from assay.store.rankings.judgements import Judgements
from assay.store.rankings.meet import Meet, Rules

if TYPE_CHECKING:
    import polars as pl

DataFrame: TypeAlias = Any
"""``pyspark.sql.DataFrame``: PySpark is an extra, and its types are not there without it."""
ArrowTable: TypeAlias = Any
ArrowBatch: TypeAlias = Any
"""``pyarrow.RecordBatch``: pyarrow comes with the extra, and has no types."""

BATCH_ROWS = 1 << 18
"""Rows that are gathered before the kernel is called; a query that has more is a call of its own."""
_COUNTS = ("_answered", "_hits", "_judged", "_relevant", "_found")


def score(
    run: DataFrame,
    qrels: DataFrame,
    measures: Sequence[str],
    *,
    duplicates: Duplicates = "error",
    judged_only: bool = False,
    partitions: int | None = None,
) -> DataFrame:
    """Score a run that is a Spark table; return one row a judged query, one column a measure.

    The values are those of ``score_runs`` to the bit; null means undefined. Equal scores stand by document
    id down (``--ties trec``), because a Spark table has no order of its own. Queries without judgements are
    left out; a judged query that the run lacks scores 0.

    Args:
        run: columns for query, document and score, under any of their usual names.
        qrels: columns for query, document and grade.
        measures: as in ``nDCG@10``.
        duplicates: a document that stands twice for a query fails the job, or is folded.
        judged_only: leave unjudged documents out of the lists.
        partitions: how many parts the queries are spread over; by default as the session says.

    Raises:
        InputError: a measure is unknown, or a column is missing.
        MissingExtraError: PySpark, or what it needs for this, is not installed.
    """
    return _scores(run, qrels, measures, _rules(duplicates, judged_only=judged_only), partitions).drop(
        *_COUNTS
    )


def score_files(runs: Sequence[Path], qrels: Path, scoring: Scoring) -> Scorecard:
    """Score Parquet files or folders on the active Spark session (or a new one) and gather the values.

    Raises:
        InputError: a file or a measure is wrong, or an option is asked for that Spark runs do not have.
        MissingExtraError: PySpark, or what it needs for this, is not installed.
    """
    unlike = [
        Fault(where="--engine spark", what=f"{name} is not there on this engine", fix="--engine local")
        for name, asked in (
            ("--ties given", scoring.ties == "given"),
            ("--compat", scoring.compat is not None),
            ("--by", bool(scoring.by)),
            ("--lenient", scoring.lenient),
        )
        if asked
    ]
    if unlike:
        raise InputError(unlike)
    session = _session()
    measures = parse_measures(scoring.measures)
    rules = _rules(scoring.duplicates, judged_only=scoring.judged_only)
    judgements = session.read.parquet(str(qrels))
    names = [str(measure) for measure in measures]
    tables = [
        _scores(session.read.parquet(str(run)), judgements, names, rules, None).toArrow() for run in runs
    ]
    return Scorecard(
        judgements=str(qrels),
        runs=tuple(_gathered(str(run), table, names) for run, table in zip(runs, tables, strict=True)),
        measures=tuple(names),
        printed={name: name for name in names},
    )


def _rules(duplicates: Duplicates, *, judged_only: bool) -> Rules:
    return Rules(ties="trec", duplicates=duplicates, judged_only=judged_only)


def _scores(
    run: DataFrame, qrels: DataFrame, measures: Sequence[str], rules: Rules, partitions: int | None
) -> DataFrame:
    sql = _pyspark("functions")
    names = [str(measure) for measure in parse_measures(measures)]
    query, doc, number = columns.needed(run.columns, "the run", judgements=False)
    if number is None:
        raise InputError(
            "the run has no column for the score",
            fix="a Spark table has no order of its own: name it 'score'",
        )
    rows = run.select(
        sql.col(f"`{query}`").cast("string").alias("query"),
        sql.lit(True).alias("retrieved"),
        sql.col(f"`{doc}`").cast("string").alias("doc"),
        sql.col(f"`{number}`").cast("double").alias("score"),
    )
    query, doc, number = columns.needed(qrels.columns, "the judgements", judgements=True)
    judged = qrels.select(
        sql.col(f"`{query}`").cast("string").alias("query"),
        sql.lit(False).alias("retrieved"),
        sql.col(f"`{doc}`").cast("string").alias("doc"),
        sql.col(f"`{number}`").cast("double").alias("score"),
    )
    both = judged.unionByName(rows)
    spread = both.repartition("query") if partitions is None else both.repartition(partitions, "query")
    together = spread.sortWithinPartitions("query", "retrieved", sql.desc("score"))
    fields = [f"`{name}` double" for name in names] + [f"`{name}` long" for name in _COUNTS]

    def work(batches: Iterator[ArrowBatch]) -> Iterator[ArrowBatch]:
        return score_batches(batches, names, rules)

    return together.mapInArrow(work, f"query string, {', '.join(fields)}")


def score_batches(
    batches: Iterable[ArrowBatch], measures: Sequence[str], rules: Rules
) -> Iterator[ArrowBatch]:
    """Score one partition: rows of query, retrieved, doc and score, the rows of each query together.

    Raises:
        InputError: a document stands twice for a query, or an id is empty.
    """
    import polars as pl  # noqa: PLC0415 - runs on the workers

    parsed = parse_measures(measures)
    held: list[pl.DataFrame] = []
    for batch in batches:
        held.append(cast("pl.DataFrame", pl.from_arrow(batch)))
        if sum(frame.height for frame in held) < BATCH_ROWS:
            continue
        frame = pl.concat(held)
        last = frame.height - int(frame["query"].rle().struct.field("len")[-1])
        held = [frame[last:]]
        if last:
            yield from _scored(frame[:last], parsed, rules)
    if held:
        yield from _scored(pl.concat(held), parsed, rules)


def _scored(frame: pl.DataFrame, measures: Sequence[Measure], rules: Rules) -> Iterator[ArrowBatch]:
    import polars as pl  # noqa: PLC0415 - runs on the workers

    pa: Any = import_module("pyarrow")

    if sum(frame.null_count().row(0)):
        raise InputError("a query, a document or a number is null", fix="fill it in, or leave the row out")
    ids = pl.col("query", "doc")
    if any(frame.select((ids.str.normalize("NFC") != ids).any()).row(0)):
        raise InputError(
            "an id is not composed (NFC)", fix="compose ids first: Spark has shuffled them as they are"
        )
    judgements = _judgements(frame.filter(~pl.col("retrieved")))
    if judgements is None:
        return
    meet = Meet(judgements, rules)
    run = frame.filter(pl.col("retrieved"))
    try:
        if run.height:
            meet.add(batch_of(run))
    except RepeatedError as error:
        pairs = "; ".join(f"document {doc!r} for query {query!r}" for query, doc in error.pairs[:5])
        raise InputError(
            f"{len(error.pairs)} repeated rows in the run: {pairs}",
            fix="duplicates='first' or 'best' folds them",
        ) from error
    judged = meet.meeting().judged
    values = kernel(judged, measures)
    found = judged.found
    n = len(judged.query_ids)
    counts = {
        "_answered": np.zeros(n, np.int64) if judged.answered is None else judged.answered.astype(np.int64),
        "_hits": judged.retrieved,
        "_judged": np.bincount(found.query, minlength=n),
        "_relevant": judgements.relevant,
        "_found": np.bincount(found.query[found.grade > 0], minlength=n),
    }
    arrays: list[Any] = [pa.array(judged.query_ids, pa.string())]
    arrays += [pa.array(column, pa.float64(), mask=np.isnan(column)) for column in values.values()]
    arrays += [pa.array(column, pa.int64()) for column in counts.values()]
    yield pa.RecordBatch.from_arrays(arrays, names=["query", *values, *counts])


def _judgements(frame: pl.DataFrame) -> Judgements | None:
    if not frame.height:
        return None
    batch = batch_of(frame)
    if batch.scores is None or not np.isfinite(batch.scores).all():
        raise InputError("judgements: a grade is no finite number", fix="fill it in, or leave the row out")
    keys = frame.select("query", "doc")
    if keys.is_duplicated().any():
        twice = keys.filter(keys.is_duplicated()).row(0)
        raise InputError(
            f"judgements: document {twice[1]!r} is judged twice for query {twice[0]!r}",
            fix="leave one of the rows out",
        )
    return Judgements(
        name="judgements",
        query_ids=tuple(batch.queries),
        query=np.repeat(np.arange(len(batch.queries), dtype=np.int32), batch.lengths),
        docs=FrameDocs(frame["doc"]),
        grades=batch.scores,
    )


def _gathered(name: str, table: ArrowTable, measures: Sequence[str]) -> ScoredRun:
    table = table.sort_by("query")
    values = {measure: table[measure].to_numpy().astype(np.float64) for measure in measures}
    counts = {count: int(table[count].to_numpy().sum()) for count in _COUNTS}
    scores = ScoreTable(query_ids=tuple(table["query"].to_pylist()), values=values)
    return ScoredRun(
        name=name,
        table=scores,
        means={measure: scores.average(measure) for measure in measures},
        counts={
            "queries": len(table),
            "answered": counts["_answered"],
            "missing": len(table) - counts["_answered"],
            "hits": counts["_hits"],
            "judged": counts["_judged"],
            "relevant": counts["_relevant"],
            "found": counts["_found"],
        },
    )


def _session() -> Any:  # noqa: ANN401 - a SparkSession
    session = _pyspark("session").SparkSession.builder.appName("assay score").getOrCreate()
    if "PYSPARK_PYTHON" not in os.environ and "SPARK_REMOTE" not in os.environ:
        context = session.sparkContext
        if context.master.startswith("local"):
            context.pythonExec = sys.executable  # not whichever python3 comes first, which lacks Assay
    return session


def _pyspark(module: str) -> Any:  # noqa: ANN401 - a module
    for package in ("pyspark", "pandas", "pyarrow"):  # PySpark asks for the others only when it is at work
        if find_spec(package) is None:
            raise MissingExtraError("--engine spark", package=package, extra="spark")
    return import_module(f"pyspark.sql.{module}")
