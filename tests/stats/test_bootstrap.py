from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.model.comparison import Interval
from assay.stats.bootstrap import corrected_interval, mean_interval

stats = cast("Any", scipy.stats)  # scipy is typed in part only

Floats = NDArray[np.float64]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def interval_of(values: Floats, *, seed: int = 0, draws: int = 10_000) -> Interval:
    interval = mean_interval(values, rng(seed), draws=draws)
    assert interval is not None
    return interval


def skewed(n: int) -> Floats:
    return np.random.default_rng(n).exponential(size=n)


def steps(n: int) -> Floats:
    return np.random.default_rng(n).choice([-1.0, 0.0, 0.0, 0.0, 1.0, 1.0], size=n)


@pytest.mark.parametrize(
    "values", [skewed(12), skewed(60), steps(60), steps(200), np.array([0.0, 0.0, 1.0] * 4)]
)
def test_interval_agrees_with_scipys_bca(values: Floats):
    theirs = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=40_000, rng=rng(1), vectorized=True
    ).confidence_interval
    ours = interval_of(values, draws=40_000)
    scale = values.std() / np.sqrt(len(values))
    assert ours.method == "bca"
    # Means of steps move by 1 / n, and an end may fall on either side of one.
    grain = 1.5 / len(values) if set(values.tolist()) <= {-1.0, 0.0, 1.0} else 0.0
    assert ours.low == pytest.approx(theirs.low, abs=0.06 * scale + grain)
    assert ours.high == pytest.approx(theirs.high, abs=0.06 * scale + grain)


def test_drawing_counts_and_drawing_places_give_the_same_interval():
    """A little noise makes every value distinct, so that places are drawn instead of counts."""
    values = steps(400)
    noisy = values + np.linspace(-1e-9, 1e-9, 400)
    counted, placed = interval_of(values), interval_of(noisy)
    assert counted.low == pytest.approx(placed.low, abs=0.01)
    assert counted.high == pytest.approx(placed.high, abs=0.01)


def test_above_five_thousand_values_the_ends_are_those_of_drawing():
    values = skewed(5_001)
    worked = interval_of(values)
    drawn = interval_of(values[:5_000])
    assert (worked.method, drawn.method) == ("analytic", "bca")
    error = values.std() / np.sqrt(len(values))
    assert worked.low == pytest.approx(drawn.low, abs=0.05 * error)
    assert worked.high == pytest.approx(drawn.high, abs=0.05 * error)


def test_interval_covers_the_true_mean_about_as_often_as_it_says():
    covered = 0
    for trial in range(400):
        interval = interval_of(rng(trial).normal(0.1, 1.0, 40), seed=trial, draws=1_000)
        covered += interval.low <= 0.1 <= interval.high
    assert 0.91 <= covered / 400 <= 0.98


def test_one_query_says_nothing_of_how_queries_vary():
    assert mean_interval(np.array([0.5]), rng()) is None
    assert mean_interval(np.zeros(0), rng()) is None


def test_equal_differences_give_the_point_and_say_so():
    interval = interval_of(np.full(5, 0.1))
    assert (interval.low, interval.high, interval.method) == (
        pytest.approx(0.1),
        pytest.approx(0.1),
        "constant",
    )


def test_two_values_give_a_finite_interval():
    interval = interval_of(np.array([0.0, 1.0]))
    assert 0.0 <= interval.low <= 0.5 <= interval.high <= 1.0


def test_deviations_on_one_side_fall_back_to_percentiles():
    interval = corrected_interval(np.linspace(1, 2, 101), estimate=1.0, acceleration=0.0, confidence=0.9)
    assert interval.method == "percentile"
    assert (interval.low, interval.high) == (pytest.approx(2.05), pytest.approx(2.95))


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=25), st.integers(0, 5))
def test_interval_is_finite_ordered_and_within_the_values(values: list[float], seed: int):
    interval = interval_of(np.array(values), seed=seed, draws=500)
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=25))
def test_swapping_the_runs_mirrors_the_interval(values: list[float]):
    forth = interval_of(np.array(values), draws=500)
    back = interval_of(-np.array(values), draws=500)
    assert (forth.low, forth.high) == (
        pytest.approx(-back.high, abs=1e-9),
        pytest.approx(-back.low, abs=1e-9),
    )


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=25), st.floats(-3, 3))
def test_a_shift_of_all_values_shifts_the_interval(values: list[float], shift: float):
    here = interval_of(np.array(values), draws=500)
    there = interval_of(np.array(values) + shift, draws=500)
    assert there.low == pytest.approx(here.low + shift, abs=1e-6)
    assert there.high == pytest.approx(here.high + shift, abs=1e-6)


def test_more_confidence_makes_a_wider_interval():
    values = skewed(40)
    widths: list[float] = []
    for confidence in (0.5, 0.8, 0.95, 0.99):
        interval = mean_interval(values, rng(), confidence=confidence)
        assert interval is not None
        widths.append(interval.high - interval.low)
    assert all(narrow < wide for narrow, wide in pairwise(widths))


def test_undefined_values_and_impossible_confidence_are_refused():
    with pytest.raises(ValueError, match="not finite"):
        mean_interval(np.array([0.1, np.nan]), rng())
    with pytest.raises(ValueError, match="confidence"):
        mean_interval(np.array([0.1, 0.2]), rng(), confidence=1.0)
