from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from assay.comparison.baseline import load_baseline
from assay.flows.evaluate import evaluate
from assay.flows.figures import Figure, figures_of
from assay.flows.gate import gate, project_gates, update_baseline
from assay.flows.project import Project, load_project
from assay.model.errors import ConfigError, InputError, StoreError
from small_project import QUERIES, SETTINGS, make_project

LOST = {
    "id": "q4",
    "query": "What does E1300 mean?",
    "kind": "lexical",
    "anchors": [{"doc": "returns.md", "quote": "Opened software cannot be returned at all"}],
}
"""Asks for one thing and is anchored to another, so that no retriever finds it among two chunks."""


def project(folder: Path, gates: str, *, lost: bool = False) -> Project:
    queries = [*QUERIES, LOST] if lost else QUERIES
    return load_project(make_project(folder, settings=f"{SETTINGS}\n[gate]\n{gates}\n", queries=queries))


def test_gates_of_a_project_pass_and_fail_by_kind_and_stage(tmp_path: Path):
    gates = """
    "recall@2" = ["2/3 within 0.01", ">= 0.7"]
    "recall@2 [lexical]" = ">= 0.5"
    "pool: recall@4" = ">= 2/3"
    "table: recall@2" = ">= 0"
    "recall@2 [table]" = ">= 0"
    """
    report = gate(project(tmp_path, gates, lost=True)).report
    assert [result.passed for result in report.results] == [True, False, True, True, False, False]
    assert report.exit_code == 1
    floor = report.results[1]
    assert floor.exact == Fraction(2, 3)
    assert [cause.query_id for cause in floor.causes] == ["q4"]
    assert report.results[4].reason is not None
    assert report.results[4].reason.startswith("no stage 'table' was measured")
    assert report.results[5].reason is not None
    assert report.results[5].reason.startswith("no queries evaluated: none has kind 'table'")


def test_a_gate_may_name_a_measure_that_the_project_does_not_show(tmp_path: Path):
    report = gate(project(tmp_path, '"AP@3" = ">= 1"\n"vector: nDCG@1" = ">= 0"')).report
    assert report.passed
    assert [result.n for result in report.results] == [2, 2]


def test_a_project_without_gates_guards_nothing_and_says_so(tmp_path: Path):
    with pytest.raises(ConfigError, match="holds no gate"):
        gate(load_project(make_project(tmp_path)))


def test_faults_of_the_gate_table_name_it(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"assay.toml \[gate\] 'recall@2'"):
        project_gates(project(tmp_path, '"recall@2" = "about 0.7"'))
    with pytest.raises(ConfigError, match="path of a file"):
        gate(project(tmp_path, '"recall@2" = ">= 0.7"\nbaseline = 3'))


def test_a_baseline_is_written_held_against_and_updated_with_the_difference(tmp_path: Path):
    rules = '"recall@2" = "no worse than main by more than 0.1, and not significantly worse on any kind"'
    good = project(tmp_path, rules)
    first = update_baseline(good)
    assert first.path == tmp_path / "baselines" / "main.json"
    assert first.comparison is None
    stored = load_baseline(first.path)
    assert (stored.name, stored.run) == ("main", first.baseline.run)
    assert set(stored.digests) == {"golden", "corpus", "pipeline"}
    assert gate(good).report.passed

    # Nothing can be found among documents of which one is missing.
    (tmp_path / "docs" / "errors.md").write_text("# Errors\n\nNothing is said here.\n", encoding="utf-8")
    fallen = gate(good)
    assert [result.passed for result in fallen.report.results] == [False, True]
    assert [cause.query_id for cause in fallen.report.results[0].causes] == ["q2"]
    assert fallen.report.results[0].causes[0].before == 1.0
    assert fallen.report.results[0].causes[0].unwinnable
    assert fallen.comparison is not None
    assert fallen.comparison.base == "baseline main"
    assert fallen.comparison.row("recall@2").losses == 1

    second = update_baseline(good)
    assert second.comparison is not None
    assert second.comparison.row("recall@2").difference == -0.5
    assert gate(good).report.passed


def test_a_baseline_keeps_the_stages_that_gates_name(tmp_path: Path):
    updated = update_baseline(project(tmp_path, '"pool: recall@4" = "no worse"'))
    assert set(updated.baseline.tables) == {"pool", "final"}


def test_a_stored_run_can_be_held_against_the_gates(tmp_path: Path):
    guarded = project(tmp_path, '"recall@2" = ">= 1"')
    made = evaluate(guarded)
    assert gate(guarded, run=made.run.id[:6]).report.run == made.run.id
    with pytest.raises(StoreError):
        gate(guarded, run="zzz")


def test_a_baseline_that_was_named_has_to_be_there(tmp_path: Path):
    with pytest.raises(InputError, match="no such baseline"):
        gate(project(tmp_path, '"recall@2" = ">= 1"'), baseline=tmp_path / "other.json")


def test_figures_are_asked_for_by_the_names_of_gates(tmp_path: Path):
    figures = figures_of(evaluate(project(tmp_path, "", lost=True)))
    assert figures["recall@2"] == Fraction(2, 3)
    assert figures["recall@2 [lexical]"] == 0.5
    assert figures["pool: recall@4"].n == 3
    assert [cause.query_id for cause in figures["recall@2"].lower] == ["q4"]
    assert [cause.query_id for cause in figures["recall@2"].higher] == ["q1", "q2"]
    with pytest.raises(KeyError, match="no stage 'pol'"):
        figures["pol: recall@2"]
    with pytest.raises(ConfigError, match="does not name a figure"):
        figures["recall@2 [[lexical]"]


def test_a_figure_compares_exactly_and_is_a_float():
    figure = Figure(0.1 + 0.2)
    assert figure >= 0.3
    assert figure <= 0.3
    assert figure == 0.3
    assert figure == Fraction(3, 10)
    assert not figure > 0.3
    assert not figure < 0.3
    assert figure < 1
    assert figure > 0.29
    assert figure < float("inf")
    assert figure != "0.3"
    assert Figure(0.3) == figure
    assert hash(figure) == hash(0.1 + 0.2)
    assert f"{figure:.2f}" == "0.30"
    assert figure == pytest.approx(0.3)
