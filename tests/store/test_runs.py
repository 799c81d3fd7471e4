"""Stored runs: whole or not there, equal bytes for equal runs, and clear words for what is broken."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.model.errors import StoreError
from assay.model.runs import ChunkTable, Run, StageTable
from assay.store import atomic
from assay.store import runs as runs_module
from assay.store.run_form import manifest_schema, timings_schema
from assay.store.run_tables import content_id
from assay.store.runs import RunStore

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


def small_run(**changes: Any) -> Run:
    """Two queries, three chunks; the second query failed in the first stage."""
    chunks = ChunkTable(
        ids=("a.md#0-5", "b.md#0-9", "web-1"),
        doc_ids=("a.md", "b.md", "web"),
        starts=np.array([0, 0, -1]),
        ends=np.array([5, 9, -1]),
        texts=(None, None, "found on the web"),
    )
    listed = StageTable(
        name="vector",
        role="list",
        offsets=np.array([0, 2, 2]),
        chunks=np.array([1, 0], dtype=np.int32),
        scores=np.array([0.25, np.nan]),
        errors={1: "timed out"},
        elapsed_ms=np.array([1.5, 20.0]),
        deep_query=np.array([0], dtype=np.int32),
        deep_chunk=np.array([2], dtype=np.int32),
        deep_rank=np.array([4_000_000_000]),
    )
    final = StageTable(
        name="final",
        role="final",
        offsets=np.array([0, 1, 2]),
        chunks=np.array([1, 2], dtype=np.int32),
        scores=np.array([2.0, -np.inf]),
    )
    run = Run(
        id="",
        name="house",
        pipeline={"k": 10, "stages": ["vector"], "weight": np.float64(0.5)},
        pipeline_digest="p" * 16,
        golden_digest="g" * 16,
        corpus_digest="c" * 16,
        k=10,
        query_ids=("q1", "q2"),
        chunks=chunks,
        stages=(listed, final),
        seed=7,
        meta={"window": 256},
    )
    return replace(run, **changes)


def ticking() -> Callable[[], datetime]:
    """Return a clock that goes forward one minute each time it is looked at."""
    hands = iter(range(1_000_000))
    return lambda: datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=next(hands))


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if "timings" not in path.name}


def test_a_run_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    run = small_run()
    store = RunStore(tmp_path / "runs")
    loaded = store.load(store.save(run))
    assert loaded.id == content_id(run)
    assert (loaded.name, loaded.k, loaded.seed) == ("house", 10, 7)
    assert loaded.pipeline == {"k": 10, "stages": ["vector"], "weight": 0.5}
    assert loaded.meta == {"window": 256}
    assert loaded.query_ids == run.query_ids
    assert (loaded.chunks.ids, loaded.chunks.doc_ids) == (run.chunks.ids, run.chunks.doc_ids)
    assert loaded.chunks.texts == run.chunks.texts
    np.testing.assert_array_equal(loaded.chunks.starts, [0, 0, -1])
    for stored, given in zip(loaded.stages, run.stages, strict=True):
        assert (stored.name, stored.role, stored.errors) == (given.name, given.role, given.errors)
        for column in ("offsets", "chunks", "scores", "deep_query", "deep_chunk", "deep_rank"):
            array = getattr(stored, column)
            np.testing.assert_array_equal(array, getattr(given, column))
            assert array.dtype == StageTable.__annotations__[column].split("np.")[1].rstrip("]")
    vector, final = loaded.stages
    assert vector.elapsed_ms is not None
    assert vector.elapsed_ms.tolist() == [1.5, 20.0]
    assert final.elapsed_ms is None
    assert loaded.trace("q1") == replace(run, id=loaded.id).trace("q1")
    assert content_id(loaded) == loaded.id


def test_timings_of_runs_that_were_saved_as_parquet_are_read_until_the_run_is_made_again(
    tmp_path: Path,
) -> None:
    store = RunStore(tmp_path)
    place = tmp_path / store.save(small_run())
    (place / "timings.jsonl").unlink()
    pl.DataFrame({"0 vector": [1.5, float("nan")]}).write_parquet(place / "timings.parquet")
    old = store.load().stages[0].elapsed_ms
    assert old is not None
    np.testing.assert_array_equal(old, [1.5, np.nan])
    store.save(small_run())
    assert not (place / "timings.parquet").exists()
    new = store.load().stages[0].elapsed_ms
    assert new is not None
    assert new.tolist() == [1.5, 20.0]


def test_a_time_that_is_not_known_comes_back_so(tmp_path: Path) -> None:
    run = small_run()
    store = RunStore(tmp_path)
    unknown = replace(run.stages[0], elapsed_ms=np.array([np.nan, 0.1 + 0.2]))
    place = tmp_path / store.save(replace(run, stages=(unknown, run.stages[1])))
    stored = store.load().stages[0].elapsed_ms
    assert stored is not None
    np.testing.assert_array_equal(stored, [np.nan, 0.1 + 0.2])
    (place / "timings.jsonl").write_text('{"stage": "0 vector"')
    with pytest.raises(StoreError, match=r"the run is damaged: timings\.jsonl"):
        store.load()


def test_a_run_that_is_there_already_is_saved_without_polars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RunStore(tmp_path)
    run_id = store.save(small_run())
    monkeypatch.setitem(sys.modules, "polars", None)  # whoever imports it now fails
    assert store.save(small_run()) == run_id
    with pytest.raises(ImportError):
        store.save(small_run(seed=8))


def test_equal_runs_are_equal_bytes_whatever_they_took(tmp_path: Path) -> None:
    run = small_run()
    slower = replace(run.stages[0], elapsed_ms=np.array([900.0, 1.0]))
    one, two = RunStore(tmp_path / "one"), RunStore(tmp_path / "two")
    first = one.save(run)
    second = two.save(replace(run, stages=(slower, run.stages[1])))
    assert first == second
    assert bytes_of(tmp_path / "one" / first) == bytes_of(tmp_path / "two" / second)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 8},
        {"k": 9},
        {"name": "other"},
        {"query_ids": ("q1", "q3")},
        {"golden_digest": "h" * 16},
        {"pipeline_digest": "h" * 16},
        {"corpus_digest": "h" * 16},
        {"stages": small_run().stages[:1]},
        {"stages": (replace(small_run().stages[0], scores=np.array([0.25, 0.1])), small_run().stages[1])},
        {"stages": (replace(small_run().stages[0], errors={1: "refused"}), small_run().stages[1])},
        {"chunks": replace(small_run().chunks, texts=(None, None, "another text"))},
    ],
)
def test_whatever_changes_the_results_changes_the_id(change: dict[str, Any]) -> None:
    assert content_id(small_run(**change)) != content_id(small_run())


def test_what_is_only_shown_does_not_change_the_id() -> None:
    assert content_id(small_run(meta={"cost": 3}, id="anything")) == content_id(small_run())


def test_saving_again_makes_a_run_the_latest_and_changes_no_result(tmp_path: Path) -> None:
    store = RunStore(tmp_path, clock=ticking())
    first = store.save(small_run())
    second = store.save(small_run(seed=8))
    before = bytes_of(tmp_path / first)
    assert [run.id for run in store.list()] == [first, second]
    assert (store.load().id, store.load("latest~1").id) == (second, first)
    assert store.save(small_run()) == first
    assert [run.id for run in store.list()] == [second, first]
    assert store.load("latest").id == first
    assert bytes_of(tmp_path / first) == before


def test_a_summary_says_what_a_list_shows(tmp_path: Path) -> None:
    store = RunStore(tmp_path, clock=ticking())
    store.save(small_run())
    (summary,) = store.list()
    assert summary.saved_at == datetime(2025, 1, 1, tzinfo=UTC)
    assert (summary.name, summary.k, summary.queries, summary.chunks) == ("house", 10, 2, 3)
    assert summary.stages == ("vector", "final")
    assert (summary.failed, summary.seed) == (1, 7)
    assert summary.elapsed_ms == pytest.approx(21.5)


def test_a_run_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    ids = [store.save(small_run(seed=seed)) for seed in range(20)]
    assert store.load(ids[0][:8]).id == ids[0]
    shared = next(one[0] for one in ids if sum(other[0] == one[0] for other in ids) > 1)
    with pytest.raises(StoreError, match=f"run '{shared}' fits several: "):
        store.load(shared)
    wrong = ids[0][:-1] + ("0" if ids[0][-1] != "0" else "1")
    with pytest.raises(StoreError, match=f"there is no run '{wrong}'\n  fix: did you mean '{ids[0]}'"):
        store.load(wrong)
    with pytest.raises(StoreError, match="there is no run ''"):
        store.load("")
    with pytest.raises(StoreError, match="no run is that far back"):
        store.load("latest~20")


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "nothing")
    assert store.list() == ()
    with pytest.raises(StoreError, match="no run is stored yet\n  fix: assay run"):
        store.load()


def test_changed_missing_and_half_files_are_refused(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    id_ = store.save(small_run())
    place = tmp_path / id_
    whole = (place / "stage-0.parquet").read_bytes()
    (place / "stage-0.parquet").write_bytes(whole[:-9])
    with pytest.raises(StoreError, match=r"the run is damaged: stage-0\.parquet is not what was written"):
        store.load(id_)
    (place / "stage-0.parquet").unlink()
    with pytest.raises(StoreError, match=r"stage-0\.parquet"):
        store.load(id_)
    assert store.list() == ()
    assert store.damaged == {id_: "stage-0.parquet is missing"}
    assert store.save(small_run()) == id_
    assert store.load(id_).query_ids == ("q1", "q2")


@pytest.mark.parametrize("text", ["", "{", '{"form": 1}', "[]", '{"id": "\\ud800"}'])
def test_a_broken_manifest_is_said(tmp_path: Path, text: str) -> None:
    store = RunStore(tmp_path)
    id_ = store.save(small_run())
    (tmp_path / id_ / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=r"the run is damaged: manifest\.json"):
        store.load(id_)
    assert list(store.damaged) == [id_]


def test_a_run_of_a_later_form_is_not_guessed_at(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    id_ = store.save(small_run())
    path = tmp_path / id_ / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"form": 1', '"form": 2'), encoding="utf-8")
    with pytest.raises(StoreError, match="the run is of form 2, and this version of Assay reads form 1"):
        store.load(id_)


def test_a_program_killed_while_saving_leaves_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = atomic.write_bytes

    def killed(path: Path, data: bytes) -> None:
        if path.name == "stage-1.parquet":
            raise KeyboardInterrupt
        real(path, data)

    monkeypatch.setattr(runs_module, "write_bytes", killed)
    store = RunStore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        store.save(small_run())
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    (tmp_path / ".partial-left-by-a-kill").mkdir()
    store.save(small_run())
    assert len(store.list()) == 1


def test_settings_that_are_no_json_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    for wrong in ({"model": object()}, {"weight": float("nan")}):
        with pytest.raises(StoreError, match="the run's settings are no JSON values"):
            RunStore(tmp_path).save(small_run(pipeline=wrong))
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_queries_hits_or_stages_is_stored_too(tmp_path: Path) -> None:
    empty = ChunkTable(ids=(), doc_ids=(), starts=np.zeros(0, np.int64), ends=np.zeros(0, np.int64), texts=())
    run = small_run(query_ids=(), chunks=empty, stages=())
    loaded = RunStore(tmp_path).load(RunStore(tmp_path).save(run))
    assert (loaded.query_ids, loaded.chunks.ids, loaded.stages) == ((), (), ())


def test_the_tables_are_plain_parquet_for_other_tools(tmp_path: Path) -> None:
    id_ = RunStore(tmp_path).save(small_run())
    rows = pl.read_parquet(tmp_path / id_ / "stage-0.parquet").rows()
    assert rows == [(0, 1, 1, 0.25), (0, 2, 0, None)]
    chunks = pl.read_parquet(tmp_path / id_ / "chunks.parquet").rows()
    assert chunks[2] == ("web-1", "web", None, None, "found on the web")


def test_ten_thousand_queries_of_six_lists_come_back_as_they_were(tmp_path: Path) -> None:
    queries, depth, stages, chunks = 10_000, 200, 6, 100_000
    rng = np.random.default_rng(0)
    starts = np.arange(chunks) * 100
    table = ChunkTable(
        ids=tuple(f"doc-{place // 50}#{place}" for place in range(chunks)),
        doc_ids=tuple(f"doc-{place // 50}" for place in range(chunks)),
        starts=starts,
        ends=starts + 100,
        texts=(None,) * chunks,
    )
    lists = tuple(
        StageTable(
            name=f"stage-{number}",
            role="list",
            offsets=np.arange(queries + 1) * depth,
            chunks=rng.integers(0, chunks, queries * depth, dtype=np.int32),
            scores=rng.random(queries * depth),
        )
        for number in range(stages)
    )
    run = small_run(query_ids=tuple(f"q{place}" for place in range(queries)), chunks=table, stages=lists)
    store = RunStore(tmp_path)
    loaded = store.load(store.save(run))
    assert len(loaded.stages[5].chunks) == queries * depth
    np.testing.assert_array_equal(loaded.stages[5].scores, lists[5].scores)


@pytest.mark.parametrize(("file", "made"), [("manifest", manifest_schema), ("timings", timings_schema)])
def test_the_published_schemas_are_current(file: str, made: Callable[[], dict[str, object]]) -> None:
    text = (SCHEMAS / f"{file}.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == made()
