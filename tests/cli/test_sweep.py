from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from assay.cli import run
from flows.headed_project import make_headed

VARY = ["--vary", "max_chars=70,140", "--vary", "reranker=none,lexical"]


def test_a_sweep_prints_the_winner_the_effects_and_what_is_chance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    make_headed(tmp_path, splits=True)
    assert run(["sweep", "--project", str(tmp_path), *VARY, "--measure", "recall@2"]) == 0
    told = capsys.readouterr().out
    assert "headed: 4 configurations on 8 dev queries, k = 2, grid" in told
    assert "target: recall@2" in told
    assert "Best is " in told
    assert "Chosen among 4 on 8 queries" in told
    assert "what each knob does on its own" in told
    assert "the best for each kind" in told
    assert "recall in chunks cannot be compared" in told
    assert ".assay/sweeps/" in told


def test_json_html_and_parquet_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make_headed(tmp_path, splits=True)
    files = ["--html", str(tmp_path / "s.html"), "--parquet", str(tmp_path / "s.parquet")]
    assert run(["sweep", "--project", str(tmp_path), *VARY, "--json", "--final", *files]) == 0
    said = json.loads(capsys.readouterr().out)
    table = pl.read_parquet(tmp_path / "s.parquet")
    assert table["configuration"].to_list() == [row["configuration"] for row in said["rows"]]
    assert table[said["target"]].to_list() == [row["means"][said["target"]] for row in said["rows"]]
    assert table["p50_ms"].to_list() == [row["costs"]["p50_ms"] for row in said["rows"]]
    assert table["knob reranker"].to_list() == [row["knobs"]["reranker"] for row in said["rows"]]
    assert said["winner"] == said["rows"][0]["configuration"] == said["final"]["configuration"]
    page = (tmp_path / "s.html").read_text()
    assert f"sweep <code>{said['sweep']}</code>" in page
    assert "Held out:" in page
    folder = tmp_path / ".assay" / "sweeps" / said["sweep"]
    assert (folder / "report.html").read_text() == page
    queries = pl.read_parquet(folder / "queries.parquet")
    mean = queries.filter(pl.col("configuration") == said["winner"])[said["target"]].mean()
    assert mean == pytest.approx(said["rows"][0]["means"][said["target"]])


def test_a_plan_file_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make_headed(tmp_path)
    plan = tmp_path / "sweep.toml"
    plan.write_text('method = "halving"\n[halving]\nkeep = 0.5\nfewest = 4\n[knobs]\npool = [2, 3, 4, 5]\n')
    assert run(["sweep", str(plan), "--project", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rounds"] == [
        {"configurations": 4, "queries": 8},
        {"configurations": 2, "queries": 16},
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "nothing is varied"),
        (["--vary", "rerankr=none"], "did you mean 'reranker'"),
        (["nowhere.toml"], "there is no such file"),
        ([*VARY, "--workers", "0"], "at least 1"),
        ([*VARY, "--final"], "assay golden split"),
        ([*VARY, "--split", "dev"], "no dev queries"),
        (["--vary", "pool=1"], "pool 1 is below k 2"),
    ],
)
def test_a_wrong_call_is_told_with_its_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    make_headed(tmp_path)
    assert run(["sweep", "--project", str(tmp_path), *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "Traceback" not in error
