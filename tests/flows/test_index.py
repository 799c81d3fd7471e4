from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.cli import run
from assay.connectors.registry import ENGINES
from assay.flows.evaluate import evaluate
from assay.flows.index import index_chunks
from assay.flows.project import load_project
from assay.model.errors import ConfigError, RetrieverError
from small_project import SETTINGS, make_project

URL = "sqlite:///index.db"
STOPPED = """
import os, signal
from assay.connectors.sqlite import SqliteEngine
from assay.cli import run
add, calls = SqliteEngine.add, []

def add_and_die(self, rows):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    add(self, rows)

SqliteEngine.add = add_and_die
run(["index", "--into", "sqlite:///index.db", "--batch", "1"])
"""


def index(folder: Path, into: str | None = URL, **more: Any) -> tuple[int, int, int]:
    report = index_chunks(load_project(folder), into, **more)
    assert report.added + report.kept == report.chunks
    return report.added, report.kept, report.removed


def test_every_chunk_is_put_in_once_however_often_it_is_asked_for(tmp_path: Path):
    folder = make_project(tmp_path)
    chunks = index(folder)[0]
    assert chunks > 5
    assert index(folder) == (0, chunks, 0)


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path):
    folder = make_project(tmp_path)
    killed = subprocess.run(
        [sys.executable, "-c", STOPPED], cwd=folder, env=os.environ, check=False, capture_output=True
    )
    assert killed.returncode == -signal.SIGKILL
    added, kept, removed = index(folder)
    assert (kept, removed) == (2, 0)  # two batches of one chunk were in when the third was killed
    assert added > 0
    assert index(folder) == (0, added + kept, 0)


def test_a_changed_document_changes_its_own_rows_alone(tmp_path: Path):
    folder = make_project(tmp_path)
    chunks = index(folder)[0]
    file = folder / "docs" / "errors.md"
    file.write_text(file.read_text().replace("the basket was empty", "the basket was full"))
    assert index(folder) == (1, chunks - 1, 1)


def test_another_embedder_changes_every_row(tmp_path: Path):
    folder = make_project(tmp_path)
    chunks = index(folder)[0]
    (folder / "assay.toml").write_text(f"{SETTINGS}\n[pipeline.embedder]\nword_weight = 0.25\n")
    assert index(folder) == (chunks, 0, chunks)


def test_an_index_that_refuses_the_new_rows_keeps_its_old_ones(tmp_path: Path):
    folder = make_project(tmp_path)
    chunks = index(folder)[0]
    (folder / "assay.toml").write_text(f"{SETTINGS}\n[pipeline.embedder]\ndimensions = 64\n")
    with pytest.raises(RetrieverError, match=r"sqlite .*[Dd]imension"):
        index(folder)
    (folder / "assay.toml").write_text(SETTINGS)
    assert index(folder) == (0, chunks, 0)


@pytest.mark.parametrize("url", [URL, "duckdb:///index.duckdb", "tantivy:///index"])
def test_the_table_that_is_printed_measures_the_index(
    tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    folder = make_project(tmp_path)
    monkeypatch.chdir(folder)
    assert run(["index", "--into", url, "--set", "depth=20"]) == 0
    table = capsys.readouterr().out.partition("Measure it with")[2]
    assert "whole_index = true" in table
    (folder / "assay.toml").write_text(f"{SETTINGS}\n{table}")
    evaluation = evaluate(load_project(folder))
    assert evaluation.unit == "chunk"
    # Both anchors hold words of their queries, and each stands in one chunk.
    assert evaluation.summary.measures["recall@2"].mean == 1.0
    stages = ["fulltext", "final"] if "tantivy" in url else ["vector", "fulltext", "pool", "final"]
    assert [stage.name for stage in evaluation.run.stages] == stages
    assert index(folder, None)[0] == 0  # the project's own retriever, now


def test_a_toml_file_names_an_engine_too(tmp_path: Path):
    folder = make_project(tmp_path)
    (tmp_path / "engine.toml").write_text('[retriever]\ntype = "tantivy"\nurl = "tantivy:///lists"\n')
    assert index(folder, str(tmp_path / "engine.toml"))[0] > 0
    assert (folder / "lists" / "assay_chunks").is_dir()


@pytest.mark.parametrize(
    ("into", "message"),
    [
        ("no-such-file", "neither the URL of an engine nor a file"),
        ("sqlit:///index.db", "did you mean 'sqlite'"),
        (None, "no engine was given"),
        ("sqlite:///${NO_SUCH_FOLDER}/index.db", "NO_SUCH_FOLDER is not set"),
    ],
)
def test_what_cannot_be_filled_is_an_error_with_a_fix(tmp_path: Path, into: str | None, message: str):
    with pytest.raises(ConfigError, match=message):
        index(make_project(tmp_path), into)


def test_a_search_endpoint_cannot_be_filled(tmp_path: Path):
    (tmp_path / "http.toml").write_text('type = "http"\nurl = "http://x"\nhits = "hits"\n')
    with pytest.raises(ConfigError, match="'http' is no engine") as failure:
        index(make_project(tmp_path), str(tmp_path / "http.toml"))
    assert all(name in str(failure.value) for name in ENGINES)


def test_an_engine_that_cannot_be_reached_is_an_error_without_its_password(tmp_path: Path):
    url = "postgresql://me:hunter2@127.0.0.1:9/shop"
    with pytest.raises(RetrieverError, match="OperationalError") as failure:
        index(make_project(tmp_path), url)
    assert "hunter2" not in str(failure.value)


def test_the_embedder_of_an_engine_is_a_part_of_what_was_measured(tmp_path: Path):
    folder = make_project(tmp_path)
    index(folder)
    table = f'\n[retriever]\ntype = "sqlite"\nurl = "{URL}"\nwhole_index = true\n'
    digests: list[str] = []
    for more in ("", "[pipeline.embedder]\nword_weight = 0.25\n", 'lists = ["fulltext"]\n'):
        text = f"{SETTINGS}{more}{table}" if "pipeline" in more else f"{SETTINGS}{table}{more}"
        (folder / "assay.toml").write_text(text)
        measured = evaluate(load_project(folder), save=False).run
        digests.append(measured.pipeline_digest)
        assert ("embedder" in measured.pipeline) == ("lists" not in more)
    assert len(set(digests)) == 3


def test_the_report_is_one_json_object_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = make_project(tmp_path)
    assert run(["index", str(folder), "--into", URL, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["engine"], report["added"], report["kept"]) == ("sqlite", report["chunks"], 0)
