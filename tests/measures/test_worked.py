from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from assay.measures.single import score_list
from assay.measures.spec import FAMILIES, parse_measure
from assay.measures.worked import work, work_list
from assay.measures.working import Item, OneList, Worked
from measures.ranked_lists import ListAndGrades, lists_and_grades

LESSON = ["d7", "d4", "d1", "d9", "d2"]
RIGHT = {"d1", "d2", "d3"}
SPELLINGS = [f"{family.name}@4" if family.cut != "none" else family.name for family in FAMILIES]


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(made=lists_and_grades())
@settings(max_examples=30, deadline=None)
def test_the_value_is_the_one_that_the_table_shows(spelling: str, made: ListAndGrades):
    assert work(made.ranked, made.grades, spelling).value == score_list(made.ranked, made.grades, spelling)


@pytest.mark.parametrize("spelling", ["DCG@4", "DCG(gain=exp)", "nDCG@4", "nDCG(gain=exp)@3", "AP", "AP@3"])
@given(made=lists_and_grades())
@settings(max_examples=30, deadline=None)
def test_the_parts_add_up_to_the_value(spelling: str, made: ListAndGrades):
    worked = work(made.ranked, made.grades, spelling)
    parts = [part for part in worked.details if part.value is not None and not part.mistake]
    if worked.value is None:
        assert not parts
    elif spelling.startswith("nDCG"):
        dcg, ideal = (part.value or 0.0 for part in parts)
        assert worked.value == pytest.approx(dcg / ideal)
        assert ideal == pytest.approx(sum(term.value or 0.0 for term in parts[1].details))
    elif spelling.startswith("DCG"):
        assert worked.value == pytest.approx(sum(part.value or 0.0 for part in parts))
    else:
        relevant = sum(grade > 0 for grade in made.grades.values())
        assert worked.value == pytest.approx(sum(part.value or 0.0 for part in parts) / relevant)


def test_the_lesson_line_by_line():
    assert work(LESSON, RIGHT, "nDCG@5").lines() == [
        "nDCG@5 = DCG / ideal DCG = 0.8869 / 2.1309 = 0.4162",
        "  DCG of the list, gain / log2(rank + 1) = 0.8869",
        "    rank 3: d1, 1 / log2(4) = 1 / 2.0000 = 0.5000",
        "    rank 5: d2, 1 / log2(6) = 1 / 2.5850 = 0.3869",
        "  ideal DCG, 3 items (min of k = 5 and 3 relevant), best grade first = 2.1309",
        "    rank 1: d1, 1 / log2(2) = 1 / 1.0000 = 1.0000",
        "    rank 2: d2, 1 / log2(3) = 1 / 1.5850 = 0.6309",
        "    rank 3: d3, 1 / log2(4) = 1 / 2.0000 = 0.5000",
        "  a usual mistake, the ideal over k = 5 places instead of 3: 0.8869 / 2.9485 = 0.3008",
        "  a usual mistake, the ideal of what was returned alone: 0.8869 / 1.6309 = 0.5438",
    ]


def mistakes(worked: Worked) -> Iterator[float | None]:
    return (part.value for part in worked.details if part.mistake)


@pytest.mark.parametrize(
    ("ranked", "relevant", "spelling", "printed"),
    [
        # min(k, relevant) = k: both ideals are one, and all was returned in order
        (["a", "b"], {"a", "b"}, "nDCG@2", []),
        (["x", "y"], {"a"}, "nDCG@2", []),  # 0 over anything is 0
        (["a", "x"], {"a", "b"}, "recall@2", [1.0]),  # hit rate for recall
        (["a"], {"a"}, "recall@2", []),
        (["a", "b", "x"], {"a", "c"}, "precision@10", [1 / 3]),  # over what was returned
        (["x", "y", "a"], {"a"}, "RR@2", [1 / 3]),  # the cut ignored
        (["a", "x"], {"a", "b"}, "AP", [1.0]),  # over what was found
    ],
)
def test_the_usual_mistake_is_named_only_where_it_would_show(
    ranked: list[str], relevant: set[str], spelling: str, printed: list[float]
):
    assert list(mistakes(work(ranked, relevant, spelling))) == pytest.approx(printed)


def test_exponential_gains_are_spelt_out():
    lines = work(["a"], {"a": 3}, "nDCG(gain=exp)@1").lines()
    assert "    rank 1: a, 2^3 - 1 = 7; 7 / log2(2) = 7 / 1.0000 = 7.0000" in lines


def test_what_is_not_in_the_list_is_named():
    lines = work(LESSON, RIGHT, "recall@3").lines()
    assert lines[0] == "recall@3 = 1 of 3 relevant = 0.3333"
    assert lines[1:4] == ["  rank 3: d1", "  rank 5: d2, deeper than 3", "  not in the list of 5: d3"]


def test_an_undefined_measure_says_why():
    assert work(["a"], set[str](), "AP").lines() == ["AP is undefined: nothing is relevant"]
    assert work([], {"a"}, "judged@3").lines() == [
        "judged@3 is undefined: the list is empty, or the query has no judgement"
    ]


def test_an_explanation_does_not_depend_on_the_order_of_a_set():
    assert work(["b"], ["c", "b", "a"], "nDCG@5") == work(["b"], ["a", "c", "b"], "nDCG@5")


def test_a_hit_that_earns_two_anchors_has_both_at_its_rank():
    made = OneList(
        met=(Item(rank=2, grade=1.0, name="a1"), Item(rank=2, grade=1.0, name="a2")),
        ideal=(Item(rank=1, grade=1.0, name="a1"), Item(rank=1, grade=1.0, name="a2")),
        retrieved=2,
    )
    worked = work_list(made, parse_measure("nDCG@5"))
    assert worked.value == pytest.approx(0.6309, abs=1e-4)
    assert [part.description[:10] for part in worked.details[0].details] == ["rank 2: a1", "rank 2: a2"]
    precision = work_list(made, parse_measure("precision@2"))
    assert precision.lines()[0] == "precision@2 = 1 of 2 places hold something relevant = 0.5000"
