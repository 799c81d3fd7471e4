from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from assay.cli import run
from assay.cli.diagnose import review_in_terminal
from assay.flows.diagnose import diagnose
from assay.flows.project import load_project
from assay.retrieval.models.registry import EMBEDDERS
from assay.store.findings import load_decisions
from flows.headed_project import make_headed


@pytest.fixture(autouse=True)
def _only_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever models are installed here, trials are those of a bare machine."""
    monkeypatch.setattr("assay.flows.trials.EMBEDDERS", {"hashing": EMBEDDERS["hashing"]})


@pytest.fixture
def headed(tmp_path: Path) -> Path:
    return make_headed(tmp_path)


def test_the_page_shows_waterfall_kinds_findings_and_what_to_do_next(
    headed: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(["diagnose", "--project", str(headed), "--misses", "2"]) == 0
    told = capsys.readouterr().out
    assert "headed: 8 of 16 items missed, in 8 of 16 queries, k = 2" in told
    assert "pool cut" in told
    assert "-0.500" in told
    assert "chunk-boundary -> contextual-chunk-headers" in told
    assert "'heron' in its headings" in told
    assert "... and 6 more (--misses 8 shows all)" in told
    assert "--try runs the fixes" in told


def test_trials_and_the_proposed_diff_are_shown(headed: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["diagnose", "--project", str(headed), "--try"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "brought back by contextual-chunk-headers" in told
    assert "none of those tried brings it back" in told
    assert '+context = "headings"' in told
    assert "the gain is optimistic" in told


def test_the_diff_is_printed_as_it_is_however_long_its_lines_are(
    headed: Path, capsys: pytest.CaptureFixture[str]
):
    settings = headed / "assay.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(
        text.replace("max_chars = 70\n", f"max_chars = 70\n# {'of what we cut, and why ' * 9}\n\n"),
        encoding="utf-8",
    )
    assert run(["diagnose", "--project", str(headed), "--try", "--json"]) == 0
    diff = json.loads(capsys.readouterr().out)["proposal"]["diff"]
    assert max(map(len, diff.splitlines())) > 200
    assert run(["diagnose", "--project", str(headed), "--try"]) == 0
    assert f"\n{diff.rstrip()}\n" in capsys.readouterr().out


def test_json_has_the_names_that_stay(headed: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["diagnose", "--project", str(headed), "--try", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert {"findings", "waterfall", "trials", "proposal"} <= set(values)
    assert {"query_id", "kind_of_query", "lost_at", "kind", "fix", "evidence", "status"} <= set(
        values["findings"][0]
    )
    assert {"fix", "change", "recovered", "broken", "net", "interval", "cost"} <= set(values["trials"][0])
    assert values["waterfall"]["overall"]["recall_exact"] == "1/2"
    assert values["proposal"]["change"] == {"chunker.context": "headings"}


def test_a_review_asks_keeps_each_answer_and_undoes(headed: Path):
    answers = iter(["y", "what?", "ranking: by eye", "u", "s", "n", "q"])
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return next(answers)

    project = load_project(headed)
    screen = Console(width=100, record=True, quiet=True)
    after = review_in_terminal(diagnose(project), screen, by="ada", ask=ask)
    assert asked[0] == "chunk-boundary? [y/n/kind/s/u/q] "
    kept = load_decisions(headed / "findings.jsonl")
    assert [(one.query_id, one.kind, one.by) for one in kept] == [
        ("hard-0", "chunk-boundary", "ada"),
        ("hard-2", None, "ada"),
    ]
    assert after.diagnosis.agreement.reviewed == 2
    assert after.diagnosis.agreement.confirmed == 1


def test_the_end_of_the_input_ends_a_review_and_keeps_what_was_said(headed: Path):
    answers = iter(["y"])

    def ask(_: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    review_in_terminal(diagnose(load_project(headed)), Console(quiet=True), by="ada", ask=ask)
    assert len(load_decisions(headed / "findings.jsonl")) == 1


def test_an_undone_decision_gives_back_the_one_that_it_replaced(headed: Path):
    path = headed / "findings.jsonl"
    first = iter(["y", "q"])
    review_in_terminal(
        diagnose(load_project(headed)), Console(quiet=True), by="ada", ask=lambda _: next(first)
    )
    row = json.loads(path.read_text()) | {"trace": "another"}
    path.write_text(json.dumps(row) + "\n")
    second = iter(["ranking", "u", "q"])
    review_in_terminal(
        diagnose(load_project(headed)), Console(quiet=True), by="bob", ask=lambda _: next(second)
    )
    (kept,) = load_decisions(path)
    assert (kept.by, kept.kind, kept.trace) == ("ada", "chunk-boundary", "another")


def test_a_file_that_is_no_trace_is_an_error_with_exit_code_2(
    headed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "x.json"
    path.write_text("{}")
    assert run(["diagnose", "--project", str(headed), "--traces", str(path)]) == 2
    assert "x.json" in capsys.readouterr().err
