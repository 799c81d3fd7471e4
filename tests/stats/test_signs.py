from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.stats.signs import EXACT_UP_TO, fewest_decided, sign_flip_test, sign_test, smallest_p
from shared_data import load_cases, needs_shared

stats = cast("Any", scipy.stats)  # scipy is typed in part only

halves = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def p_of(differences: list[float], seed: int = 0) -> float:
    return sign_flip_test(np.array(differences, dtype=np.float64), rng(seed)).p


def by_hand(differences: list[float]) -> Fraction:
    """Count all sign patterns in fractions."""
    exact = [Fraction(value).limit_denominator(10**6) for value in differences]
    seen = abs(sum(exact))
    patterns = list(product((1, -1), repeat=len(exact)))
    far = sum(
        abs(sum(sign * value for sign, value in zip(signs, exact, strict=True))) >= seen for signs in patterns
    )
    return Fraction(far, len(patterns))


def test_five_equal_gains_have_p_two_in_32_in_spite_of_rounding():
    gains = [0.1 + 0.2 - 0.2, 0.3 - 0.2, 0.7 - 0.6, 0.1, 1.1 - 1.0]
    assert len(set(gains)) > 1
    assert p_of(gains) == 1 / 16


def test_rounding_dust_is_no_difference():
    result = sign_flip_test(np.array([0.1 + 0.2 - 0.3, 0.0, 1e-16]), rng())
    assert (result.p, result.decided) == (1.0, 0)


@given(st.lists(halves, max_size=9))
def test_exact_p_counts_every_sign_pattern_ties_included(differences: list[float]):
    assert p_of(differences) == float(by_hand(differences))


@given(st.lists(st.sampled_from([1 / 3, -1 / 3, 2 / 3, 0.1, -0.7, 0.0]), max_size=8))
def test_exact_p_holds_for_scores_that_binary_cannot_write(differences: list[float]):
    assert p_of(differences) == float(by_hand(differences))


@given(st.lists(st.floats(-1, 1), max_size=30), st.integers(0, 3))
def test_turning_the_differences_round_changes_nothing(differences: list[float], seed: int):
    assert p_of(differences, seed) == p_of([-value for value in differences], seed)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12))
def test_zeros_carry_no_evidence(differences: list[float]):
    assert p_of(differences) == p_of([*differences, 0.0, 0.0])


@given(st.lists(halves, min_size=1, max_size=40))
def test_p_is_never_zero_never_nan_and_never_above_one(differences: list[float]):
    assert 0.0 < p_of(differences) <= 1.0


def test_exact_up_to_twenty_agrees_with_scipy():
    differences = rng(3).normal(0.2, 1.0, EXACT_UP_TO // 2 + 3)
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    ours = sign_flip_test(differences, rng())
    assert ours.exact
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_twenty_differences_are_counted_and_twenty_one_are_drawn():
    differences = rng(4).normal(0.3, 1.0, 21)
    assert sign_flip_test(differences[:20], rng()).exact
    drawn = sign_flip_test(differences, rng(), draws=20_000)
    assert (drawn.exact, drawn.draws) == (False, 20_000)


def test_drawn_p_lies_near_the_exact_one():
    # 21 differences: one more than is counted; the whole count is made here.
    differences = rng(5).normal(0.25, 1.0, 21)
    sums: NDArray[np.float64] = np.zeros(1)
    for value in differences.tolist():
        sums = np.concatenate([sums + value, sums - value])
    far = np.abs(sums) >= abs(differences.sum()) - 1e-9
    exact = float(np.count_nonzero(far)) / len(far)
    drawn = sign_flip_test(differences, rng(), draws=100_000).p
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 100_000))


def test_drawn_p_agrees_with_scipys_own_draws():
    differences = rng(6).normal(0.2, 1.0, 60)
    theirs = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=50_000,
        vectorized=True,
        rng=rng(1),
    ).pvalue
    ours = sign_flip_test(differences, rng(), draws=50_000).p
    assert ours == pytest.approx(theirs, abs=0.01)


