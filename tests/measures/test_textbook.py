"""The textbook functions against values worked by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import pytest

from assay.measures import single
from assay.measures.single import (
    average_precision,
    bpref,
    complete_at_k,
    dcg_at_k,
    expected_reciprocal_rank,
    f1_at_k,
    hit_rate_at_k,
    ideal_dcg,
    ideal_dcg_at_k,
    inferred_ap,
    judged_at_k,
    ndcg_at_k,
    precision_at_k,
    r_precision,
    rank_biased_precision,
    rbp_residual,
    recall_at_k,
    reciprocal_rank,
    score_list,
    set_f,
    set_precision,
)
from assay.model.errors import InputError

LESSON = ["d7", "d4", "d1", "d9", "d2"]
RIGHT = {"d1", "d2", "d3"}


def test_the_worked_example_of_the_lesson():
    # hits at ranks 3 and 5 of 3 relevant: DCG = 1/log2(4) + 1/log2(6), ideal = 1 + 1/log2(3) + 1/log2(4)
    assert f"{recall_at_k(LESSON, RIGHT, 5):.3f}" == "0.667"
    assert f"{precision_at_k(LESSON, RIGHT, 5):.3f}" == "0.400"
    assert f"{reciprocal_rank(LESSON, RIGHT):.3f}" == "0.333"
    assert f"{dcg_at_k(LESSON, RIGHT, 5):.4f}" == "0.8869"
    assert f"{ideal_dcg(3):.4f}" == "2.1309"
    assert f"{ndcg_at_k(LESSON, RIGHT, 5):.4f}" == "0.4162"
    assert f"{ideal_dcg(5):.4f}" == "2.9485"


def test_a_single_relevant_item_on_top_is_perfect_at_any_cut():
    assert ndcg_at_k(["d1", "x"], {"d1"}, 10) == 1.0


GOLD = {"q1": {"c1"}, "q2": {"c2"}, "q3": {"c3", "c9"}, "q4": {"c4"}, "q5": {"c5"}}
RUN_A = {
    "q1": ["c7", "c1", "c3"],
    "q2": ["c2", "c8", "c0"],
    "q3": ["c1", "c9", "c3"],
    "q4": ["c0", "c6", "c4"],
    "q5": ["c5", "c2", "c1"],
}
RUN_B = {
    "q1": ["c1", "c7", "c3"],
    "q2": ["c2", "c8", "c0"],
    "q3": ["c3", "c9", "c1"],
    "q4": ["c4", "c0", "c6"],
    "q5": ["c1", "c5", "c2"],
}


@pytest.mark.parametrize(
    ("run", "measure", "printed"),
    [
        (RUN_A, "hit@3", "1.000"),
        (RUN_A, "hit@1", "0.400"),  # q2 and q5
        (RUN_A, "RR", "0.667"),  # (1/2 + 1 + 1/2 + 1/3 + 1) / 5
        (RUN_A, "nDCG@3", "0.765"),
        (RUN_B, "hit@3", "1.000"),
        (RUN_B, "hit@1", "0.800"),
        (RUN_B, "recall@1", "0.700"),  # q3 has two relevant chunks: (1 + 1 + 1/2 + 1 + 0) / 5
        (RUN_B, "RR", "0.900"),
        (RUN_B, "nDCG@3", "0.926"),
    ],
)
def test_the_two_retrievers_of_the_example(run: dict[str, list[str]], measure: str, printed: str):
    values = [score_list(run[query], GOLD[query], measure) for query in GOLD]
    assert f"{sum(value or 0.0 for value in values) / len(values):.3f}" == printed


@pytest.mark.parametrize(
    ("value", "by_hand"),
    [
        (lambda: recall_at_k(["a", "x", "b"], {"a", "b", "c"}, 2), 1 / 3),
        (lambda: recall_at_k(["a", "x", "b"], {"a", "b", "c"}, 2, capped=True), 1 / 2),
        (lambda: recall_at_k(["a", "x", "b"], {"a", "b", "c"}, None), 2 / 3),
        (lambda: recall_at_k(["a", "b"], {"a": 1, "b": 2, "c": 2}, 2, rel=2), 1 / 2),
        (lambda: recall_at_k(["a", "b"], {"a": 0.5, "b": 0.25}, 1), 1 / 2),  # fractions are relevant
        (lambda: precision_at_k(["a", "x"], {"a"}, 5), 1 / 5),
        (lambda: hit_rate_at_k(["x", "a"], {"a", "b"}, 1), 0.0),
        (lambda: hit_rate_at_k(["x", "a"], {"a", "b"}, 2), 1.0),
        (lambda: complete_at_k(["a", "x", "b"], {"a", "b"}, 2), 0.0),
        (lambda: complete_at_k(["a", "x", "b"], {"a", "b"}, 3), 1.0),
        (lambda: reciprocal_rank(["x", "y", "a"], {"a"}, 2), 0.0),
        (lambda: reciprocal_rank(["x", "y", "a"], {"a": 1, "x": 0}), 1 / 3),
        (lambda: dcg_at_k(["x", "a", "b"], {"a": 2, "b": 3}, 3), 2 / log2(3) + 3 / 2),
        (lambda: dcg_at_k(["x", "a", "b"], {"a": 2, "b": 3}, 3, gain="exp"), 3 / log2(3) + 7 / 2),
        (lambda: ideal_dcg_at_k({"a": 2, "b": 3, "c": -1}, 5), 3 + 2 / log2(3)),
        (lambda: ndcg_at_k(["a", "b"], {"a": 2, "b": 3}, 1), 2 / 3),
        (lambda: average_precision(["a", "x", "b"], {"a", "b", "c"}), (1 + 2 / 3) / 3),
        (lambda: average_precision(["a", "x", "b"], {"a", "b", "c"}, 2), 1 / 3),
        (lambda: average_precision(["a", "x", "b"], {"a", "b", "c"}, 2, capped=True), 1 / 2),
        (lambda: r_precision(["a", "x", "b"], {"a", "b"}), 1 / 2),
        (lambda: f1_at_k(["a", "x"], {"a", "b", "c"}, 2), 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
        (lambda: f1_at_k(["x"], {"a"}, 1), 0.0),
        # R = 2, N = 2: a stands below one non-relevant (1 - 1/2), b below both (1 - 2/2)
        (lambda: bpref(["n", "a", "m", "b"], {"a": 1, "b": 1, "n": 0, "m": 0}), (1 / 2 + 0) / 2),
        (lambda: bpref(["x", "y", "a"], {"a": 1, "n": 0}), 1.0),  # unjudged items do not count
        (lambda: bpref(["p", "a"], {"a": 1, "p": -1}), 1.0),  # nor those pooled, but not judged
        (lambda: judged_at_k(["a", "x", "n"], {"a": 1, "n": 0}, 2), 1 / 2),
        (lambda: judged_at_k(["a"], {"a": 1, "n": 0}, 10), 1.0),  # an empty place is no unjudged hit
        (lambda: rank_biased_precision(["a", "x", "b"], {"a", "b"}, p=0.5), 0.5 * (1 + 1 / 4)),
        (lambda: rbp_residual(["a", "x", "n"], {"a": 1, "n": 0}, p=0.5), 1 - 0.5 * (1 + 1 / 4)),
        # stops with 3/16 at rank 1, else with 1/16 at rank 2
        (lambda: expected_reciprocal_rank(["a", "b"], {"a": 2, "b": 1}), 3 / 16 + 13 / 16 * 1 / 16 / 2),
        (lambda: expected_reciprocal_rank(["a"], {"a": 9}, max_grade=1), 1 / 2),  # above the scale: its top
        (lambda: set_precision(["a", "x", "y", "b"], {"a", "b", "c"}), 1 / 2),
        (lambda: set_f(["a", "x"], {"a"}, beta=2), 5 * (1 / 2) * 1 / (4 * (1 / 2) + 1)),
    ],
)
def test_values_worked_by_hand(value: Callable[[], float | None], by_hand: float):
    assert value() == pytest.approx(by_hand, abs=1e-15)


def test_inferred_ap_ignores_what_was_pooled_but_not_judged():
    # rank 2, one pooled above: 1/2 + (1/2) * (1/1) * (eps / 2 eps) = 1/2 + 1/4
    assert inferred_ap(["p", "a"], {"a": 1, "p": -1}) == pytest.approx(3 / 4)
    # a document outside the pool above it counts as 0: 1/2 + 0
    assert inferred_ap(["x", "a"], {"a": 1, "p": -1}) == pytest.approx(1 / 2)


EVERY: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (recall_at_k, (3,)),
    (precision_at_k, (3,)),
    (hit_rate_at_k, (3,)),
    (complete_at_k, (3,)),
    (reciprocal_rank, ()),
    (dcg_at_k, (3,)),
    (ndcg_at_k, (3,)),
    (average_precision, ()),
    (r_precision, ()),
    (f1_at_k, (3,)),
    (set_precision, ()),
    (set_f, ()),
    (bpref, ()),
    (inferred_ap, ()),
    (rank_biased_precision, ()),
    (expected_reciprocal_rank, ()),
]


@pytest.mark.parametrize(("function", "arguments"), EVERY)
def test_nothing_relevant_is_undefined_not_zero(function: Callable[..., Any], arguments: tuple[Any, ...]):
    assert function(["a", "b"], set[str](), *arguments) is None
    assert function(["a", "b"], {"a": 0, "b": -1}, *arguments) is None


@pytest.mark.parametrize(("function", "arguments"), EVERY)
def test_an_empty_list_scores_zero_when_something_is_relevant(
    function: Callable[..., Any], arguments: tuple[Any, ...]
):
    assert function([], {"a"}, *arguments) == 0.0


@pytest.mark.parametrize(("function", "arguments"), EVERY)
def test_repeats_in_the_golden_list_fold(function: Callable[..., Any], arguments: tuple[Any, ...]):
    assert function(["x", "a"], ["a", "a", "b"], *arguments) == function(["x", "a"], {"a", "b"}, *arguments)


@pytest.mark.parametrize(("function", "arguments"), EVERY)
def test_a_repeat_in_the_ranked_list_keeps_its_slot_and_earns_nothing(
    function: Callable[..., Any], arguments: tuple[Any, ...]
):
    repeated = function(["a", "a", "b"], {"a", "b"}, *arguments)
    if function is bpref:  # a repeat is as an unjudged item, and those do not count
        assert repeated == 1.0
    assert repeated == function(["a", "unjudged", "b"], {"a", "b"}, *arguments)


@pytest.mark.parametrize(("function", "arguments"), EVERY)
def test_one_string_in_place_of_a_list_or_a_set_is_refused(
    function: Callable[..., Any], arguments: tuple[Any, ...]
):
    with pytest.raises(InputError, match="one string"):
        function("abc", {"a"}, *arguments)
    with pytest.raises(InputError, match="one string"):
        function(["a"], "abc", *arguments)


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize(
    "function",
    [
        recall_at_k,
        precision_at_k,
        hit_rate_at_k,
        complete_at_k,
        reciprocal_rank,
        dcg_at_k,
        ndcg_at_k,
        f1_at_k,
    ],
)
def test_a_cut_below_one_is_refused(function: Callable[..., Any], k: int):
    with pytest.raises(InputError, match="k must be at least 1"):
        function(["a"], {"a"}, k)


@pytest.mark.parametrize("k", [2.5, True, "3"])
def test_a_cut_that_is_not_a_whole_number_is_refused(k: Any):
    with pytest.raises(InputError, match="whole number"):
        recall_at_k(["a"], {"a"}, k)


@pytest.mark.parametrize("grade", [float("nan"), float("inf")])
def test_a_grade_that_is_not_finite_is_refused(grade: float):
    with pytest.raises(InputError, match="finite"):
        ndcg_at_k(["a"], {"a": grade}, 3)


def test_a_threshold_of_zero_or_below_is_refused():
    with pytest.raises(InputError, match="rel must be above 0"):
        recall_at_k(["a"], {"a"}, 3, rel=0)


def test_an_unknown_gain_is_refused():
    with pytest.raises(InputError, match="linear or exp"):
        ndcg_at_k(["a"], {"a"}, 3, gain="log")  # pyright: ignore[reportArgumentType] - a user's slip


def test_a_grade_too_large_for_two_to_its_power_is_refused():
    with pytest.raises(InputError, match="too large"):
        ndcg_at_k(["a"], {"a": 5000}, 3, gain="exp")


def test_a_persistence_or_a_scale_out_of_range_is_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        rank_biased_precision(["a"], {"a"}, p=1.0)
    with pytest.raises(InputError, match="above 0"):
        expected_reciprocal_rank(["a"], {"a"}, max_grade=0)


def test_ideal_dcg_of_nothing_is_zero_and_of_less_is_refused():
    assert ideal_dcg(0) == 0.0
    with pytest.raises(InputError, match="at least 0"):
        ideal_dcg(-1)


def test_every_public_function_says_result_range_source_and_an_example():
    for name in single.__all__:
        text = getattr(single, name).__doc__
        assert ">>>" in text, name
        if name != "score_list":
            assert "Source:" in text, name
