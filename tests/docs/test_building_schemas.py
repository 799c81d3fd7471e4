"""The schemas of building a golden set: true of what the commands print and of the files they keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.connectors.hits import USUAL
from assay.connectors.recording import RecordedSearch, Recording
from assay.flows.demo import copy_demo
from docs.held import faults, lines, printed
from judged_project import grade, make_judged_project
from small_project import make_project
from stand_in_model import Says, stand_in


@pytest.fixture
def demo(tmp_path: Path) -> str:
    copy_demo(tmp_path / "demo")
    return str(tmp_path / "demo")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("check", ["check", "DEMO"]),
        ("golden-draft", ["golden", "draft", "DEMO"]),
        ("golden-drift", ["golden", "drift", "--project", "DEMO"]),
        ("golden-drift", ["golden", "repair", "--project", "DEMO"]),
        ("golden-exchange", ["golden", "import", "--project", "DEMO"]),
        ("golden-pool", ["golden", "pool", "DEMO"]),
        ("golden-split", ["golden", "split", "DEMO", "--fresh"]),
        ("index", ["index", "DEMO", "--into", "sqlite:///index.db"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
def test_what_is_printed_of_the_demo_is_what_the_schema_says(
    name: str, words: list[str], demo: str, capsys: pytest.CaptureFixture[str]
):
    value = printed([*(word.replace("DEMO", demo) for word in words), "--json"], capsys)
    assert not faults(name, value)
    assert faults(name, {**value, "surprise": 1})


def test_anchors_that_drifted_are_what_the_schema_says(demo: str, capsys: pytest.CaptureFixture[str]):
    quote = json.loads(Path(demo, "golden.jsonl").read_text(encoding="utf-8").splitlines()[0])["anchors"][0]
    document = Path(demo, quote["doc"])
    document.write_text(document.read_text("utf-8").replace(quote["quote"], "Gone."), encoding="utf-8")
    value = printed(["golden", "drift", "--project", demo, "--json"], capsys)
    assert value["anchors"]
    assert not faults("golden-drift", value)


def test_what_is_in_dispute_between_file_and_store_is_what_the_schema_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = str(make_project(tmp_path))
    golden = tmp_path / "golden.jsonl"
    printed(["golden", "import", "--project", folder, "--json"], capsys)
    whole = golden.read_text(encoding="utf-8")
    golden.write_text(whole.replace("refunds", "repayments"), encoding="utf-8")
    printed(["golden", "import", "--project", folder, "--json"], capsys)
    printed(["golden", "export", "--project", folder, "--json"], capsys)
    value = printed(["golden", "export", "--project", folder, "--json"], capsys)
    assert not faults("golden-exchange", value)
    disputed = {**value, "conflicts": {"q1": {"file": None, "store": json.loads(whole.splitlines()[0])}}}
    assert not faults("golden-exchange", disputed)


def test_a_sample_of_a_log_is_what_the_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(make_project(tmp_path))
    log = tmp_path / "log.csv"
    log.write_text("query\nreset password of ada@example.org\nwhat does E1207 mean\n", encoding="utf-8")
    value = printed(["golden", "import-log", str(log), folder, "--json"], capsys)
    assert value["masked"] == {"email": 1}
    assert not faults("golden-import-log", value)


def test_an_imported_set_and_its_documents_are_what_the_schemas_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    source = tmp_path / "beir"
    (source / "qrels").mkdir(parents=True)
    rows = [{"_id": "d1", "title": "Returns", "text": "Refunds take 14 days."}]
    (source / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (source / "queries.jsonl").write_text('{"_id": "q1", "text": "refunds?"}\n', encoding="utf-8")
    (source / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")
    value = printed(["import", "beir", str(source), "--into", str(tmp_path / "set"), "--json"], capsys)
    assert not faults("import", value)
    assert not faults("import", json.loads((tmp_path / "set" / "import.json").read_text(encoding="utf-8")))
    assert not [
        one for row in lines(tmp_path / "set" / "documents.jsonl") for one in faults("documents", row)
    ]


def test_a_judge_its_report_and_its_looks_are_what_the_schemas_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def answering(body: dict[str, Any]) -> Says:
        return Says(content=json.dumps({"why": "so", "grade": len(str(body)) % 3, "confidence": 0.9}))

    project = make_judged_project(tmp_path, count=12, settings="\n[judge]\ntrain = 0.0\ndev = 0.0\n")
    for by in ("ada", "bob"):
        grade(project, range(12), by, lambda number: number % 2)
    with stand_in(answering) as model:
        words = ["judge", "run", "--project", str(tmp_path), "--base-url", model.base_url, "--model", "m"]
        assert not faults("judge-run", printed([*words, "--json"], capsys))
    words = ["judge", "report", "--project", str(tmp_path), "--test", "--ask", "3", "--json"]
    value = printed([*words, "--found", "6", "--of", "12"], capsys)
    assert value["people"] is not None
    assert value["corrected"]
    assert not faults("judge-report", value)
    assert not [one for row in lines(tmp_path / "judges.jsonl") for one in faults("judges", row)]


def test_a_recording_is_what_the_schema_says(tmp_path: Path):
    recording = Recording(tmp_path / "search.jsonl")
    RecordedSearch(lambda query, k: [(query, 1.0 / k)], recording, USUAL)("refunds", 2)
    recording.keep({"method": "POST", "url": "http://here", "body": {"q": "refunds"}}, {"hits": []})
    rows = lines(tmp_path / "search.jsonl")
    assert len(rows) == 2
    assert not [one for row in rows for one in faults("recording", row)]
    assert faults("recording", {"asked": {"query": "refunds"}, "answered": {}})
