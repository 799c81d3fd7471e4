"""``assay score``, ``convert`` and ``fuse`` from the command line: output, notes, exit codes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.cli import run, scored
from assay.store.rankings import trec


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n")
    (tmp_path / "b.run").write_text("q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n")
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d9 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_score_prints_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "a.run", "qrels", "--measures", "RR", "P@1", "--json", "--per-query"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["measures"] == {"RR": 0.5, "P@1": 0.5}
    assert shown["queries"] == {"q1": {"RR": 1.0, "P@1": 1.0}, "q2": {"RR": 0.0, "P@1": 0.0}}
    assert [notice["code"] for notice in shown["notices"]] == ["missing-queries"]


@pytest.mark.usefixtures("files")
def test_score_prints_a_table_and_says_the_rest_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "a.run", "b.run", "qrels", "-m", "RR,nDCG@10"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0].split() == ["run", "RR", "nDCG@10"]
    assert shown.err.count("note:") == 2


def never(arguments: list[str]) -> bool:
    return False


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.run", "qrels"],
        ["a.run", "b.run", "qrels", "--measures", "RR", "P@1,R@1", "--json", "-q"],
        ["--json", "a.run", "qrels", "-m", "nDCG(gain=exp)@10"],
        ["a.run", "qrels", "--compat", "ir_measures", "--per-query", "-m", "RR@10"],
        ["a.jsonl", "qrels", "--cache", "cache"],
    ],
)
def test_plain_calls_print_what_the_reader_of_options_would(
    arguments: list[str], files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["convert", "a.run", "a.jsonl"]) == 0
    capsys.readouterr()
    shown: set[tuple[str, str]] = set()
    for plain in (True, False):
        if not plain:
            monkeypatch.setattr(scored, "plain_call", never)
        assert run(["score", *arguments]) == 0
        assert (files / "cache").exists() == ("--cache" in arguments)
        printed = capsys.readouterr()
        shown.add((printed.out, printed.err))
    assert len(shown) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.run", "qrels", "--ties", "given"],
        ["a.run", "qrels", "--cache"],
        ["a.run"],
        ["-m", "RR", "a", "b"],
        [],
    ],
)
def test_calls_that_are_not_plain_are_left_to_the_reader_of_options(arguments: list[str]) -> None:
    assert not scored.plain_call(arguments)


@pytest.mark.usefixtures("files")
def test_score_prints_what_another_tool_would(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "a.run", "qrels", "-m", "RR", "--compat", "trec_eval"]) == 0
    assert capsys.readouterr().out == "recip_rank            \tall\t1.0000\n"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "a.run"], "a run and judgements are needed"),
        (["score", "no.run", "qrels"], "no.run: there is no such file"),
        (["score", "qrels", "qrels"], "qrels:1: 4 fields where 6 belong"),
        (["score", "a.run", "qrels", "-m", "nDGC@10"], "unknown measure 'nDGC@10'"),
        (["score", "a.run", "qrels", "--compat", "trek"], "there is no such tool"),
        (["convert", "a.run", "a.xyz"], "the name does not say the form"),
        (["fuse", "a.run", "--to", "f.run"], "two runs at least are needed"),
    ],
)
def test_a_mistake_is_a_sentence_with_its_fix_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""


def test_convert_and_fuse_write_their_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "a.run", "a.jsonl"]) == 0
    assert run(["convert", "qrels", "qrels.csv", "--qrels"]) == 0
    assert run(["fuse", "a.jsonl", "b.run", "--to", "f.jsonl", "--weights", "2", "1"]) == 0
    assert (files / "qrels.csv").read_text() == "query,doc,grade\nq1,d1,1\nq2,d9,1\n"
    assert capsys.readouterr().out == (
        "a.jsonl: 2 rows of 1 queries\nqrels.csv: 2 rows of 2 queries\nf.jsonl: 2 rows of 1 queries\n"
    )
    assert run(["score", "f.jsonl", "qrels.csv", "-m", "RR", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"] == {"RR": 0.5}


def test_a_run_that_was_coded_scores_the_same(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trec, "SMALL", 0)
    shown: set[str] = set()
    for _ in range(2):
        assert run(["score", "a.run", "qrels", "--cache", "cache", "--json"]) == 0
        shown.add(capsys.readouterr().out)
    assert len(shown) == 1
    assert any((files / "cache").iterdir())


def test_of_files_that_are_read_at_once_only_those_that_must_be_unpacked_are_coded(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "b.run.gz").write_bytes(gzip.compress((files / "b.run").read_bytes()))
    assert run(["score", "a.run", "qrels", "--cache", "cache"]) == 0
    assert not (files / "cache").exists()
    assert run(["score", "b.run.gz", "qrels", "--cache", "cache"]) == 0
    assert (files / "cache").exists()
    capsys.readouterr()
