"""The plugin, in a pytest of its own process: compiled packages cannot be imported twice in one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from assay.flows.evaluate import evaluate
from assay.flows.project import load_project
from small_project import QUERIES, SETTINGS, make_project

LOST = {
    "id": "q4",
    "query": "What does E1300 mean?",
    "kind": "lexical",
    "anchors": [{"doc": "returns.md", "quote": "Opened software cannot be returned at all"}],
}
GATES = '\n[gate]\n"recall@2" = [">= 0.6", ">= 0.9"]\n"recall@2 [factual]" = ">= 1"\n'


def run(folder: Path, test: str, *arguments: str) -> tuple[dict[str, int], str]:
    """Run one test file in a folder; return how many passed, failed and broke, and what was printed."""
    (folder / "test_inner.py").write_text(dedent(test), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    text = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    summary = text.strip().splitlines()[-1]
    counts = {noun.rstrip("s"): int(count) for count, noun in re.findall(r"(\d+) (\w+)", summary)}
    return {noun: counts[noun] for noun in ("passed", "failed", "error") if noun in counts}, text


def test_the_fixture_gives_figures_and_a_failure_names_the_queries(tmp_path: Path):
    make_project(tmp_path, queries=[*QUERIES, LOST])
    counts, text = run(
        tmp_path,
        """
        def test_enough(assay_run):
            assert assay_run["recall@2"] >= 0.66
            assert assay_run["recall@2 [factual]"] == 1

        def test_too_little(assay_run):
            assert assay_run["recall@2"] >= 0.70

        def test_other_side(assay_run):
            assert 0.1 >= assay_run["recall@2 [factual]"]

        def test_unknown(assay_run):
            assert assay_run["nDCG@2 [verbose]"] >= 0
        """,
    )
    assert counts == {"passed": 1, "failed": 3}
    assert "assert recall@2 0.6666666666666666 >= 0.7" in text
    assert "queries that caused it, of 3:" in text
    assert "q4 0.000" in text
    assert "assert 0.1 >= recall@2 [factual] 1.0" in text
    assert "no queries evaluated: none has kind 'verbose'" in text


def test_each_gate_is_a_test_when_asked_for(tmp_path: Path):
    make_project(tmp_path, settings=SETTINGS + GATES, queries=[*QUERIES, LOST])
    counts, text = run(tmp_path, "def test_nothing(): pass", "--assay", "-v")
    assert counts == {"passed": 3, "failed": 1}
    assert "assay.toml::recall@2 >= 0.6 PASSED" in text
    assert "assay.toml::recall@2 >= 0.9 FAILED" in text
    assert "0.6667 < 0.9000" in text
    assert "q4 0.000" in text
    assert "Traceback" not in text


def test_gates_are_left_alone_and_nothing_is_imported_when_nothing_asks_for_them(tmp_path: Path):
    make_project(tmp_path, settings=SETTINGS + GATES)
    counts, _ = run(
        tmp_path,
        """
        import sys

        def test_light():
            assert not {name for name in sys.modules if name.startswith(("assay.flows", "polars"))}
        """,
    )
    assert counts == {"passed": 1}


def test_a_project_elsewhere_and_a_stored_run_can_be_named(tmp_path: Path):
    folder = make_project(tmp_path / "search", settings=SETTINGS + GATES)
    stored = evaluate(load_project(folder)).run.id
    make_project(folder, settings=SETTINGS + GATES, queries=[*QUERIES, LOST])
    (tmp_path / "pytest.ini").write_text("[pytest]\nassay_project = search\n", encoding="utf-8")
    test = 'def test_it(assay_run): assert assay_run["recall@2"] < 1'
    # The stored run was never asked the fourth query, which scores 0: 2 of 3 is below 0.9.
    counts, _ = run(tmp_path, test, "--assay", f"--assay-run={stored[:8]}")
    assert counts == {"passed": 3, "failed": 1}


def test_a_broken_project_fails_with_its_faults_and_no_traceback(tmp_path: Path):
    make_project(tmp_path, settings=SETTINGS + '\n[gate]\n"recal@2" = ">= 1"\n')
    counts, text = run(tmp_path, "def test_nothing(): pass", "--assay")
    assert counts == {"error": 1}
    assert "unknown measure 'recal@2'" in text
    assert "Traceback" not in text


def test_a_missing_project_is_said(tmp_path: Path):
    counts, text = run(tmp_path, 'def test_it(assay_run): assert assay_run["recall@2"] >= 1')
    assert counts == {"error": 1}
    assert "assay.toml: there is no such file" in text
