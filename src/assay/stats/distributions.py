"""Quantiles of the normal, Student's t and beta distributions, to the precision of a float.

Written here because the only other source, scipy, weighs more than everything else that Assay needs;
the tests hold every function against it.
"""

from __future__ import annotations

from math import exp, isfinite, lgamma, log, log1p, sqrt
from statistics import NormalDist

_NORMAL = NormalDist()
_TINY = 1e-300
_NEAR_THE_MIDDLE = 0.75


def normal_cdf(z: float) -> float:
    """Return the share of a standard normal distribution below ``z``.

    >>> normal_cdf(0.0)
    0.5
    """
    return _NORMAL.cdf(z)


def normal_quantile(p: float) -> float:
    """Return the value below which the share ``p`` of a standard normal distribution lies.

    Raises:
        ValueError: ``p`` is not strictly between 0 and 1.

    >>> round(normal_quantile(0.975), 4)
    1.96
    """
    if not 0.0 < p < 1.0:
        raise ValueError(f"a quantile is asked for at {p}, which is not strictly between 0 and 1")
    return _NORMAL.inv_cdf(p)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the share of a Beta(a, b) distribution below ``x``: the regularised incomplete beta function.

    Range 0 to 1. Both shape parameters must be above 0.

    Source: Lentz's continued fraction, as in Press et al., Numerical Recipes, 3rd edition (2007), 6.4.

    >>> round(beta_cdf(0.5, 2, 3), 4)
    0.6875
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(x, a, b) / a
    return 1.0 - front * _beta_fraction(1.0 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    c = 1.0
    d = 1.0 / _off_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    steps = 200 + int(10.0 * sqrt(max(a, b)))
    for m in range(1, steps):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 / _off_zero(1.0 + term * d)
            c = _off_zero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def beta_quantile(p: float, a: float, b: float) -> float:
    """Return the value below which the share ``p`` of a Beta(a, b) distribution lies.

    Range 0 to 1; found by bisection, so that it is as good as ``beta_cdf``.

    >>> round(beta_quantile(0.6875, 2, 3), 4)
    0.5
    """
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2.0
        if middle in (low, high):
            return middle
        if beta_cdf(middle, a, b) < p:
            low = middle
        else:
            high = middle


def student_quantile(p: float, degrees: int) -> float:
    """Return the value below which the share ``p`` of Student's t distribution lies.

    Raises:
        ValueError: ``p`` is not strictly between 0 and 1, or ``degrees`` is below 1.

    >>> round(student_quantile(0.975, 10), 4)
    2.2281
    """
    if not 0.0 < p < 1.0 or degrees < 1:
        raise ValueError(f"no Student quantile at p {p} with {degrees} degrees of freedom")
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -student_quantile(1.0 - p, degrees)
    if p < _NEAR_THE_MIDDLE:
        # the other tail, because 1 - tail would keep few digits
        rest = beta_quantile(2.0 * p - 1.0, 0.5, degrees / 2.0)
        return sqrt(degrees * rest / (1.0 - rest))
    tail = beta_quantile(2.0 * (1.0 - p), degrees / 2.0, 0.5)
    value = sqrt(degrees * (1.0 - tail) / tail) if tail > 0.0 else float("inf")
    return value if isfinite(value) else 1.0 / _TINY
