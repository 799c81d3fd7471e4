from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from assay.corpus import chunk_corpus
from assay.flows import rerun
from assay.flows.evaluate import evaluate
from assay.flows.looks import looks_path
from assay.flows.project import load_project
from assay.flows.sweep import sweep
from assay.flows.sweep_files import save_sweep
from assay.flows.sweep_plan import load_plan
from assay.flows.sweep_result import front
from assay.model.errors import ConfigError, InputError, StoreError
from assay.model.sweep import SweepResult
from assay.retrieval import cache, embedding
from assay.retrieval.workers import Workers, local_workers
from assay.store.sweeps import SweepLog
from flows.headed_project import make_headed

VARY = ["max_chars=70,140", "reranker=none,lexical", "context=none,headings"]
STEADY = ("results.json", "results.parquet", "queries.parquet")


def run(
    folder: Path, *vary: str, workers: Workers | None = None, final: bool = False, **said: object
) -> SweepResult:
    project = load_project(folder)
    result = sweep(project, load_plan(project, None, vary or VARY, **said), workers=workers, final=final)
    save_sweep(project, result, "")
    return result


def steady_bytes(folder: Path, result: SweepResult) -> dict[str, bytes]:
    return {name: (folder / result.folder / name).read_bytes() for name in STEADY}


def test_each_configuration_has_the_figures_of_its_own_run(tmp_path: Path):
    result = run(make_headed(tmp_path), measure="recall@2")
    project = load_project(tmp_path)
    assert len(result.rows) == 8
    for row in result.rows:
        summary = evaluate(project.with_settings(row.configuration.changes), save=False).summary
        assert row.averages["chunk recall@2"].mean == summary.measures["recall@2"].mean
        assert row.averages["recall@2"].mean == summary.units["anchor"]["recall@2"].mean
        assert row.averages["char IoU"].mean == summary.spans["IoU"].mean
        assert row.averages["char precision"].mean == summary.spans["precision"].mean
        assert row.spent.chunks == summary.counts["chunks"]


@pytest.mark.parametrize(
    "vary", [VARY, ["pool=4,6", "reranker=none,lexical"]], ids=["chunkers", "one chunker"]
)
def test_one_worker_and_two_give_the_same_bytes(tmp_path: Path, vary: list[str]):
    one, two = make_headed(tmp_path / "one"), make_headed(tmp_path / "two")
    first = run(one, *vary)
    second = run(two, *vary, workers=local_workers(2))
    assert first.id == second.id
    assert steady_bytes(one, first) == steady_bytes(two, second)


