from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.retrieval.stages.diversify import DiversifyStage, mmr
from assay.retrieval.stages.lists import lists_of
from shared_data import load_cases, needs_shared


def likeness(names: list[str], pairs: dict[str, str], between: str) -> NDArray[np.float64]:
    matrix = np.eye(len(names))
    for left, right in combinations(range(len(names)), 2):
        matrix[left, right] = matrix[right, left] = float(pairs[f"{names[left]}{between}{names[right]}"])
    return matrix


def test_a_twin_of_the_first_falls_behind_something_new():
    # At 1/2: b = 0.4 - 0.475 = -0.075, c = 0.2 - 0.05 = 0.15.
    matrix = np.array([[1, 0.95, 0.1], [0.95, 1, 0.2], [0.1, 0.2, 1]])
    order, values = mmr(np.array([0.9, 0.8, 0.4]), matrix.__getitem__, balance=0.5, most=3)
    assert order.tolist() == [0, 2, 1]
    assert values[1] == pytest.approx(0.15)


def test_equal_rows_stay_in_their_incoming_order():
    order, _ = mmr(np.ones(4), np.ones((4, 4)).__getitem__, balance=0.5, most=4)
    assert order.tolist() == [0, 1, 2, 3]


def test_a_row_of_infinite_badness_is_still_taken_once():
    order, _ = mmr(np.array([1.0, -np.inf, -np.inf]), np.eye(3).__getitem__, balance=0.9, most=3)
    assert order.tolist() == [0, 1, 2]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 2**32), st.floats(0, 1))
def test_mmr_is_a_permutation_that_starts_with_the_best_and_its_values_never_rise(
    relevance: list[float], seed: int, balance: float
):
    rows = np.random.default_rng(seed).standard_normal((len(relevance), 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    own = np.sort(np.array(relevance))[::-1]
    order, values = mmr(own, (rows @ rows.T).clip(-1, 1).__getitem__, balance=balance, most=99)
    assert sorted(order.tolist()) == list(range(len(relevance)))
    assert order[0] == 0
    assert (np.diff(values) <= 1e-12).all()


def test_a_balance_of_1_leaves_the_order_of_every_list():
    incoming = lists_of(
        [
            (np.array([3, 1, 2], np.int32), np.array([0.9, 0.5, np.nan])),
            (np.array([], np.int32), np.array([])),
            (np.array([0, 2], np.int32), np.array([0.4, 0.4])),
        ]
    )
    vectors = np.eye(4, dtype=np.float32)
    assert DiversifyStage(balance=1.0).run(incoming, vectors).chunks.tolist() == incoming.chunks.tolist()


def test_the_stage_puts_a_copy_behind_something_else():
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    incoming = lists_of([(np.array([0, 1, 2], np.int32), np.array([1.0, 0.9, 0.6]))])
    # Scaled relevance 1, 0.75, 0; at 0.5 the copy is worth 0.375 - 0.5, the other 0 - 0.
    assert DiversifyStage(balance=0.5).run(incoming, vectors).chunks.tolist() == [0, 2, 1]


@needs_shared
@pytest.mark.parametrize("balance", ["1", "0", "0.5"])
def test_case_mm1_the_two_ends_of_lambda(balance: str):
    case = load_cases()["MM1"]
    names = list(case["input"]["relevance"])
    relevance = np.array([float(case["input"]["relevance"][name]) for name in names])
    matrix = likeness(names, case["input"]["similarity"], "")
    order, values = mmr(relevance, matrix.__getitem__, balance=float(balance), most=case["input"]["k"])
    assert [names[place] for place in order] == case["expected"][f"lambda={balance}"]
    if balance == "0.5":
        assert values[1] == pytest.approx(case["expected"]["value_of_c_after_a_at_0.5"]["value"])


@needs_shared
def test_case_mm2_all_the_chosen_count_and_nothing_comes_twice():
    case = load_cases()["MM2"]
    names = list(case["input"]["relevance"])
    relevance = np.array([float(case["input"]["relevance"][name]) for name in names])
    matrix = likeness(names, case["input"]["similarity"], "-")
    balance = float(case["input"]["lambda"])
    order, values = mmr(relevance, matrix.__getitem__, balance=balance, most=case["input"]["k"])
    assert [names[place] for place in order] == case["expected"]["order"]
    assert values[2] == pytest.approx(case["expected"]["third_step"]["C"]["value"])
    longer, _ = mmr(relevance, matrix.__getitem__, balance=balance, most=case["input"]["k_big"])
    assert len(longer) == case["expected"]["k_big_length"]
    assert (len(set(longer.tolist())) < len(longer)) is case["expected"]["k_big_has_repeats"]
