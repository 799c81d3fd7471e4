"""assay golden pool and assay golden split, as they are called."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.cli import run
from assay.flows.golden_labels import project_labels
from assay.flows.golden_log import import_log
from assay.flows.golden_pool import Pooling, PoolWishes, pool_project, read_variant
from assay.flows.project import load_project
from assay.model.errors import ConfigError, InputError
from assay.model.golden import Query
from assay.model.labels import Decision, Judgement
from assay.store.golden import load_golden
from small_project import make_project

Told = Callable[..., dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


@pytest.fixture
def told(folder: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    def call(*arguments: str) -> dict[str, Any]:
        capsys.readouterr()
        assert run(["golden", arguments[0], str(folder), *arguments[1:], "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def pooled(folder: Path, **wishes: Any) -> Pooling:
    return pool_project(load_project(folder), PoolWishes(depth=2, **wishes))


def test_three_retrievers_are_pooled_by_default_and_stored_once(folder: Path, told: Told):
    first = told("pool", "--depth", "2")
    assert len(first["sources"]) == 3
    assert first["queries"] == 2  # q3 has no answer
    told("pool", "--depth", "2")
    with project_labels(load_project(folder)) as labels:
        pools = labels.pools(name="pool")
    assert [pool.query_id for pool in pools] == ["q1", "q2"]
    assert all(pool.candidates for pool in pools)
    verdict = first["verdict"]
    assert verdict["queries"] == 2
    assert all(one["worst"] <= one["measured"] <= one["best"] for one in verdict["retrievers"])


def test_stored_runs_and_variants_are_pooled_by_name(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["run", str(folder)]) == 0
    capsys.readouterr()
    found = pooled(folder, runs=("latest",), variants=("chunker.max_chars=200 pipeline.reranker=none",))
    assert found.sources == ("latest", "chunker.max_chars=200 pipeline.reranker=none")
    assert all(
        candidate.ranks.keys() <= set(found.sources) for pool in found.pools for candidate in pool.candidates
    )


def test_judgements_count_and_what_people_say_has_no_answer_is_left_out(folder: Path):
    first = pooled(folder)
    pool = next(pool for pool in first.pools if pool.query_id == "q1")
    before = next(one for one in first.verdict.retrievers)
    with project_labels(load_project(folder)) as labels:
        labels.add_judgements(
            [
                Judgement(query_id="q1", doc_id=one.doc_id, start=one.start, end=one.end, grade=0.0, by="ada")
                for one in pool.candidates
            ]
        )
        labels.decide([Decision(subject="q2", verdict="unanswerable", by="ada")])
    second = pooled(folder)
    after = next(one for one in second.verdict.retrievers if one.name == before.name)
    assert {pool.query_id for pool in second.pools} == {"q1"}
    assert before.judged is not None
    assert before.judged < 1.0
    assert after.judged == 1.0


def test_queries_of_a_log_are_pooled_before_they_are_in_the_set(folder: Path):
    (folder / "log.csv").write_text("query\nhow are parcels sent\nzzz qqq\n", encoding="utf-8")
    project = load_project(folder)
    job = import_log(project, folder / "log.csv").job
    only = pooled(folder, jobs=(job,))
    assert {pool.query for pool in only.pools} == {"how are parcels sent", "zzz qqq"}
    every = pooled(folder)
    assert len(every.pools) == 4
    assert every.verdict.open_queries == 2


def test_only_the_labels_that_decide_are_pooled_when_they_are_asked_for(folder: Path):
    found = pooled(folder, only_next=True, measure="precision@2")
    asked = {(label.query_id, label.place) for label in found.verdict.next_labels}
    assert {pool.name for pool in found.pools} <= {"pool next"}
    shown = {(pool.query_id, one.place) for pool in found.pools for one in pool.candidates}
    assert shown <= asked


def test_what_cannot_be_pooled_is_told(folder: Path):
    with pytest.raises(InputError, match="below the cut"):
        pooled(folder, measure="recall@5")
    with pytest.raises(ConfigError, match="has no value"):
        read_variant("pipeline.reranker")
    rows = [{"id": "q1", "query": "Who?", "answerable": False}]
    (folder / "golden.jsonl").write_text(json.dumps(rows[0]), encoding="utf-8")
    with pytest.raises(InputError, match="no query to pool"):
        pooled(folder)


def test_the_terminal_says_what_is_unknown(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["golden", "pool", str(folder), "--depth", "2", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "an unjudged hit is unknown, not wrong" in shown
    assert "worst case" in shown
    with project_labels(load_project(folder)) as labels:
        assert labels.pools() == ()


def test_a_split_is_written_on_the_lines_of_the_file_and_is_kept(folder: Path, told: Told):
    before = load_golden(folder / "golden.jsonl")
    report = told("split", "--share", "0.34")
    after = load_golden(folder / "golden.jsonl")
    assert {query.id: query.split for query in after.queries} == report["parts"]
    assert report["changed"] == 3
    assert sum(part == "heldout" for part in report["parts"].values()) == 1
    assert [strip(query) for query in after.queries] == [strip(query) for query in before.queries]
    again = told("split", "--share", "0.9")
    assert (again["changed"], again["kept"]) == (0, 3)
    assert told("split", "--share", "0.9", "--fresh", "--dry-run")["changed"] > 0
    assert load_golden(folder / "golden.jsonl").digest == after.digest


def strip(query: Query) -> tuple[object, ...]:
    return (query.id, query.text, query.kind, query.anchors, query.answerable)


def test_a_split_tells_its_balance(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["golden", "split", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "held-out" in shown
    assert "3 groups, the largest of 1 query; wanted 30.0%, seed 0" in shown
    assert run(["golden", "split", str(folder), "--share", "1.5"]) == 2
    assert "not between 0 and 1" in capsys.readouterr().err
