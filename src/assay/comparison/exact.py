"""Means as exact figures, so that a gate never turns on rounding.

A score is a float, and the mean of 1, 1, 1, 1/2 and 0 may come out as 0.7 or one step beside it. The rule:
a mean of scores is known to within a few steps of a float, and stands for **the simplest fraction** (the
one with the smallest denominator) within them. That gives back 7/10, 2/3 or 239/300 exactly, and a floor
written as 0.70 is met by 7/10. Two fractions with denominators q and r differ by at least 1 / (q * r), so
the rule can only be wrong about figures whose denominators multiply to more than 10^14: a floor of four
decimals against a mean over ten thousand million queries. Values that are no fractions (nDCG) move by less
than 10^-15.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import fsum

_STEPS = 8
"""Steps of a float (2^-53 of its size) to either side: what a few roundings a score can have done."""


def exact_mean(values: Sequence[float]) -> Fraction | None:
    """Return the mean that the scores stand for; None when there is none.

    >>> exact_mean([1.0, 1.0, 1.0, 0.5, 0.0]), exact_mean([0.1, 0.2, 0.3])
    (Fraction(7, 10), Fraction(1, 5))
    """
    return exact_value(fsum(values) / len(values)) if len(values) else None


def exact_value(value: float) -> Fraction:
    """Return the simplest fraction within a few float steps of a value.

    >>> exact_value(0.1 + 0.2), exact_value(239 / 300)
    (Fraction(3, 10), Fraction(239, 300))
    """
    stored = Fraction(value)
    margin = abs(stored) * _STEPS / 2**53
    return simplest_between(stored - margin, stored + margin)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator in a closed interval.

    >>> simplest_between(Fraction(314, 100), Fraction(315, 100))
    Fraction(22, 7)
    """
    if low > high:
        low, high = high, low
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    rest = simplest_between(1 / (high - whole), 1 / (low - whole))
    return whole + 1 / rest


def written_figure(value: Fraction, digits: int) -> str:
    """Write a fraction with so many decimals, rounded half to even, exactly.

    >>> written_figure(Fraction(239, 300), 4)
    '0.7967'
    """
    scaled = round(abs(value) * 10**digits)
    sign = "-" if value < 0 and scaled else ""
    whole, rest = divmod(scaled, 10**digits)
    return f"{sign}{whole}.{rest:0{digits}d}" if digits else f"{sign}{whole}"


def told_apart(value: Fraction, figure: Fraction, *, least: int = 4) -> tuple[str, str]:
    """Write two figures with as many decimals as it takes to see which is larger, at least four.

    >>> told_apart(Fraction(79996, 100000), Fraction(8, 10))
    ('0.79996', '0.80000')
    """
    for digits in range(least, 20):
        pair = written_figure(value, digits), written_figure(figure, digits)
        if value == figure or pair[0] != pair[1]:
            return pair
    return str(value), str(figure)
