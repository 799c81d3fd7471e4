from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.measures.batch import ceilings, score
from assay.measures.spec import FAMILIES, parse_measure, parse_measures
from assay.model.errors import InputError
from assay.model.relevance import Judged, JudgedRows
from measures.ranked_lists import ListAndGrades, columns_of, rows_of


def one(judged: Judged, spelling: str) -> float:
    return float(score(judged, [parse_measure(spelling)])[spelling][0])


def ceiling(judged: Judged, spelling: str) -> float:
    return float(ceilings(judged, [parse_measure(spelling)])[spelling][0])


def test_no_queries_give_empty_columns():
    judged = Judged(
        query_ids=(), found=JudgedRows.empty(), ideal=JudgedRows.empty(), retrieved=np.zeros(0, np.int64)
    )
    measures = parse_measures(
        [f"{family.name}@5" if family.cut == "needed" else family.name for family in FAMILIES]
    )
    assert {len(values) for values in score(judged, measures).values()} == {0}


def test_columns_are_named_as_they_were_asked_for():
    judged = columns_of([ListAndGrades(["a"], {"a": 1.0})])
    assert list(score(judged, parse_measures(["MRR@10", "Success@1"]))) == ["MRR@10", "Success@1"]


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 1, 1.0), (0, 1, 1.0)],  # queries out of order
        [(0, 2, 1.0), (0, 1, 1.0)],  # ranks out of order
        [(0, 0, 1.0)],  # a rank below 1
        [(2, 1, 1.0)],  # a query that is not there
    ],
)
def test_rows_that_would_be_misread_are_refused(rows: list[tuple[int, int, float]]):
    judged = columns_of([ListAndGrades(["a"], {"a": 1.0}), ListAndGrades(["a"], {"a": 1.0})])
    with pytest.raises(InputError):
        score(replace(judged, found=rows_of(rows)), parse_measures(["RR"]))


# The anchor unit: one hit may earn several items. Here rank 1 covers two anchors and rank 3 a third, of
# four; the best chunks hold two anchors each.
SHARED = Judged(
    query_ids=("q",),
    found=rows_of([(0, 1, 1.0), (0, 1, 1.0), (0, 3, 1.0)]),
    ideal=rows_of([(0, 1, 1.0), (0, 1, 1.0), (0, 2, 1.0), (0, 2, 1.0)]),
    retrieved=np.array([5]),
)


@pytest.mark.parametrize(
    ("spelling", "value"),
    [
        ("recall@1", 2 / 4),  # two of four anchors
        ("recall(capped=true)@1", 1.0),  # no list can hold more at k = 1
        ("recall@3", 3 / 4),
        ("precision@1", 1.0),  # one place, and it was useful: never 2
        ("precision@3", 2 / 3),
        ("hit@1", 1.0),
        ("complete@5", 0.0),
        ("RR", 1.0),
        ("DCG@3", 2 + 1 / 2),  # both gains at rank 1
        ("nDCG@1", 1.0),
        ("AP", (1 + 1 + 2 / 3) / 4),  # the precision of useful ranks, once for each anchor
        ("Rprec", 3 / 4),  # anchors in the first four ranks
        ("F1@3", 2 * (2 / 3) * (3 / 4) / (2 / 3 + 3 / 4)),
        ("judged@3", 2 / 3),
        ("RBP(p=0.5)", 0.5 * (1 + 1 / 4)),
        ("SetP", 2 / 5),
        ("ERR(max=1)", 1 / 2 + (1 / 2) * (1 / 2) + (1 / 4) * (1 / 2) / 3),
    ],
)
def test_a_hit_that_earns_two_anchors(spelling: str, value: float):
    assert one(SHARED, spelling) == pytest.approx(value, abs=1e-15)


def test_a_perfect_list_of_hits_with_two_anchors_each_scores_one():
    perfect = replace(SHARED, found=SHARED.ideal, retrieved=np.array([2]))
    for spelling in (
        "nDCG@5",
        "nDCG@1",
        "recall@2",
        "AP",
        "Rprec",
        "complete@2",
        "precision@2",
        "SetP",
        "RR",
    ):
        assert one(perfect, spelling) == 1.0, spelling


@pytest.mark.parametrize(
    ("spelling", "value"),
    [
        ("precision@10", 0.2),  # two relevant items in ten places
        ("recall@1", 0.5),
        ("recall@10", 1.0),
        ("AP@1", 0.5),
        ("nDCG@10", 1.0),
        ("F1@4", 2 * (2 / 4) * 1 / (2 / 4 + 1)),
        ("RBP(p=0.5)", 1 - 0.25),
        ("hit@1", 1.0),
        ("SetP", 1.0),
        ("judged@10", 1.0),
        ("complete@1", 0.0),
        ("bpref", 1.0),
    ],
)
def test_the_ceiling_is_what_the_best_list_scores(spelling: str, value: float):
    judged = columns_of([ListAndGrades(["x"] * 10, {"a": 1.0, "b": 1.0, "n": 0.0})])
    assert ceiling(judged, spelling) == pytest.approx(value)


def test_lost_items_lower_the_ceiling():
    # two anchors, of which one stands in no chunk: the best list holds the other
    judged = replace(columns_of([ListAndGrades([], {"a": 1.0, "b": 1.0})]), best=rows_of([(0, 1, 1.0)]))
    assert ceiling(judged, "recall@10") == 0.5
    assert ceiling(judged, "complete@10") == 0.0
    assert ceiling(judged, "nDCG@10") == pytest.approx(1 / (1 + 1 / np.log2(3)))


def test_the_ceiling_of_a_query_without_relevant_items_is_undefined():
    assert np.isnan(ceiling(columns_of([ListAndGrades(["x"], {"n": 0.0})]), "recall@10"))


def test_the_ceiling_of_a_query_that_cannot_be_won_is_zero():
    judged = replace(columns_of([ListAndGrades([], {"a": 1.0})]), best=JudgedRows.empty())
    assert ceiling(judged, "recall@10") == ceiling(judged, "nDCG@10") == 0.0


def test_hits_with_two_anchors_do_not_lower_the_ceiling_of_what_counts_ranks():
    # the two anchors may also stand in two chunks, one each: two useful places of ten
    assert ceiling(SHARED, "precision@10") == pytest.approx(0.4)
    assert ceiling(SHARED, "recall@1") == 0.5
