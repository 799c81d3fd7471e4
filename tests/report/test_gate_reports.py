from __future__ import annotations

import io
import json
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from assay.model.gates import Cause, Gate, GateReport, GateResult
from assay.model.notices import Notice
from assay.report.gates import gates_json, print_gates
from assay.report.github import gate_annotations, step_summary
from assay.report.junit import gate_junit
from assay.report.markdown import MARK, gate_markdown


def result(
    key: str, written: str, *, passed: bool, causes: tuple[Cause, ...] = (), reason: str | None = None
) -> GateResult:
    return GateResult(
        gate=Gate(key=key, written=written, stage=None, measure="recall@10", rule="floor"),
        passed=passed,
        value=0.6875,
        exact=Fraction(11, 16),
        shown="0.6875 < 0.7000",
        n=48,
        reason=reason,
        causes=causes,
        lint=None if passed else "with 48 queries a floor of 0.70 means 34 of 48",
    )


@pytest.fixture
def fallen() -> GateReport:
    causes = (
        Cause(query_id="q-1", value=0.0, before=1.0),
        Cause(query_id="q<2>|\x00", value=0.5, error="time,out"),
        *(Cause(query_id=f"x{number}", value=0.0) for number in range(30)),
    )
    nothing = GateResult(
        gate=Gate(key="pool: recall@50", written=">= 0.8", stage="pool", measure="recall@50", rule="floor"),
        passed=False,
        value=None,
        exact=None,
        shown="nothing measured",
        n=0,
        reason="no queries evaluated",
    )
    return GateReport(
        results=(
            result("recall@10", ">= 0.70", passed=False, causes=causes, reason="recall@10 is low: 50 %"),
            result("recall@10 [a|b]", "0.7 within 0.02", passed=True),
            nothing,
        ),
        run="3f0c",
        baseline="main",
        notices=(Notice(code="x", text="the golden sets\ndiffer"),),
    )


@pytest.fixture
def green() -> GateReport:
    return GateReport(results=(result("recall@10", ">= 0.50", passed=True),))


def test_junit_has_one_case_a_gate_and_tells_fallen_from_unmeasured(fallen: GateReport):
    root = ET.fromstring(gate_junit(fallen).split("\n", 1)[1])
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    cases = list(root.iter("testcase"))
    assert [case.get("name") for case in cases] == [
        "recall@10 >= 0.70",
        "recall@10 [a|b] 0.7 within 0.02",
        "pool: recall@50 >= 0.8",
    ]
    assert [case.get("classname") for case in cases] == [
        "assay.gate.final",
        "assay.gate.final",
        "assay.gate.pool",
    ]
    failure = cases[0].find("failure")
    assert failure is not None
    assert failure.get("message") == "recall@10 is low: 50 %"
    text = failure.text or ""
    assert "q-1 0.000 (was 1.000)" in text
    assert "q<2>|\ufffd 0.500: time,out" in text
    assert "and 22 more" in text
    assert cases[1].find("failure") is None
    assert cases[2].find("error") is not None
    assert {item.get("name"): item.get("value") for item in root.iter("property")} == {
        "run": "3f0c",
        "baseline": "main",
    }


def test_junit_of_green_gates_has_no_failure(green: GateReport):
    root = ET.fromstring(gate_junit(green).split("\n", 1)[1])
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    assert list(root.iter("properties")) == []


def test_annotations_escape_what_github_would_read(fallen: GateReport):
    first, second, third = gate_annotations(fallen).splitlines()
    assert first.startswith(
        "::error file=assay.toml,title=assay gate%3A recall@10 >= 0.70::recall@10 is low: 50 %25%0A"
    )
    assert "%0Aq-1 0.000 (was 1.000)%0A" in first
    assert second == (
        "::error file=assay.toml,title=assay gate%3A pool%3A recall@50 >= 0.8::no queries evaluated"
    )
    assert third == "::warning title=assay gate::the golden sets%0Adiffer"


def test_green_gates_annotate_nothing(green: GateReport):
    assert gate_annotations(green) == ""


def test_markdown_names_gates_queries_and_run(fallen: GateReport):
    text = gate_markdown(fallen)
    assert text.startswith(f"{MARK}\n### ❌ Retrieval: 2 of 3 gates fell\n")
    assert "| ❌ | `recall@10 >= 0.70` | 0.6875 < 0.7000 | 48 |" in text
    assert r"| ✅ | `recall@10 [a\|b] 0.7 within 0.02` |" in text
    assert "- q-1 0.000 (was 1.000)" in text
    assert "q&lt;2&gt;" in text
    assert "and 12 more" in text
    assert "_with 48 queries a floor of 0.70 means 34 of 48_" in text
    assert "> note: the golden sets differ" in text
    assert text.endswith("<sub>run `3f0c`, baseline `main`</sub>\n")
    assert step_summary(fallen) == text


def test_markdown_of_green_gates_is_short(green: GateReport):
    assert gate_markdown(green) == (
        f"{MARK}\n### ✅ Retrieval: 1 gate passed\n\n"
        "|  | gate | measured | n |\n| --- | --- | --- | --- |\n"
        "| ✅ | `recall@10 >= 0.50` | 0.6875 < 0.7000 | 48 |\n"
    )


def test_the_terminal_names_each_gate_that_fell(fallen: GateReport):
    screen = Console(file=io.StringIO(), width=100)
    print_gates(fallen, screen)
    assert isinstance(screen.file, io.StringIO)
    text = screen.file.getvalue()
    assert "FAIL  recall@10 >= 0.70" in text
    assert "pass  recall@10 [a|b] 0.7 within 0.02" in text
    assert "  q-1 0.000 (was 1.000)" in text
    assert "  and 22 more" in text
    assert text.rstrip().endswith("2 of 3 gates fell")


def test_json_holds_exact_values(fallen: GateReport):
    values = json.loads(gates_json(fallen))
    assert values["passed"] is False
    first, _, nothing = values["gates"]
    assert (first["value"], first["exact"]) == (0.6875, "11/16")
    assert (first["gate"], first["rule"]) == ("recall@10", ">= 0.70")
    assert len(first["queries"]) == 32
    assert first["queries"][0] == {
        "query_id": "q-1",
        "value": 0.0,
        "before": 1.0,
        "error": None,
        "unwinnable": False,
    }
    assert (nothing["value"], nothing["exact"], nothing["stage"]) == (None, None, "pool")
    assert values["notices"][0]["code"] == "x"