def test_a_sweep_that_was_killed_goes_on_and_ends_with_the_same_bytes(tmp_path: Path):
    whole = make_headed(tmp_path / "whole")
    expected = steady_bytes(whole, run(whole))
    killed = make_headed(tmp_path / "killed")
    command = [sys.executable, "-m", "assay", "sweep", "--project", str(killed)]
    command += [part for vary in VARY for part in ("--vary", vary)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    program = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60.0
    log = None
    while time.monotonic() < deadline and program.poll() is None:
        log = next(killed.glob(".assay/sweeps/*/measured.jsonl"), None)
        if log is not None and log.read_bytes().count(b"\n") >= 2:
            program.send_signal(signal.SIGKILL)
            break
        time.sleep(0.005)
    program.wait()
    assert log is not None
    done = log.read_bytes().count(b"\n")
    assert done >= 2
    told: list[tuple[int, int]] = []
    project = load_project(killed)
    result = sweep(
        project, load_plan(project, None, VARY), progress=lambda _, done, of: told.append((done, of))
    )
    save_sweep(project, result, "")
    assert told[0] == (done, 8)  # what was done was not done again
    assert steady_bytes(killed, result) == expected


def test_a_line_that_was_left_half_is_measured_again(tmp_path: Path):
    folder = make_headed(tmp_path)
    before = run(folder)
    expected = steady_bytes(folder, before)
    log = folder / before.folder / "measured.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:5]) + lines[5][: len(lines[5]) // 2])
    assert steady_bytes(folder, run(folder)) == expected
    assert log.read_bytes().count(b"\n") == 8


def test_two_programs_cannot_run_one_sweep_at_once(tmp_path: Path):
    result = run(make_headed(tmp_path))
    log = SweepLog(tmp_path / result.folder, {})
    try:
        with pytest.raises(StoreError, match="another program runs this sweep"):
            run(tmp_path)
    finally:
        log.close()
    assert run(tmp_path).id == result.id


def test_another_seed_or_document_is_another_sweep(tmp_path: Path):
    folder = make_headed(tmp_path)
    first = run(folder)
    assert run(folder, seed=1).id != first.id
    (folder / "docs" / "new.md").write_text("Another page about lanterns.\n")
    assert run(folder).id != first.id


def test_halving_gives_the_same_winner_and_bytes_for_any_workers(tmp_path: Path):
    one, two = make_headed(tmp_path / "one"), make_headed(tmp_path / "two")
    file = tmp_path / "sweep.toml"
    file.write_text(
        'method = "halving"\nmeasure = "recall@2"\n[halving]\nkeep = 0.5\nfewest = 4\n[knobs]\n'
        'max_chars = [70, 140]\nreranker = ["none", "lexical"]\ncontext = ["none", "headings"]\n'
    )

    def halved(folder: Path, workers: Workers) -> SweepResult:
        project = load_project(folder)
        result = sweep(project, load_plan(project, file), workers=workers)
        save_sweep(project, result, "")
        return result

    first, second = halved(one, local_workers(1)), halved(two, local_workers(2))
    assert steady_bytes(one, first) == steady_bytes(two, second)
    # 8, 4 and 2 configurations on 4, 8 and 16 queries.
    assert first.rounds == ((8, 4), (4, 8), (2, 16))
    assert [row.rounds for row in first.rows] == [3, 3, 2, 2, 1, 1, 1, 1]
    assert [len(row.query_ids) for row in first.rows] == [16, 16, 8, 8, 4, 4, 4, 4]
    # Rounds ask new queries only, and put together are what one run over all queries gives.
    whole = run(one, measure="recall@2")
    same = whole.row(first.winner.number)
    assert dict(zip(first.winner.query_ids, first.winner.values["recall@2"], strict=True)) == dict(
        zip(same.query_ids, same.values["recall@2"], strict=True)
    )
    assert any(notice.code == "halving" for notice in first.notices)


def test_headings_in_the_chunks_are_seen_to_be_what_helps(tmp_path: Path):
    result = run(make_headed(tmp_path), measure="recall@2")
    assert result.winner.configuration.labels["chunker.context"] == "headings"
    effect = next(one for one in result.effects if one.knob == "chunker.context")
    assert effect.difference is not None
    assert effect.interval is not None
    assert effect.difference > 0
    assert effect.interval.low > 0
    # By hand: the mean over the four pairs that differ in it alone.
    means = {
        tuple(row.configuration.labels.values()): row.averages["recall@2"].mean or 0.0 for row in result.rows
    }
    pairs = [
        means[size, reranker, "headings"] - means[size, reranker, "none"]
        for size in ("70", "140")
        for reranker in ("none", "lexical")
    ]
    assert effect.difference == pytest.approx(np.mean(pairs))
    assert effect.pairs == 4
    heading = next(one for one in result.kinds if one.kind == "heading")
    assert heading.mean == max(row.by_kind["heading"].mean or 0.0 for row in result.rows)


def test_a_sweep_tunes_on_dev_and_final_looks_once_at_what_is_held_out(tmp_path: Path):
    folder = make_headed(tmp_path, splits=True)
    before = run(folder, measure="recall@2")
    assert before.split == "dev"
    assert before.queries == 8
    assert before.final is None
    assert not looks_path(load_project(folder)).exists()
    looked = run(folder, measure="recall@2", final=True)
    assert looked.final is not None
    assert looked.final.number == before.winner.number
    assert looked.final.dev == before.winner.averages["recall@2"]
    assert looked.final.heldout.n == 8
    project = load_project(folder)
    winner = evaluate(project.with_settings(looked.winner.configuration.changes), save=False)
    by_hand = winner.scores.average("recall@2", winner.scores.where("split", "heldout"))
    assert looked.final.columns["chunk recall@2"][1] == by_hand.mean
    written = looks_path(project).read_text()
    assert written.count("\n") == 1
    assert looked.id in written
    assert any("looked at once" in notice.text for notice in looked.notices)
    # A second look is the same look, and every later sweep says that there was one.
    again = run(folder, measure="recall@2", final=True)
    assert again.final == looked.final
    assert looks_path(project).read_text() == written
    # A look that cannot be read is told, and not taken again.
    (file,) = folder.glob(".assay/sweeps/*/final.json")
    file.write_text("{", encoding="utf-8")
    with pytest.raises(StoreError) as caught:
        run(folder, measure="recall@2", final=True)
    assert str(caught.value) == (
        f"{file}: cannot be read (Input data was truncated)\n  fix: restore it, or delete the sweep's folder"
    )
    assert looks_path(project).read_text() == written
    later = run(folder, "pool=4,6", measure="recall@2")
    assert any(notice.code == "heldout-look" for notice in later.notices)
    assert any(notice.code == "heldout-look" for notice in evaluate(project, save=False).summary.notices)


def test_final_without_held_out_queries_is_refused_before_anything_runs(tmp_path: Path):
    folder = make_headed(tmp_path)
    with pytest.raises(InputError, match="assay golden split"):
        run(folder, final=True)
    assert not list(folder.glob(".assay/sweeps/*"))


def test_without_a_split_it_says_that_nothing_is_left_to_confirm_with(tmp_path: Path):
    codes = {notice.code for notice in run(make_headed(tmp_path)).notices}
    assert "no-split" in codes


def test_recall_in_chunks_across_chunkers_carries_a_warning(tmp_path: Path):
    folder = make_headed(tmp_path)
    varied = run(folder, "max_chars=70,140", measure="chunk recall@2")
    assert {"unlike-chunks", "unlike-target"} <= {notice.code for notice in varied.notices}
    same = run(folder, "reranker=none,lexical", measure="chunk recall@2")
    assert not {"unlike-chunks", "unlike-target"} & {notice.code for notice in same.notices}


def test_the_target_is_recall_in_tokens_where_the_chunker_varies_and_else_the_first_measure(tmp_path: Path):
    folder = make_headed(tmp_path)
    assert run(folder, "max_chars=70,140").target == "recall in 2000 tokens"
    assert run(folder, "reranker=none,lexical").target == "recall@2"
    assert run(folder, "k=1,2").target == "recall@k"


def test_an_unknown_target_gets_the_nearest(tmp_path: Path):
    with pytest.raises(ConfigError, match="did you mean 'recall@2'"):
        run(make_headed(tmp_path), "pool=4,6", measure="recal@2")


def test_what_cannot_run_is_left_out_with_its_reason(tmp_path: Path):
    result = run(make_headed(tmp_path), "pool=1,4,6")
    assert [row.configuration.labels["pool"] for row in sorted(result.rows, key=lambda row: row.number)] == [
        "4",
        "6",
    ]
    assert "pool 1 is below k 2" in result.left_out[0].why
    assert any(notice.code == "left-out" for notice in result.notices)


def test_when_nothing_can_run_it_is_an_error_with_every_reason(tmp_path: Path):
    with pytest.raises(ConfigError, match="pool 1 is below k 2"):
        run(make_headed(tmp_path), "pool=1")


def test_budgets_are_filled_below_the_cut_so_that_small_chunks_get_the_same_room(tmp_path: Path):
    folder = make_headed(tmp_path)
    text = (folder / "assay.toml").read_text()
    (folder / "assay.toml").write_text(f"{text}\n[measure]\nbudgets = [1, 2000]\n")
    result = run(folder, "k=1,2", measure="recall in 2000 tokens")
    one, two = (result.row(number) for number in (1, 2))
    # k cuts the list, not the tokens: the pool of 4 fits into 2,000 whatever k is.
    assert one.averages["recall in 2000 tokens"] == two.averages["recall in 2000 tokens"]
    assert (one.spent.prompt_tokens or 0.0) < (two.spent.prompt_tokens or 0.0)
    assert one.averages["recall in 1 tokens"].mean == 0.0


def test_of_equals_the_cheaper_stands_first_and_the_front_has_no_one_beaten(tmp_path: Path):
    result = run(make_headed(tmp_path))
    points = {
        row.number: (row.spent.prompt_tokens or 0.0, row.averages[result.target].mean or 0.0)
        for row in result.rows
    }
    on = front(result.rows, "prompt_tokens", result.target)
    for number, (price, worth) in points.items():
        beaten = any(
            (other <= price and value > worth) or (other < price and value >= worth)
            for other, value in points.values()
        )
        assert (number in on) <= (not beaten)
        twins = [one for one, point in points.items() if point == (price, worth)]
        assert any(one in on for one in twins) == (not beaten)
    top = [row for row in result.rows if row.averages[result.target] == result.winner.averages[result.target]]
    assert result.winner.spent.prompt_tokens == min(row.spent.prompt_tokens or 0.0 for row in top)


def test_what_is_shared_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cuts: list[int] = []
    embedded: list[int] = []
    stages: list[str] = []
    chunk, vectors, remember = chunk_corpus, embedding.unit, cache.Cache.remember

    def counted_cut(documents: object, chunker: object) -> object:
        cuts.append(1)
        return chunk(documents, chunker)  # pyright: ignore[reportArgumentType]

    def counted_unit(rows: np.ndarray) -> np.ndarray:
        embedded.append(len(rows))
        return vectors(rows)

    def counted_remember(self: cache.Cache, kind: str, key: str, make: object) -> object:
        before = self.made.get(kind, 0)
        value = remember(self, kind, key, make)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
        stages.extend([kind] * (self.made.get(kind, 0) - before))
        return value  # pyright: ignore[reportUnknownVariableType]

    monkeypatch.setattr(rerun, "chunk_corpus", counted_cut)
    monkeypatch.setattr(embedding, "unit", counted_unit)
    monkeypatch.setattr(cache.Cache, "remember", counted_remember)
    result = run(make_headed(tmp_path), "max_chars=70,140", "reranker=none,lexical", "pool=4,6", timed=0)
    assert len(result.rows) == 8
    assert len(cuts) == 2  # once a chunker
    assert sorted(embedded) == sorted(
        {row.spent.chunks for row in result.rows}
    )  # once a chunker and embedder
    assert stages.count("vector") == stages.count("fulltext") == 2  # once a first stage
    assert stages.count("pool") == 4
    assert stages.count("reranked") == 4


def test_a_retriever_of_a_teams_own_is_swept_by_its_own_settings(tmp_path: Path):
    folder = make_headed(tmp_path)
    (folder / "mine.py").write_text(
        "def search(text, k):\n"
        "    return [{'id': f'p{n}', 'doc': f'page-{n}.md', 'start': 0, 'end': 140} for n in range(k)]\n"
    )
    text = (folder / "assay.toml").read_text()
    (folder / "assay.toml").write_text(f'{text}\n[retriever]\ncall = "mine:search"\n')
    result = run(folder, "k=1,2")
    assert len(result.rows) == 2
    assert result.winner.spent.index_bytes is None
    assert result.winner.spent.prompt_tokens is not None
