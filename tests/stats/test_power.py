from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.multiple import holm
from assay.stats.power import (
    detectable_difference,
    deviation,
    queries_needed,
    smallest_visible,
    standardised_effect,
)
from assay.stats.signs import sign_flip_test

stats = cast("Any", scipy.stats)  # scipy is typed in part only

shares = st.lists(st.floats(0, 1), max_size=12)


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.03, 0.2: times 4, 3, 2, 1 = 0.04, 0.06, 0.06, 0.2; each at least the one before
    assert holm([0.03, 0.01, 0.2, 0.02]) == pytest.approx((0.06, 0.04, 0.2, 0.06))


def test_holm_of_one_test_and_of_none():
    assert holm([0.04]) == (0.04,)
    assert holm([]) == ()
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([float("nan")])


@given(shares)
def test_holm_never_lowers_a_p_and_keeps_their_order(p_values: list[float]):
    corrected = holm(p_values)
    assert all(p <= fixed <= 1.0 for p, fixed in zip(p_values, corrected, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert all(np.diff(np.array(corrected)[order]) >= 0)


@given(shares)
def test_holm_rejects_no_less_than_bonferroni(p_values: list[float]):
    corrected = holm(p_values)
    assert all(fixed <= min(1.0, p * len(p_values)) for p, fixed in zip(p_values, corrected, strict=True))


def test_effect_is_the_mean_in_standard_deviations():
    values = np.array([0.0, 0.5, 0.0, 1.0, -0.5])
    t = stats.ttest_1samp(values, 0.0).statistic
    assert standardised_effect(values) == pytest.approx(t / np.sqrt(5))


@pytest.mark.parametrize(
    "values", [np.zeros(4), np.full(5, 0.1) + np.array([0, 1e-17, 0, 0, 0]), np.array([0.5])]
)
def test_differences_that_do_not_vary_have_no_effect_size(
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
):
    assert deviation(values) is None
    assert standardised_effect(values) is None


def test_detectable_difference_by_hand():
    # n = 80, sd 0.36: (t(0.975; 79) + t(0.8; 79)) * 0.36 / sqrt(80) = (1.9905 + 0.8461) * 0.040249
    assert detectable_difference(80, 0.36) == pytest.approx(0.11417, abs=1e-4)
    assert detectable_difference(1, 0.36) is None


def test_needed_queries_are_the_fewest_that_prove_it():
    needed = queries_needed(0.1, 0.36)
    assert needed is not None
    at, below = detectable_difference(needed, 0.36), detectable_difference(needed - 1, 0.36)
    assert at is not None
    assert below is not None
    assert at <= 0.1 < below


def test_no_number_of_queries_proves_no_difference():
    assert queries_needed(0.0, 0.3) is None


def test_a_constant_gain_needs_as_many_queries_as_the_test_does():
    assert queries_needed(0.1, None) == 6
    assert queries_needed(5.0, 0.1) == 6


def test_a_tiny_difference_needs_very_many():
    needed = queries_needed(1e-4, 0.3)
    assert needed is not None
    # the normal quantiles 1.96 and 0.8416 together, squared: 7.85
    assert needed == pytest.approx(7.85 * 0.09 / 1e-8, rel=0.001)


def test_the_detectable_difference_is_found_in_four_of_five_repetitions():
    size = detectable_difference(40, 0.4)
    assert size is not None
    rng = np.random.default_rng(8)
    found = sum(sign_flip_test(rng.normal(size, 0.4, 40), rng, draws=1_000).p <= 0.05 for _ in range(500))
    assert 0.74 <= found / 500 <= 0.86


def test_what_a_set_can_show_at_all():
    assert smallest_visible(48) == 0.125
    assert smallest_visible(6) == 1.0
    assert smallest_visible(5) is None
