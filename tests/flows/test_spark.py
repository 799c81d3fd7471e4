"""Spark in local mode with several workers: equal bit for bit to the local engine, skew and split batches."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay
from assay.flows.score import Scoring, score_runs
from assay.flows.spark import score, score_batches, score_files
from assay.model.errors import InputError, MissingExtraError
from assay.store.rankings.meet import Rules

MEASURES = ["nDCG@10", "recall@10", "recall@100", "RR", "AP", "bpref"]


def made(*, queries: int, longest: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make a run with ties and one long list, and judgements with a query that the run lacks."""
    random = np.random.default_rng(7)
    lengths = [longest, *random.integers(1, 60, queries - 1).tolist()]
    run = pl.concat(
        pl.DataFrame(
            {
                "query_id": [f"q{number}"] * length,
                "doc_id": [f"d{doc}" for doc in random.permutation(length * 2)[:length].tolist()],
                "score": random.integers(0, max(4, length // 3), length) / 4,
            }
        )
        for number, length in enumerate(lengths)
    )
    chosen = run.filter(
        pl.Series(random.random(run.height) < min(1.0, 400 / run.height)) | (pl.col("doc_id") == "d3")
    )
    qrels = pl.concat(
        [
            chosen.select("query_id", "doc_id", relevance=pl.Series(random.integers(-1, 4, chosen.height))),
            pl.DataFrame({"query_id": ["lost", "q1"], "doc_id": ["d0", "nowhere"], "relevance": [1, 0]}),
        ]
    )
    return run, qrels.unique(["query_id", "doc_id"], maintain_order=True)


def local(run: Any, qrels: Any) -> dict[str, tuple[float | None, ...]]:
    card = score_runs([run], qrels, Scoring(measures=MEASURES, ties="trec"))
    table = card.runs[0].table
    return {query: tuple(table.value(name, query) for name in MEASURES) for query in table.query_ids}


@pytest.mark.parametrize("rows", [1, 7, 64, 100_000])
def test_batches_that_end_inside_a_query_change_nothing(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pa: Any = pytest.importorskip("pyarrow")
    monkeypatch.setattr("assay.flows.spark.BATCH_ROWS", rows)
    run, qrels = made(queries=40, longest=900)
    both = pl.concat(
        [
            qrels.select(
                "query_id", pl.lit(value=False).alias("retrieved"), "doc_id", pl.col("relevance").cast(float)
            ),
            run.select("query_id", pl.lit(value=True).alias("retrieved"), "doc_id", "score").rename(
                {"score": "relevance"}
            ),
        ]
    ).rename({"query_id": "query", "doc_id": "doc", "relevance": "score"})
    table = both.sort("query", "retrieved", maintain_order=True)
    batches = (
        pa.table(table)
        .cast(
            pa.schema(
                [
                    ("query", pa.string()),
                    ("retrieved", pa.bool_()),
                    ("doc", pa.string()),
                    ("score", pa.float64()),
                ]
            )
        )
        .to_batches(max_chunksize=37)
    )
    found: dict[str, tuple[float | None, ...]] = {}
    for batch in score_batches(batches, MEASURES, Rules()):
        columns = [batch.column(name).to_pylist() for name in ("query", *MEASURES)]
        found.update({query: tuple(values) for query, *values in zip(*columns, strict=True)})
    assert found == local(run, qrels)


@pytest.mark.parametrize("package", ["pyspark", "pandas", "pyarrow"])
def test_without_what_spark_needs_the_extra_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> object:
        return None if name == package else object()

    monkeypatch.setattr("assay.flows.spark.find_spec", found)
    with pytest.raises(MissingExtraError, match=rf"'{package}', which .*\n.*retrieval-assay\[spark\]"):
        score_files([Path("run.parquet")], Path("qrels.parquet"), Scoring())


def test_what_this_engine_does_not_have_is_refused_at_once() -> None:
    with pytest.raises(InputError) as error:
        score_files([Path("a")], Path("b"), Scoring(ties="given", compat="beir", by=["kind"]))
    assert len(error.value.faults) == 3


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    pyspark: Any = pytest.importorskip("pyspark.sql")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session: Any = (
        pyspark.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "5")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support")
def test_spark_gives_the_local_engine_s_values_to_the_bit_with_a_query_of_a_million_rows(
    session: Any, tmp_path: Path
) -> None:
    run, qrels = made(queries=200, longest=1_000_000)
    run.write_parquet(tmp_path / "run.parquet")
    qrels.write_parquet(tmp_path / "qrels.parquet")
    frames = [session.read.parquet(str(tmp_path / name)) for name in ("run.parquet", "qrels.parquet")]
    expected = local(tmp_path / "run.parquet", tmp_path / "qrels.parquet")
    for partitions in (1, 7):
        rows: list[Any] = score(frames[0], frames[1], MEASURES, partitions=partitions).collect()
        assert {row["query"]: tuple(row[name] for name in MEASURES) for row in rows} == expected
    card = score_files([tmp_path / "run.parquet"], tmp_path / "qrels.parquet", Scoring(measures=MEASURES))
    same = score_runs(
        [tmp_path / "run.parquet"], tmp_path / "qrels.parquet", Scoring(measures=MEASURES, ties="trec")
    )
    assert {name: average.mean for name, average in card.runs[0].means.items()} == {
        name: average.mean for name, average in same.runs[0].means.items()
    }
    shared = card.runs[0].counts.keys() & same.runs[0].counts.keys()
    assert {key: card.runs[0].counts[key] for key in shared} == {
        key: same.runs[0].counts[key] for key in shared
    }


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support")
def test_a_repeat_fails_the_job_and_names_the_pair(session: Any) -> None:
    run = session.createDataFrame(
        [("q", "a", 1.0), ("q", "a", 2.0)], "query string, doc string, score double"
    )
    qrels = session.createDataFrame([("q", "a", 1)], "query string, doc string, grade int")
    with pytest.raises(Exception, match="1 repeated rows in the run: document 'a' for query 'q'"):
        assay.spark.score(run, qrels, ["RR"]).collect()
    rows = assay.spark.score(run, qrels, ["RR"], duplicates="best").collect()
    assert [row.asDict() for row in rows] == [{"query": "q", "RR": 1.0}]


def batches_of(*rows: tuple[str, bool, str, float | None]) -> list[Any]:
    """Return rows as a worker of Spark gets them: query, whether it was retrieved, document, number."""
    pa: Any = pytest.importorskip("pyarrow")
    kinds = {"query": pa.string(), "retrieved": pa.bool_(), "doc": pa.string(), "score": pa.float64()}
    table = {name: [row[place] for row in rows] for place, name in enumerate(kinds)}
    return pa.table(table, schema=pa.schema(list(kinds.items()))).to_batches()


@pytest.mark.peer
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [("q1", False, "d1", 1.0), ("q1", True, "d1", None)],
            "a query, a document or a number is null\n  fix: fill it in, or leave the row out",
        ),
        (
            [("q1", False, "d1", 1.0), ("q1", True, "e\u0301", 0.5)],
            "an id is not composed (NFC)\n  fix: compose ids first: Spark has shuffled them as they are",
        ),
        (
            [("q1", False, "d1", 1.0), ("q1", True, "d2", 0.5), ("q1", True, "d2", 0.5)],
            (
                "1 repeated rows in the run: document 'd2' for query 'q1'\n"
                "  fix: duplicates='first' or 'best' folds them"
            ),
        ),
        (
            [("q1", False, "d1", float("inf"))],
            "judgements: a grade is no finite number\n  fix: fill it in, or leave the row out",
        ),
        (
            [("q1", False, "d1", 1.0), ("q1", False, "d1", 0.0)],
            "judgements: document 'd1' is judged twice for query 'q1'\n  fix: leave one of the rows out",
        ),
    ],
)
def test_rows_that_cannot_be_scored_are_told_with_their_fix(
    rows: list[tuple[str, bool, str, float | None]], told: str
) -> None:
    with pytest.raises(InputError) as caught:
        list(score_batches(batches_of(*rows), MEASURES, Rules()))
    assert str(caught.value) == told


@pytest.mark.peer
def test_a_run_without_a_score_has_no_order_on_spark(session: Any) -> None:
    run = session.createDataFrame([("q1", "d1")], "query string, doc string")
    qrels = session.createDataFrame([("q1", "d1", 1.0)], "query string, doc string, grade double")
    with pytest.raises(InputError) as caught:
        score(run, qrels, MEASURES)
    assert str(caught.value) == (
        "the run has no column for the score\n  fix: a Spark table has no order of its own: name it 'score'"
    )
