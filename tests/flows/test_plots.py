"""Notebooks: what the functions return shows itself, as text that nobody can run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from assay import Evaluation, compare_runs, diagnose, evaluate, load_project, plot_differences, score_runs
from assay.flows.demo import copy_demo
from assay.model.errors import InputError
from assay.model.scores import ScoreTable
from assay.report.html.notebook import html_of


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("notebook") / "demo"
    copy_demo(folder)
    return evaluate(load_project(folder))


def shown(noun: object) -> str:
    html = noun._repr_html_()  # type: ignore[attr-defined] - Jupyter's and marimo's own protocol
    assert isinstance(html, str)
    assert html.startswith('<div class="assay-nb">')
    assert "<script" not in html
    assert not re.search(r"(?:src|href)=\"http", html)
    return html


def test_an_evaluation_shows_measures_by_kind_and_stages(evaluation: Evaluation):
    html = shown(evaluation)
    for words in ("0.677", "conceptual", "reranked@50", "lost here"):
        assert words in html


def test_scores_show_means_and_queries(evaluation: Evaluation):
    html = shown(evaluation.scores)
    assert "<td>f01</td>" in html
    assert "28 more queries" in html


def test_runs_comparisons_diagnoses_findings_and_scorecards_show_themselves(evaluation: Evaluation):
    other = evaluate(evaluation.project.with_settings({"pipeline.reranker": "none"}))
    comparison = compare_runs(evaluation.project, evaluation.run.id, other.run.id)
    assert "not enough queries" in shown(comparison)
    assert evaluation.run.id in shown(evaluation.run)
    diagnosed = diagnose(evaluation.project, evaluation.run.id)
    assert "vocabulary-gap" in shown(diagnosed)
    assert diagnosed.diagnosis.findings[0].query_id in shown(diagnosed.diagnosis.findings[0])
    assert "nDCG@10" in shown(score_runs([{"q": {"d": 1.0}}], {"q": {"d": 1}}))
    assert plot_differences(comparison).svg.count("<svg") == 1 + len(comparison.rows)


def test_names_of_others_are_text(evaluation: Evaluation):
    hostile = ScoreTable(
        query_ids=("<img src=x onerror=alert(1)>",), values={"<b>": evaluation.scores.values["hit@10"][:1]}
    )
    assert "<img" not in shown(hostile)
    assert "<b>" not in shown(hostile)


@pytest.mark.parametrize("name", ["waterfall", "ranks", "recall"])
def test_a_plot_is_one_method_away_and_saves_a_whole_svg_file(
    evaluation: Evaluation, name: str, tmp_path: Path
):
    drawing = getattr(evaluation.plot, name)()
    path = drawing.save(tmp_path / f"{name}.svg")
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.find("{http://www.w3.org/2000/svg}style") is not None
    assert "<svg" in shown(drawing)


def test_a_waterfall_of_one_kind_and_of_none(evaluation: Evaluation):
    assert evaluation.plot.waterfall("lexical").svg != evaluation.plot.waterfall().svg
    with pytest.raises(InputError, match="no query is of kind 'tables'"):
        evaluation.plot.waterfall("tables")


def test_an_object_that_nobody_knows_is_refused():
    with pytest.raises(TypeError, match="nothing is known of how to show a int"):
        html_of(3)


def test_importing_assay_loads_nothing_heavy_and_every_public_name_loads():
    code = (
        "import sys, assay; heavy = {'numpy', 'polars', 'rich', 'jinja2', 'msgspec'} & set(sys.modules); "
        "assert not heavy, heavy; assert assay.__all__ == sorted(assay.__all__); "
        "[getattr(assay, name) for name in assay.__all__]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
