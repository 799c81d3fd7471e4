"""Which values so many queries can score at all: a floor between two of them means the upper one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from assay.comparison.exact import exact_value, written_figure
from assay.model.gates import Gate

_COARSEST = 60
"""Scores in steps finer than a sixtieth are taken as free to fall anywhere."""
_FINEST = 100_000
"""Means in steps finer than this lie close enough together to say nothing about."""


def neighbours(values: Sequence[float], figure: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return the nearest means below and above a figure that these queries can score.

    The steps are those of the scores that were seen: halves where some query scored 1/2, wholes where all
    scored 0 or 1. None when the figure is itself a mean that can be scored, lies outside 0 to 1, or the
    steps are too fine to matter.

    >>> neighbours([1.0, 1.0, 0.0], Fraction("0.67"))
    (Fraction(2, 3), Fraction(1, 1))
    """
    step = _step(values)
    if step is None or not 0 < figure < 1:
        return None
    below = figure // step * step
    return None if below == figure else (below, below + step)


def lint_floor(gate: Gate, values: Sequence[float]) -> str | None:
    """Say what a floor between two reachable values means; None when it lies on one.

    >>> gate = Gate(key="hit@5", written=">= 0.67", stage=None, measure="hit@5", rule="floor",
    ...             figure=Fraction("0.67"), decimals=2)
    >>> lint_floor(gate, [1.0, 1.0, 0.0])
    'with 3 queries a floor of 0.67 means 3 of 3; write 0.66 or 2/3 if 2 of 3 should pass'
    """
    near = neighbours(values, gate.figure)
    if near is None:
        return None
    below, above = near
    n = len(values)
    floor = written_figure(gate.figure, gate.decimals or 4)
    if above - below != Fraction(1, n):
        return (
            f"with {n} queries a floor of {floor} lies between two values that they can score: "
            f"{written_figure(below, 4)} and {written_figure(above, 4)}"
        )
    head = f"with {n} queries a floor of {floor} means {int(above * n)} of {n}"
    if below == 0:
        return head
    wins = int(below * n)
    return f"{head}; write {_just_below(below, n, gate.decimals)} or {wins}/{n} if {wins} of {n} should pass"


def _step(values: Sequence[float]) -> Fraction | None:
    if not values:
        return None
    common = 1
    for value in set(values):
        common = lcm(common, exact_value(value).denominator)
        if common > _COARSEST:
            return None
    return Fraction(1, common * len(values)) if common * len(values) <= _FINEST else None


def _just_below(value: Fraction, n: int, decimals: int) -> str:
    """Cut a value to as few decimals as keep it above the next lower one, at least those of the floor."""
    for digits in range(max(2, decimals), 10):
        cut = Fraction(value * 10**digits // 1, 10**digits)
        if cut > value - Fraction(1, n):
            return written_figure(cut, digits)
    return str(value)
