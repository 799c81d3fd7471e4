"""The published schemas: current, and true of what the commands print."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, cast

import pytest
from docsite import cli
from docsite.output_schemas import FOLDER, OUTPUTS, output_schema
from jsonschema import Draft202012Validator

from assay.cli import main
from assay.cli.commands import COMMANDS
from assay.flows.demo import copy_demo
from docs.held import faults, lines, printed


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
        ("run", ["demo", "PROJECT/again", "--json"]),
        ("runs", ["runs", "PROJECT", "--json"]),
        ("explain", ["explain", "c11", "--project", "PROJECT", "--json"]),
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
    value = printed([word.replace("PROJECT", str(project)) for word in words], capsys)
    assert not faults(name, value)


def test_the_files_of_a_stored_run_are_what_their_schemas_say(project: Path):
    places = list((project / ".assay" / "runs").iterdir())
    assert len(places) >= 2
    for place in places:
        assert not [fault for one in lines(place / "timings.jsonl") for fault in faults("stage-timings", one)]
        for name in ("manifest", "timings"):
            schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
            value = json.loads((place / f"{name}.json").read_text(encoding="utf-8"))
            assert cast("Any", Draft202012Validator(schema)).is_valid(value)


def test_a_report_and_a_baseline_are_what_their_schemas_say(project: Path, tmp_path: Path):
    for words in (
        ["gate", str(project), "--update", "--baseline", str(tmp_path / "main.json")],
        ["report", "--project", str(project), "--format", "json", "--output", str(tmp_path / "page.json")],
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert not ended.value.code
    assert not faults("baseline", json.loads((tmp_path / "main.json").read_text(encoding="utf-8")))
    assert not faults("report", json.loads((tmp_path / "page.json").read_text(encoding="utf-8")))


SWEEP = ["--vary", "max_chars=400,800", "--vary", "reranker=none,lexical"]


@pytest.mark.parametrize("more", [["--final"], ["--method", "halving", "--timed", "0"]])
def test_a_sweep_and_its_files_are_what_their_schemas_say(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    copy_demo(tmp_path / "demo")
    value = printed(["sweep", "--project", str(tmp_path / "demo"), *SWEEP, *more, "--json"], capsys)
    assert not faults("sweep", value)
    folder = tmp_path / "demo" / ".assay" / "sweeps" / value["sweep"]
    assert not faults("sweep", json.loads((folder / "results.json").read_text(encoding="utf-8")))
    assert not faults("sweep-plan", json.loads((folder / "plan.json").read_text(encoding="utf-8")))
    assert not [fault for one in lines(folder / "measured.jsonl") for fault in faults("sweep-measured", one)]
    if "--final" in more:
        assert not faults("sweep-final", json.loads((folder / "final.json").read_text(encoding="utf-8")))
        (looks,) = (tmp_path / "demo").rglob("heldout-looks.jsonl")
        assert not [fault for one in lines(looks) for fault in faults("heldout-looks", one)]


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


def test_every_command_that_prints_json_has_a_schema():
    modules = {verb: COMMANDS[verb].module for verb in COMMANDS}
    for verb in COMMANDS:
        modules |= {f"{verb} {name}": inner.module for name, inner in cli.verbs_of(verb).items()}
    printing = [
        name
        for name, module in modules.items()
        if "json" in signature(getattr(import_module(f"assay.cli.{module}"), "command", print)).parameters
    ]
    titles = " ".join(title for title, _ in OUTPUTS.values())
    assert len(printing) > 20
    assert [name for name in printing if not re.search(rf"assay {name} --json\b", titles)] == []


def test_every_schema_is_in_the_page_of_published_forms():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in FOLDER.glob("*.json") if f"`{path.name}`" not in page] == []
