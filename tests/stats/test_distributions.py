from __future__ import annotations

import math
from typing import Any, cast

import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.stats.distributions import (
    beta_cdf,
    beta_quantile,
    normal_cdf,
    normal_quantile,
    student_quantile,
)

stats = cast("Any", scipy.stats)  # scipy is typed in part only

shapes = st.floats(0.5, 3_000)
inner = st.floats(0.0005, 0.9995)


@given(inner)
def test_normal_agrees_with_scipy(p: float):
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-9, abs=1e-12)
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p, rel=1e-12)


@given(inner, shapes, shapes)
def test_beta_shares_agree_with_scipy(x: float, a: float, b: float):
    assert beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), rel=1e-8, abs=1e-13)


@settings(max_examples=50)
@given(inner, shapes, shapes)
def test_beta_quantiles_agree_with_scipy(p: float, a: float, b: float):
    assert beta_quantile(p, a, b) == pytest.approx(stats.beta.ppf(p, a, b), rel=1e-7, abs=1e-12)


@settings(max_examples=50)
@given(inner, st.integers(1, 5_000))
def test_student_quantiles_agree_with_scipy(p: float, degrees: int):
    assume(abs(p - 0.5) > 1e-6)
    assert student_quantile(p, degrees) == pytest.approx(stats.t.ppf(p, degrees), rel=1e-6, abs=1e-9)


@given(st.floats(1e-14, 1e-6), st.integers(1, 5_000))
def test_student_quantiles_near_the_middle_keep_their_digits(beyond: float, degrees: int):
    # There the distribution is a straight line; scipy's own answer is off by half at 6e-9.
    p = 0.5 + beyond
    log_density = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    assert student_quantile(p, degrees) == pytest.approx((p - 0.5) / math.exp(log_density), rel=1e-9)
    assert student_quantile(1.0 - p, degrees) == -student_quantile(p, degrees)


def test_ends_and_middles():
    assert (beta_cdf(0.0, 2, 3), beta_cdf(1.0, 2, 3)) == (0.0, 1.0)
    assert student_quantile(0.5, 7) == 0.0


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, float("nan")])
def test_quantiles_at_impossible_places_are_refused(p: float):
    with pytest.raises(ValueError, match="quantile"):
        normal_quantile(p)
    with pytest.raises(ValueError, match="quantile"):
        student_quantile(p, 5)
