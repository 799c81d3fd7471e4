from __future__ import annotations

from pathlib import Path

import pytest

from small_project import QUERIES, SETTINGS, make_project

pytest_plugins = ["pytester"]

LOST = {
    "id": "q4",
    "query": "What does E1300 mean?",
    "kind": "lexical",
    "anchors": [{"doc": "returns.md", "quote": "Opened software cannot be returned at all"}],
}
GATES = '\n[gate]\n"recall@2" = [">= 0.6", ">= 0.9"]\n"recall@2 [factual]" = ">= 1"\n'


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a project in it, two of whose three gates pass."""
    make_project(pytester.path, settings=SETTINGS + GATES, queries=[*QUERIES, LOST])
    return pytester


def run(inner: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return inner.runpytest("-p", "no:cacheprovider", *arguments)


def test_the_fixture_gives_figures_and_a_failure_names_the_queries(inner: pytest.Pytester):
    inner.makepyfile(
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
        """
    )
    result = run(inner)
    result.assert_outcomes(passed=1, failed=3)
    text = result.stdout.str()
    assert "assert recall@2 0.6666666666666666 >= 0.7" in text
    assert "queries that caused it, of 3:" in text
    assert "q4 0.000" in text
    assert "assert 0.1 >= recall@2 [factual] 1.0" in text
    assert "no queries evaluated: none has kind 'verbose'" in text


def test_each_gate_is_a_test_when_asked_for(inner: pytest.Pytester):
    inner.makepyfile("def test_nothing(): pass")
    result = run(inner, "--assay", "-v")
    result.assert_outcomes(passed=3, failed=1)
    text = result.stdout.str()
    assert "assay.toml::recall@2 >= 0.6 PASSED" in text
    assert "assay.toml::recall@2 >= 0.9 FAILED" in text
    assert "0.6667 < 0.9000" in text
    assert "q4 0.000" in text
    assert "Traceback" not in text


def test_gates_are_left_alone_when_not_asked_for(inner: pytest.Pytester):
    inner.makepyfile("def test_nothing(): pass")
    run(inner).assert_outcomes(passed=1)


def test_a_project_elsewhere_can_be_named(pytester: pytest.Pytester):
    make_project(pytester.path / "search", settings=SETTINGS + GATES)
    pytester.makepyfile('def test_it(assay_run): assert assay_run["recall@2"] >= 1')
    run(pytester, "--assay=search").assert_outcomes(passed=4)
    pytester.makeini("[pytest]\nassay_project = search\n")
    run(pytester).assert_outcomes(passed=1)


def test_a_stored_run_can_be_named(inner: pytest.Pytester):
    inner.makepyfile('def test_it(assay_run): assert assay_run["recall@2"] >= 0.5')
    run(inner).assert_outcomes(passed=1)
    run(inner, "--assay-run", "latest").assert_outcomes(passed=1)
    run(inner, "--assay-run", "nonsense").assert_outcomes(errors=1)


def test_a_broken_project_fails_with_its_faults_and_no_traceback(pytester: pytest.Pytester):
    make_project(pytester.path, settings=SETTINGS + '\n[gate]\n"recal@2" = ">= 1"\n')
    pytester.makepyfile("def test_nothing(): pass")
    result = run(pytester, "--assay")
    result.assert_outcomes(errors=1)
    assert "unknown measure 'recal@2'" in result.stdout.str()


def test_a_missing_project_is_said(pytester: pytest.Pytester, tmp_path: Path):
    pytester.makepyfile('def test_it(assay_run): assert assay_run["recall@2"] >= 1')
    result = run(pytester)
    result.assert_outcomes(errors=1)
    assert "assay.toml: there is no such file" in result.stdout.str()


def test_the_plugin_imports_nothing_of_assay_until_it_is_needed(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
        import sys

        def test_light():
            assert not {name for name in sys.modules if name.startswith(("assay.flows", "polars"))}
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
