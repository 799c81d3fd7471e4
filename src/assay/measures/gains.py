"""What a grade earns and how a rank discounts it: one table for the textbook functions and the kernel."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import InputError

Gain = Literal["linear", "exp"]
"""``linear``: a grade earns itself; ``exp``: a grade g earns 2^g - 1."""

Floats = NDArray[np.float64]

_LARGEST_EXPONENT = 1023.0

_divisors: Floats = np.zeros(0)


def gain_of(grade: float, gain: Gain = "linear") -> float:
    """Return what one item of that grade earns.

    Range 0 upwards, higher is better; 0.0 for grades of 0 and below, which earn nothing.

    Raises:
        InputError: the grade is too large for 2^g, or the gain has no such name.

    Source: Järvelin and Kekäläinen, TOIS (2002), linear; Burges et al., ICML (2005), exponential.

    >>> gain_of(3), gain_of(3, "exp"), gain_of(-1)
    (3.0, 7.0, 0.0)
    """
    check_gain(gain)
    if grade <= 0:
        return 0.0
    return float(grade) if gain == "linear" else _exponential(float(grade))


def gains_of(grades: Floats, gain: Gain) -> Floats:
    """Return what many items earn: ``gain_of`` of each, to the bit.

    Raises:
        InputError: as ``gain_of``.
    """
    check_gain(gain)
    if gain == "linear":
        return np.where(grades > 0, grades, 0.0)
    # numpy's own power may differ from Python's in the last bit, and few grades are distinct
    distinct, place = np.unique(grades, return_inverse=True)
    return np.array([gain_of(grade, gain) for grade in distinct.tolist()])[place]


def divisor(rank: int) -> float:
    """Return log2(rank + 1), by which the gain at a rank is divided.

    >>> divisor(1), divisor(3)
    (1.0, 2.0)
    """
    return math.log2(rank + 1)


def divisors(up_to: int) -> Floats:
    """Return a table of ``divisor``: the value at position r belongs to rank r (position 0 is unused).

    Made with ``math.log2``, never with numpy's, so that the kernel equals the textbook to the bit.
    """
    global _divisors  # noqa: PLW0603 - a table that only grows; every version of it has the same values
    if len(_divisors) <= up_to:
        length = max(up_to + 1, 2 * len(_divisors), 128)
        _divisors = np.array([math.log2(rank + 1) for rank in range(length)])
    return _divisors


def powers(base: float, up_to: int) -> Floats:
    """Return base^(rank - 1) for ranks from 1; position 0 is unused."""
    return np.array([0.0, *(base ** (rank - 1) for rank in range(1, up_to + 1))])


def check_gain(gain: str) -> None:
    """Refuse a gain that has no such name.

    Raises:
        InputError: it is neither ``linear`` nor ``exp``.
    """
    if gain not in ("linear", "exp"):
        raise InputError(f"gain must be linear or exp, not {gain!r}")


def _exponential(grade: float) -> float:
    if grade > _LARGEST_EXPONENT:
        raise InputError(
            f"grade {grade:g} is too large for the exponential gain 2^g - 1",
            fix="use the linear gain, or grades on a scale of a few steps",
        )
    # the tangent at 0 is below the curve; it keeps the gain of the smallest grades from rounding to 0
    return max(2.0**grade - 1.0, grade * math.log(2.0))