def test_an_overwhelming_gain_has_the_smallest_p_that_so_many_draws_can_give():
    assert p_of([1.0] * 80) == 1 / 10_001


def test_the_same_seed_gives_the_same_p():
    differences = list(rng(7).normal(size=50))
    assert p_of(differences, 9) == p_of(differences, 9)


def test_many_queries_are_drawn_in_bounded_pieces():
    differences = rng(8).normal(size=30_000)
    assert 0.0 < sign_flip_test(differences, rng(), draws=300).p <= 1.0


def test_undefined_scores_are_refused():
    with pytest.raises(ValueError, match="not finite"):
        sign_flip_test(np.array([0.1, np.nan]), rng())
    with pytest.raises(ValueError, match="draws"):
        sign_flip_test(np.array([0.1]), rng(), draws=0)


def test_alike_runs_raise_a_false_alarm_in_one_of_twenty_comparisons():
    """2,000 comparisons of 48 queries between runs that differ by chance alone."""
    null = rng(2_000)
    alarms = 0
    for _ in range(2_000):
        differences = null.normal(size=48) * null.choice([0.2, 1.0], size=48)
        alarms += sign_flip_test(differences, null).p <= 0.05
    assert 0.04 <= alarms / 2_000 <= 0.06


def test_alike_runs_with_few_changes_raise_no_more_alarms_than_promised():
    """Scores of 0 and 1 move in steps: the exact test may then only be shy, never rash."""
    null = rng(48)
    alarms = 0
    for _ in range(2_000):
        differences = null.choice([-1.0, 0.0, 1.0], p=[0.15, 0.7, 0.15], size=48)
        alarms += sign_flip_test(differences, null).p <= 0.05
    assert alarms / 2_000 <= 0.06


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [
        (3, 0, "1/4"),
        (5, 0, "1/16"),
        (6, 0, "1/32"),
        (9, 0, "1/256"),
        (7, 2, "23/128"),
        (0, 0, "1"),
        (4, 4, "1"),
    ],
)
def test_sign_test_counts_in_fractions(wins: int, losses: int, p: str):
    assert sign_test(wins, losses) == Fraction(p)


@given(st.integers(0, 60), st.integers(0, 60))
def test_sign_test_agrees_with_scipy(wins: int, losses: int):
    if wins + losses:
        theirs = stats.binomtest(wins, wins + losses).pvalue
        assert float(sign_test(wins, losses)) == pytest.approx(theirs, rel=1e-9)


def test_sign_test_refuses_counts_below_zero():
    with pytest.raises(ValueError, match="below 0"):
        sign_test(-1, 2)


@pytest.mark.parametrize(("alpha", "fewest"), [(0.05, 6), (0.01, 8), (0.5, 2), (0.0625, 5), (0.9, 2)])
def test_fewest_decided_is_the_first_that_can_reach_alpha(alpha: float, fewest: int):
    assert fewest_decided(alpha) == fewest
    assert smallest_p(fewest) <= Fraction(alpha) < smallest_p(fewest - 1)


def test_alpha_of_nothing_or_everything_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        fewest_decided(1.0)


@needs_shared
def test_case_s01_identical_runs_and_a_constant_gain():
    case = load_cases()["S01"]
    given_, expected = case["input"], case["expected"]
    a, b = ([float(Fraction(value)) for value in given_[name]] for name in "AB")
    gains = [float(Fraction(value)) for value in given_["C_minus_A_constant"]]
    assert p_of([y - x for x, y in zip(a, b, strict=True)]) == expected["A_vs_B"]["p"]["value"]
    assert p_of(gains) == expected["constant"]["p"]["value"]


@needs_shared
def test_case_s03_too_few_queries():
    case = load_cases()["S03"]
    alpha = float(case["input"]["alpha"])
    p_values = [sign_test(wins, losses) for wins, losses in case["input"]["records"]]
    assert p_values == [Fraction(p["exact"]) for p in case["expected"]["p"]]
    assert [p <= Fraction(case["input"]["alpha"]) for p in p_values] == case["expected"]["significant"]
    assert fewest_decided(alpha) == case["expected"]["fewest_decided_queries_that_can_reach_alpha"]
