from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.measures.single import score_list
from assay.measures.spec import parse_measure
from assay.measures.ties import tie_groups, tie_mean, tie_range
from assay.model.errors import InputError
from assay.model.relevance import JudgedRows
from measures.ranked_lists import ListAndGrades, columns_of
from shared_data import load_cases, needs_shared, value_of

MEASURES = [
    "RR",
    "RR@2",
    "nDCG@3",
    "nDCG(gain=exp)",
    "DCG@2",
    "recall@2",
    "precision@3",
    "hit@1",
    "AP",
    "AP@2",
]


def orders_of(ranked: Sequence[str], scores: Sequence[float]) -> list[list[str]]:
    """Return every order that the scores allow."""
    groups = [
        [item for item, _ in group]
        for _, group in itertools.groupby(zip(ranked, scores, strict=True), key=lambda pair: pair[1])
    ]
    return [
        list(itertools.chain.from_iterable(parts))
        for parts in itertools.product(*(itertools.permutations(group) for group in groups))
    ]


@st.composite
def tied_lists(draw: st.DrawFn) -> tuple[list[str], list[float], dict[str, float]]:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).filter(lambda sizes: sum(sizes) <= 7))
    ranked = [f"d{place}" for place in range(sum(sizes))]
    scores = [float(-group) for group, size in enumerate(sizes) for _ in range(size)]
    grades = draw(st.dictionaries(st.sampled_from([*ranked, "z1", "z2"]), st.integers(-1, 3).map(float)))
    return ranked, scores, grades


@pytest.mark.parametrize("spelling", MEASURES)
@given(made=tied_lists())
@settings(max_examples=40, deadline=None)
def test_range_and_mean_equal_those_of_all_orders_written_out(
    spelling: str, made: tuple[list[str], list[float], dict[str, float]]
):
    ranked, scores, grades = made
    measure = parse_measure(spelling)
    judged = columns_of([ListAndGrades(ranked, grades)])
    groups = tie_groups(judged.found, np.array([0, len(ranked)]), np.array(scores))
    spread = tie_range(judged, groups, [measure])[spelling]
    mean = tie_mean(judged, groups, measure)
    values = [score_list(order, grades, measure) for order in orders_of(ranked, scores)]
    known = [value for value in values if value is not None]
    if not known:
        assert math.isnan(spread.best[0])
        assert math.isnan(mean[0])
        assert not spread.changed[0]
        return
    assert spread.worst[0] == pytest.approx(min(known), abs=1e-12)
    assert spread.best[0] == pytest.approx(max(known), abs=1e-12)
    assert spread.given[0] == known[0]
    assert mean[0] == pytest.approx(sum(known) / len(known), abs=1e-12)


def test_only_queries_whose_ties_touch_a_judged_item_count_as_changed():
    # q0: the tie holds the relevant item; q1: the tie is among unjudged ones below it; q2: all relevant
    judged = columns_of(
        [
            ListAndGrades(["x", "a"], {"a": 1.0}),
            ListAndGrades(["a", "x", "y"], {"a": 1.0}),
            ListAndGrades(["a", "b"], {"a": 1.0, "b": 1.0}),
        ]
    )
    groups = tie_groups(judged.found, np.array([0, 2, 5, 7]), np.array([0.5, 0.5, 0.9, 0.5, 0.5, 0.5, 0.5]))
    spread = tie_range(judged, groups, [parse_measure("RR"), parse_measure("nDCG@10")])
    assert spread["RR"].changed.tolist() == [True, False, False]
    assert spread["nDCG@10"].changed.tolist() == [True, False, False]


def test_hits_of_neighbouring_queries_are_never_tied_with_each_other():
    judged = columns_of([ListAndGrades(["a"], {"a": 1.0}), ListAndGrades(["b"], {"b": 1.0})])
    groups = tie_groups(judged.found, np.array([0, 1, 2]), np.array([0.5, 0.5]))
    assert groups.first.tolist() == groups.last.tolist() == [1, 1]


def test_hits_without_a_score_are_tied_with_nothing():
    judged = columns_of([ListAndGrades(["x", "a"], {"a": 1.0})])
    groups = tie_groups(judged.found, np.array([0, 2]), np.array([np.nan, np.nan]))
    assert groups.first.tolist() == groups.last.tolist() == [2]


def test_without_ties_worst_given_and_best_are_one():
    judged = columns_of([ListAndGrades(["x", "a"], {"a": 1.0})])
    groups = tie_groups(judged.found, np.array([0, 2]), np.array([2.0, 1.0]))
    spread = tie_range(judged, groups, [parse_measure("RR")])["RR"]
    assert spread.worst.tolist() == spread.given.tolist() == spread.best.tolist() == [0.5]


def test_a_mean_that_is_not_known_in_closed_form_is_refused():
    judged = columns_of([ListAndGrades(["a"], {"a": 1.0})])
    groups = tie_groups(judged.found, np.array([0, 1]), np.array([1.0]))
    with pytest.raises(InputError, match="not known in closed form"):
        tie_mean(judged, groups, parse_measure("bpref"))


@needs_shared
def test_m08_three_equal_scores_give_the_range_of_the_shared_case():
    case = load_cases()["M08"]
    rows = case["input"]["rows_in_returned_order"]
    grades = dict.fromkeys(case["input"]["relevant"], 1.0)
    judged = columns_of([ListAndGrades([item for item, _ in rows], grades)])
    groups = tie_groups(judged.found, np.array([0, len(rows)]), np.array([value for _, value in rows]))
    rr, ndcg = parse_measure("RR@3"), parse_measure("nDCG@3")
    spread = tie_range(judged, groups, [rr, ndcg])
    wanted = case["expected"]["range_over_tie_orders"]
    assert spread["RR@3"].given[0] == pytest.approx(value_of(case["expected"]["rr@3"]))
    assert spread["nDCG@3"].given[0] == pytest.approx(value_of(case["expected"]["ndcg@3"]))
    assert groups.last[0] - groups.first[0] + 1 == case["expected"]["tie_group_size"]
    assert spread["RR@3"].best[0] == pytest.approx(value_of(wanted["rr_best"]))
    assert spread["RR@3"].worst[0] == pytest.approx(value_of(wanted["rr_worst"]))
    assert tie_mean(judged, groups, rr)[0] == pytest.approx(value_of(wanted["rr_mean"]))
    assert tie_mean(judged, groups, ndcg)[0] == pytest.approx(value_of(wanted["ndcg_mean"]))


def test_a_rank_beyond_its_list_is_refused_with_what_mends_it():
    rows = JudgedRows(query=np.array([0], np.int32), rank=np.array([3], np.int32), grade=np.ones(1))
    with pytest.raises(InputError) as caught:
        tie_groups(rows, np.array([0, 2]), np.array([0.9, 0.5]))
    assert str(caught.value) == (
        "a judged row has a rank beyond its list\n"
        "  fix: judge these very lists: offsets says how long each is"
    )
