from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from assay.cli import run
from assay.flows.project import load_project
from empty_run import emptied
from small_project import SETTINGS, make_project

GATES = '\n[gate]\n"recall@2" = ">= 1"\n"nDCG@2 [lexical]" = "1 within 0.1"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path, settings=SETTINGS + GATES)


def break_it(folder: Path) -> None:
    (folder / "docs" / "errors.md").write_text("# Errors\n\nNothing is said here.\n", encoding="utf-8")


def test_gate_exits_0_when_all_pass_and_1_naming_what_fell(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["gate", "-p", str(folder)]) == 0
    assert "2 gates passed" in capsys.readouterr().out
    break_it(folder)
    assert run(["gate", "-p", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "2 of 2 gates fell" in out
    assert "recall@2 is 0.5000, below the floor of 1.0000" in out
    assert "q2 0.000" in out


def test_gate_exits_2_when_a_rule_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make_project(tmp_path, settings=SETTINGS + '\n[gate]\n"recal@2" = ">= 1"\n')
    assert run(["gate", "-p", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "assay.toml [gate] 'recal@2': unknown measure" in err
    assert "Traceback" not in err


def test_gate_prints_one_json_object(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["gate", "-p", str(folder), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["passed"] is True
    assert [gate["exact"] for gate in values["gates"]] == ["1", "1"]


def test_gate_writes_what_ci_reads(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    assert run(["gate", "-p", str(folder), "--update"]) == 0
    assert "baselines/main.json" in capsys.readouterr().out.replace("\n", "")
    break_it(folder)
    summary, junit, comment = folder / "summary.md", folder / "out" / "gates.xml", folder / "comment.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    files = ["--junit", str(junit), "--markdown", str(comment), "--github"]
    assert run(["gate", "-p", str(folder), *files]) == 1
    assert "::error file=assay.toml,title=assay gate%3A recall@2 >= 1::" in capsys.readouterr().out
    assert ET.parse(junit).getroot().get("failures") == "2"
    assert "q2 0.000 (was 1.000)" in comment.read_text(encoding="utf-8")
    assert "baseline main → run" in comment.read_text(encoding="utf-8")
    assert summary.read_text(encoding="utf-8").startswith("before\n<!-- assay -->")


def test_update_shows_how_the_baseline_changes(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["gate", "-p", str(folder), "--update"]) == 0
    break_it(folder)
    capsys.readouterr()
    assert run(["gate", "-p", str(folder), "--update"]) == 0
    assert "recall@2 went 1.00 to 0.50 (-0.50" in capsys.readouterr().out


def test_compare_prints_the_sentence_on_one_line(folder: Path, capsys: pytest.CaptureFixture[str]):
    nothing = emptied(load_project(folder))
    assert run(["run", "-p", str(folder)]) == 0
    capsys.readouterr()
    markdown = folder / "compare.md"
    assert run(["compare", nothing, "latest", "-p", str(folder), "--markdown", str(markdown)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith("recall@2 went 0.00 to 1.00 (+1.00") and "2 decided queries can never reach" in line
        for line in lines
    )
    assert "recall@2" in markdown.read_text(encoding="utf-8")
    assert run(["compare", nothing, "latest", "-p", str(folder), "--json", "--measures", "RR@2"]) == 2


def test_compare_of_three_runs_is_a_matrix(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["run", "-p", str(folder)]) == 0
    capsys.readouterr()
    markdown = folder / "matrix.md"
    runs = ["latest", "latest", "latest"]
    assert run(["compare", *runs, "-p", str(folder), "--json", "--markdown", str(markdown)]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 3
    assert "| run | mean |" in markdown.read_text(encoding="utf-8")
    assert run(["compare", *runs, "-p", str(folder)]) == 0
    assert "proven after Holm" in capsys.readouterr().out


def test_compare_reads_run_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 2 x\nq1 Q0 d1 2 1 x\n", encoding="utf-8")
    (tmp_path / "b.run").write_text("q1 Q0 d1 1 2 x\n", encoding="utf-8")
    (tmp_path / "qrels").write_text("q1 0 d1 1\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a.run", "b.run")]
    options = ["--qrels", str(tmp_path / "qrels"), "--json", "--measures", "RR", "AP"]
    assert run(["compare", *files, *options]) == 0
    values = json.loads(capsys.readouterr().out)
    assert [row["measure"] for row in values["rows"]] == ["RR", "AP"]
    assert values["rows"][0]["difference"] == 0.5
    assert run(["compare", *files, files[0], *options]) == 0


def test_compare_of_one_run_says_what_it_takes(capsys: pytest.CaptureFixture[str]):
    assert run(["compare", "latest"]) == 2
    assert "two runs or more" in capsys.readouterr().err
