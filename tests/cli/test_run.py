from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli import run
from small_project import make_project


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(arguments) == 0
    return capsys.readouterr().out


def test_run_prints_measures_by_kind_and_the_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = told(["run", str(make_project(tmp_path))], capsys)
    assert "3 documents, 6 chunks, 3 queries, k = 2" in page
    assert "overall    2     1.000" in page
    assert "table      0         -" in page
    assert "pool@4" in page
    assert "without an answer: 1 query" in page


def test_no_misses_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings = "k = 1\n[corpus]\npath = 'docs'\n[chunker]\nname = 'characters'\nsize = 20\noverlap = 0\n"
    page = told(["run", str(make_project(tmp_path, settings=settings)), "--misses", "0"], capsys)
    assert "misses: 2 of 2 queries" in page
    assert "... and 2 more" in page


def test_run_json_is_one_object_and_equal_at_every_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(make_project(tmp_path))
    first = told(["run", folder, "--json"], capsys)
    assert told(["run", folder, "--json"], capsys) == first
    assert json.loads(first)["measures"]["recall@2"] == 1.0


def test_a_setting_can_be_changed_for_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(make_project(tmp_path))
    page = told(["run", folder, "--set", "k=1", "--set", "pipeline.reranker=none"], capsys)
    assert "k = 1" in page
    assert "reranked" not in page


def test_a_wrong_setting_names_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["run", str(make_project(tmp_path)), "--set", "chunker.max_char=40"]) == 2
    assert "max_chars" in capsys.readouterr().err


def test_runs_lists_and_show_prints_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(make_project(tmp_path))
    made = json.loads(told(["run", folder, "--json"], capsys))
    (listed,) = json.loads(told(["runs", folder, "--json"], capsys))
    assert listed["id"] == made["run"]
    assert json.loads(told(["show", made["run"][:6], "-p", folder, "--json"], capsys)) == made


def test_show_of_an_unknown_run_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(make_project(tmp_path))
    told(["run", folder], capsys)
    assert run(["show", "ffffff", "-p", folder]) == 2
    assert "there is no run 'ffffff'" in capsys.readouterr().err


def test_explain_shows_anchors_ranks_and_arithmetic(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(make_project(tmp_path))
    told(["run", folder], capsys)
    page = told(["explain", "q1", "-p", folder], capsys)
    assert "“Refunds reach the card within 14 days”" in page
    assert "»Refunds reach the card within 14 days«" in page
    assert "recall@2 = 1 of 1 relevant = 1.0000" in page


def test_explain_of_an_unknown_query_names_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(make_project(tmp_path))
    told(["run", folder], capsys)
    assert run(["explain", "q11", "-p", folder]) == 2
    assert "did you mean 'q1'?" in capsys.readouterr().err


def test_explain_s_arithmetic_ends_in_the_scores_of_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = str(make_project(tmp_path))
    told(["run", folder], capsys)
    shown = json.loads(told(["explain", "q2", "-p", folder, "--json"], capsys))
    for lines, value in zip(shown["arithmetic"], shown["values"].values(), strict=True):
        assert lines[0].endswith(f"= {value:.4f}")


def test_check_fails_with_1_and_names_file_line_and_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    wrong = {
        "id": "w",
        "query": "?",
        "kind": "factual",
        "anchors": [{"doc": "return.md", "quote": "Refunds reach the card within 14 days"}],
    }
    folder = str(make_project(tmp_path, queries=[wrong]))
    assert run(["check", folder]) == 1
    page = capsys.readouterr().out
    assert "golden.jsonl:1: query 'w': anchor a1: there is no document 'return.md'" in page
    assert "fix: did you mean 'returns.md'?" in page


def test_check_tells_what_other_chunkers_do_to_the_anchors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = str(make_project(tmp_path))
    run(["check", folder, "--chunkers", "characters size=30 overlap=0", "--json"])
    survival = json.loads(capsys.readouterr().out)["survival"]
    assert survival["paragraphs max_chars=80"]["whole"] == 2
    assert survival["characters size=30 overlap=0"]["whole"] == 0


def test_init_writes_a_project_that_loads_and_refuses_to_overwrite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "a.md").write_text("# A\n\nThis sentence has quite enough words to be quoted here.\n")
    assert "found 1 document" in told(["init", str(tmp_path)], capsys)
    assert run(["init", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_demo_refuses_a_folder_that_holds_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "mine.txt").write_text("x")
    assert run(["demo", str(tmp_path)]) == 2
    assert "holds something else" in capsys.readouterr().err
