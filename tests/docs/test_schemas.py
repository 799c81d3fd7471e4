"""The published schemas: current, and true of what the commands print."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from docsite.output_schemas import FOLDER, OUTPUTS, output_schema
from jsonschema import Draft202012Validator

from assay.cli import main
from assay.flows.demo import copy_demo


def printed(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(words)
    return json.loads(capsys.readouterr().out)


def faults(name: str, value: Any) -> list[str]:
    validator = cast("Any", Draft202012Validator(output_schema(name)))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schemas") / "demo"
    copy_demo(folder)
    with pytest.raises(SystemExit):
        main(["run", str(folder), "--misses", "0"])
    with pytest.raises(SystemExit):
        main(["run", str(folder), "--misses", "0", "--set", "pipeline.reranker=none"])
    return folder


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_published_schema_is_current(name: str):
    text = (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == output_schema(name), (
        f"run {Path(sys.executable).name} tools/docsite/output_schemas.py"
    )


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_published_schema_is_one(name: str):
    cast("Any", Draft202012Validator).check_schema(output_schema(name))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("run", ["run", "PROJECT", "--json", "--no-save"]),
        ("run", ["show", "latest", "--project", "PROJECT", "--json"]),
        ("gate", ["gate", "PROJECT", "--json"]),
        ("compare", ["compare", "latest~1", "latest", "--project", "PROJECT", "--json"]),
        ("compare", ["compare", "latest~1", "latest", "latest", "--project", "PROJECT", "--json"]),
        ("diagnose", ["diagnose", "--project", "PROJECT", "--json"]),
        ("diagnose", ["diagnose", "--project", "PROJECT", "--json", "--try", "--times"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
def test_what_is_printed_is_what_the_schema_says(
    name: str, words: list[str], project: Path, capsys: pytest.CaptureFixture[str]
):
    value = printed([str(project) if word == "PROJECT" else word for word in words], capsys)
    assert not faults(name, value)


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("more", [[], ["--per-query"], ["--compat", "trec_eval"], ["--by", "kind"]])
def test_scores_are_what_the_schema_says(
    runs: int, more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    run, qrels = tmp_path / "a.run", tmp_path / "q.csv"
    run.write_text("q1 Q0 d1 1 1.0 t\nq1 Q0 d2 2 1.0 t\n", encoding="utf-8")
    qrels.write_text("query,doc,grade,kind\nq1,d2,1,factual\nq2,d2,0,lexical\n", encoding="utf-8")
    value = printed(["score", *[str(run)] * runs, str(qrels), "-m", "RR", "--json", *more], capsys)
    assert not faults("score", value)


def test_a_key_that_the_schema_does_not_know_is_a_fault(project: Path, capsys: pytest.CaptureFixture[str]):
    value = printed(["gate", str(project), "--json"], capsys)
    assert faults("gate", {**value, "surprise": 1})
    assert faults("gate", {**value, "passed": "yes"})
