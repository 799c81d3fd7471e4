from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from assay.flows.project import load_project
from assay.flows.sweep import sweep
from assay.flows.sweep_plan import load_plan
from assay.model.sweep import SweepResult
from assay.report.html.sweep import quality_plot, sweep_html
from assay.report.sweep import print_sweep, sweep_json
from flows.headed_project import make_headed
from hostile_project import ATTACK


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    folder = make_headed(tmp_path_factory.mktemp("swept"), splits=True)
    project = load_project(folder)
    plan = load_plan(project, None, ["max_chars=70,140", "lists=vector,fulltext,both"])
    return sweep(project, plan, final=True)


def printed(result: SweepResult, **how: int) -> str:
    console = Console(width=100, record=True, highlight=False, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    print_sweep(result, console, **how)
    console.file.close()
    return console.export_text()


def test_the_table_fits_a_terminal_and_shows_as_many_rows_as_asked_for(result: SweepResult):
    text = printed(result, most_rows=2)
    assert all(len(line.rstrip()) <= 100 for line in text.splitlines())
    assert "…" not in text
    assert "... and 4 more (--rows 6 shows all)" in text
    assert "Held out: " in text


def test_json_without_times_has_none(result: SweepResult):
    plain = json.loads(sweep_json(result, timed=False))
    assert set(plain["rows"][0]["costs"]) == {"prompt_tokens", "index_bytes"}
    assert set(plain["fronts"]) == {"prompt_tokens", "index_bytes"}
    whole = json.loads(sweep_json(result))
    assert set(whole["fronts"]) == {"prompt_tokens", "index_bytes", "p50_ms", "p95_ms", "build_ms"}
    assert whole["rows"][0]["means"] == plain["rows"][0]["means"]


def test_the_page_draws_every_configuration_against_every_cost(result: SweepResult):
    page = sweep_html(result)
    assert page.count("<circle") >= 5 * 6
    for name in ("Tokens of the prompt", "Size of the index", "Latency of a query, p50", "Time of building"):
        assert f"<h3>{name}</h3>" in page
    # Nothing is asked for from outside.
    assert not re.search(r"(src|href)=\"(?!#|data:)", page)
    assert "http://" not in page
    assert "https://" not in page


def test_a_front_is_drawn_from_left_to_right_and_upwards(result: SweepResult):
    for cost in ("prompt_tokens", "index_bytes", "p50_ms"):
        (path,) = re.findall(r'<path d="([^"]*)"', quality_plot(result, cost))
        across = [float(one) for one in re.findall(r"[MH](\d+\.\d)", path)]
        up = [float(one) for one in re.findall(r"[V](\d+\.\d)", path)]
        assert across == sorted(across)
        assert up == sorted(up, reverse=True)  # paper counts downwards
        assert len(across) == len(result.fronts[cost]) + 1


def test_equal_results_give_equal_pages(result: SweepResult):
    assert sweep_html(result) == sweep_html(replace(result))


def test_names_are_text_and_never_markup(result: SweepResult):
    knob = replace(result.knobs[0], labels=(ATTACK, "140"))
    rows = tuple(
        replace(
            row,
            configuration=replace(row.configuration, labels={**row.configuration.labels, knob.name: ATTACK}),
        )
        for row in result.rows
    )
    page = sweep_html(replace(result, name=ATTACK, knobs=(knob, *result.knobs[1:]), rows=rows))
    assert ATTACK not in page
    assert "<img" not in page
    assert page.count("<script") == 2


def test_one_configuration_alone_makes_a_page(tmp_path: Path):
    project = load_project(make_headed(tmp_path))
    alone = sweep(project, load_plan(project, None, ["pool=4"], timed=0))
    assert alone.shrinkage is None
    assert alone.fronts["p50_ms"] == ()
    page = sweep_html(alone)
    assert "Latency" not in page
    assert "Best is pool=4" in printed(alone)
