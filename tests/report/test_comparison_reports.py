from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from assay.comparison.gate import check_gates, parse_gates
from assay.comparison.matrix import compare_many
from assay.comparison.paired import compare_tables
from assay.model.comparison import Comparison, SideBySide
from assay.model.runs import Hit
from assay.model.scores import ScoreTable
from assay.report.comparison import (
    comparison_json,
    matrix_json,
    print_comparison,
    print_matrix,
)
from assay.report.github import step_summary
from assay.report.markdown import comparison_markdown, matrix_markdown


def table(scores: list[float]) -> ScoreTable:
    return ScoreTable(
        query_ids=tuple(f"q{number:02}" for number in range(len(scores))),
        values={"recall@10": np.array(scores)},
        groups={"kind": tuple("odd" if number % 2 else "even" for number in range(len(scores)))},
    )


BASE = table([1.0] * 30 + [0.0] * 26)
CANDIDATE = table([1.0] * 54 + [0.0] * 2)


@pytest.fixture
def comparison() -> Comparison:
    return compare_tables(BASE, CANDIDATE, names=("main", "try_out"), draws=1_000)


def hit(rank: int, chunk: str) -> Hit:
    return Hit(rank=rank, chunk_id=chunk, doc_id="d", start=None, end=None, score=None)


def screen() -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, width=160), file


def test_markdown_has_the_sentence_the_table_and_what_moved(comparison: Comparison):
    text = comparison_markdown(comparison)
    assert text.startswith("### main → try\\_out\n")
    assert comparison.row("recall@10").sentence in text
    assert "| recall@10 | all | 56 | 0.536 | 0.964 | +0.429 |" in text
    assert "| 24 / 0 / 32 | better |" in text
    assert "<details><summary>recall@10: 24 moved</summary>" in text
    assert "| q30 | even | 0.000 | 1.000 |" in text
    assert "and 4 more" in text
    assert "Holm over 3 tests, alpha 0.05, seed 0" in text


def test_rows_without_queries_show_no_number():
    nothing = ScoreTable(query_ids=("a",), values={"RR": np.array([float("nan")])})
    text = comparison_markdown(compare_tables(nothing, nothing, by=None))
    assert "| RR | all | 0 | - | - | - | - | 1 | 1 | 0 / 0 / 0 | nothing to compare |" in text


def test_the_terminal_shows_moved_queries_or_both_lists(comparison: Comparison):
    console, file = screen()
    print_comparison(comparison, console, most_moved=3)
    text = file.getvalue()
    assert "main -> try_out" in text
    assert comparison.row("recall@10").sentence in text
    assert "q32" in text
    assert "and 21 more" in text
    lists = SideBySide(
        query_id="q30",
        text="what is it?",
        kind="even",
        base=(hit(1, "c7"), hit(2, "c1")),
        candidate=(hit(1, "c1"),),
        relevant=frozenset({"c1"}),
    )
    console, file = screen()
    print_comparison(replace(comparison, lists=(lists,)), console)
    shown = [line.split() for line in file.getvalue().splitlines()]
    assert ["q30", "[even]", "what", "is", "it?"] in shown
    assert ["1", "c7", "*", "c1"] in shown
    assert ["2", "*", "c1"] in shown


def test_json_of_a_comparison_is_whole(comparison: Comparison):
    values = json.loads(comparison_json(comparison))
    row = values["rows"][0]
    assert (row["measure"], row["group"], row["wins"], row["losses"], row["ties"]) == (
        "recall@10",
        None,
        24,
        0,
        32,
    )
    assert row["p"] == comparison.row("recall@10").p
    assert row["interval"]["confidence"] == 0.95
    assert values["moved"]["recall@10"][0]["difference"] == 1.0
    assert (values["seed"], values["alpha"], values["tests"]) == (0, 0.05, 3)


def test_a_matrix_shows_each_pair_once():
    matrix = compare_many({"a": BASE, "b": CANDIDATE, "c": BASE}, draws=500)
    console, file = screen()
    print_matrix(matrix, console)
    rows = [line.split() for line in file.getvalue().splitlines()]
    assert rows[1][:3] == ["a", "0.536", "+0.429*"]
    assert rows[3] == ["c", "0.536"]
    text = matrix_markdown(matrix)
    assert "| a | 0.536 |  | +0.429* (p " in text
    assert "over 56 queries" in text
    values = json.loads(matrix_json(matrix))
    assert values["runs"] == ["a", "b", "c"]
    assert len(values["pairs"]) == 3


def test_the_step_summary_holds_gates_and_comparison(comparison: Comparison):
    report = check_gates(parse_gates({"recall@10": ">= 0.9"}), {"final": CANDIDATE})
    text = step_summary(report, comparison)
    assert "1 gate passed" in text
    assert "main → try" in text
