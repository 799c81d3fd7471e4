"""How small a difference can be seen, and how many queries a difference needs."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats.distributions import student_quantile
from assay.stats.signs import DUST, fewest_decided

_MOST_QUERIES = 100_000_000


def deviation(differences: NDArray[np.float64]) -> float | None:
    """Return the standard deviation of the differences (n - 1); None below two, or when they do not vary.

    >>> deviation(np.array([0.0, 1.0]))
    0.7071067811865476
    """
    if len(differences) < 2 or float(np.ptp(differences)) <= DUST:
        return None
    return float(differences.std(ddof=1))


def standardised_effect(differences: NDArray[np.float64]) -> float | None:
    """Return Cohen's dz: the mean difference in standard deviations of the differences.

    Positive when the candidate is better; about 0.2 is small, 0.5 medium, 0.8 large. None where the
    differences do not vary.

    Source: Cohen, Statistical Power Analysis, 2nd edition (1988), 2.3.5.

    >>> standardised_effect(np.array([0.0, 0.0, 0.5, 0.5]))
    0.8660254037844387
    """
    spread = deviation(differences)
    return None if spread is None else float(differences.mean()) / spread


def detectable_difference(n: int, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest true difference that ``n`` paired queries would prove with this power.

    (t(1 - alpha / 2) + t(power)) * sd / sqrt(n), with n - 1 degrees of freedom; two-sided. None below two
    queries.

    Source: Cohen (1988), 2.4; for retrieval: Sakai, Information Retrieval Journal 19 (2016).

    >>> round(detectable_difference(80, 0.36), 3)
    0.114
    """
    if n < 2:
        return None
    return _quantiles(n, alpha, power) * sd / sqrt(n)


def queries_needed(
    difference: float, sd: float | None, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return how many queries it takes to prove this difference with this power.

    ``sd`` None means that the differences do not vary: then it is the fewest with which the sign-flip test
    can reach alpha at all. None when the difference is 0: no number of queries proves nothing.

    >>> queries_needed(0.12, 0.36)
    73
    """
    if abs(difference) <= DUST:
        return None
    fewest = fewest_decided(alpha)
    if sd is None:
        return fewest
    low, high = 1, 2
    while high < _MOST_QUERIES and not _proves(high, difference, sd, alpha, power):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if _proves(middle, difference, sd, alpha, power):
            high = middle
        else:
            low = middle
    return max(high, fewest)


def smallest_visible(n: int, *, alpha: float = 0.05) -> float | None:
    """Return the smallest gain of a 0-or-1 measure that ``n`` queries can show at all.

    That is the gain when just enough queries turn from 0 to 1 and none is lost (6 of them at 0.05). It
    needs no run, so that a golden set can be told of its reach before it is used. None when the set is
    smaller than that.

    >>> smallest_visible(48)
    0.125
    """
    fewest = fewest_decided(alpha)
    return fewest / n if n >= fewest else None


def _quantiles(n: int, alpha: float, power: float) -> float:
    return student_quantile(1.0 - alpha / 2.0, n - 1) + student_quantile(power, n - 1)


def _proves(n: int, difference: float, sd: float, alpha: float, power: float) -> bool:
    return _quantiles(n, alpha, power) * sd / sqrt(n) <= abs(difference)
