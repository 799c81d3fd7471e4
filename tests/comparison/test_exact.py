from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.comparison.exact import exact_mean, exact_value, simplest_between, told_apart, written_figure

ranks = st.lists(st.integers(0, 60), min_size=1, max_size=120)


@given(ranks)
def test_a_mean_of_reciprocal_ranks_is_found_exactly(found: list[int]):
    """However the floats round: ranks up to 4 give denominators that stay small."""
    small = [rank % 5 for rank in found]
    scores = [1.0 / rank if rank else 0.0 for rank in small]
    wanted = sum((Fraction(1, rank) for rank in small if rank), Fraction(0)) / len(small)
    assert exact_mean(scores) == wanted


@given(st.integers(0, 3_000), st.integers(1, 3_000))
def test_a_share_of_queries_is_found_exactly(hits: int, n: int):
    assert exact_value(hits / n) == Fraction(hits, n)


@given(st.fractions(0, 1, max_denominator=1_000), st.integers(-3, 3))
def test_a_few_float_steps_make_no_other_figure(figure: Fraction, steps: int):
    value = float(figure) * (1 + steps * 2**-53)
    assert exact_value(value) == figure


@given(st.floats(0, 1))
def test_the_figure_stays_within_a_float_step_or_so(value: float):
    assert abs(exact_value(value) - Fraction(value)) <= Fraction(value) * 8 / 2**53


@given(st.fractions(-5, 5, max_denominator=50), st.fractions(-5, 5, max_denominator=50))
def test_the_simplest_fraction_has_the_smallest_denominator(one: Fraction, other: Fraction):
    low, high = sorted((one, other))
    simplest = simplest_between(one, other)
    assert low <= simplest <= high
    below = range(1, simplest.denominator)
    assert not any(-(-low * d // 1) <= high * d // 1 for d in below)


def test_no_score_has_no_mean():
    assert exact_mean([]) is None


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [
        ("239/300", 4, "0.7967"),
        ("1", 2, "1.00"),
        ("-1/8", 2, "-0.12"),
        ("-1/1000", 2, "0.00"),
        ("5/2", 0, "2"),
    ],
)
def test_figures_are_written_exactly(value: str, digits: int, written: str):
    assert written_figure(Fraction(value), digits) == written


def test_figures_are_told_apart_by_as_many_digits_as_it_takes():
    assert told_apart(Fraction(7, 10), Fraction(7, 10)) == ("0.7000", "0.7000")
    assert told_apart(Fraction("0.6999999"), Fraction(7, 10)) == ("0.6999999", "0.7000000")
    assert told_apart(Fraction(1, 10**25), Fraction(0)) == ("1/10000000000000000000000000", "0")
