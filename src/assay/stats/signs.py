"""Do paired differences lean to one side? The sign-flip test and the sign test.

Both ask the same of chance: if the two runs were alike, each difference would be as likely to fall one
way as the other. Nothing is assumed of the shape of the differences, which for measures of retrieval are
mostly 0 with a few large steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, log2

import numpy as np
from numpy.typing import NDArray

EXACT_UP_TO = 20
"""Non-zero differences up to which every sign pattern is counted."""
DUST = 1e-12
"""A difference of two scores this small is rounding (0.1 + 0.2 against 0.3), and counts as none."""
_TIE = 1e-10
"""Two sums of signed differences are tied when they differ by less than this part of the sum of sizes.
Rounding stays far below it; and taking a near tie for a tie can only raise p, never lower it."""
_BLOCKS = 64
"""Blocks of eight differences summed at once: their tables stay in the cache, and memory small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipTest:
    """The result of a sign-flip test."""

    p: float
    """Above 0, at most 1."""
    exact: bool
    """Whether every sign pattern was counted; False: an estimate from random ones."""
    decided: int
    """Differences that are not 0: only these carry evidence."""
    draws: int
    """Random sign patterns drawn; 0 when exact."""


def without_dust(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the differences with rounding dust set to exactly 0."""
    return np.where(np.abs(differences) <= DUST, 0.0, differences)


def sign_flip_test(
    differences: NDArray[np.float64], rng: np.random.Generator, *, draws: int = 10_000
) -> FlipTest:
    """Test whether the mean of paired differences is 0, by flipping their signs; two-sided.

    p is the share of sign patterns whose mean is at least as far from 0 as the one seen, ties included:
    exact up to 20 non-zero differences, else (b + 1) / (B + 1) over B random patterns, which is never 0.
    Without any difference p is 1. Zeros change nothing: they may be left in or out.

    Raises:
        ValueError: a difference is not finite, or ``draws`` is below 1.

    Source: Fisher, The Design of Experiments (1935), 21; Phipson and Smyth, Permutation p-values should
    never be zero (2010); for retrieval: Smucker, Allan and Carterette, CIKM 2007.

    >>> sign_flip_test(np.full(5, 0.1), np.random.default_rng(0)).p
    0.0625
    """
    if not np.isfinite(differences).all():
        raise ValueError("a difference is not finite: leave undefined scores out before testing")
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    decided = without_dust(differences)
    decided = decided[decided != 0.0]
    if len(decided) <= EXACT_UP_TO:
        return FlipTest(p=_exact_p(decided), exact=True, decided=len(decided), draws=0)
    return FlipTest(
        p=(_as_far(decided, rng, draws) + 1) / (draws + 1), exact=False, decided=len(decided), draws=draws
    )


def _threshold(decided: NDArray[np.float64]) -> float:
    return float(abs(decided.sum()) - _TIE * np.abs(decided).sum())


def _exact_p(decided: NDArray[np.float64]) -> float:
    """Count all 2^n sums: each sum is one of the left half plus one of the right half."""
    threshold = _threshold(decided)
    if threshold <= 0.0:
        return 1.0
    half = len(decided) // 2
    left, right = _all_sums(decided[:half]), np.sort(_all_sums(decided[half:]))
    upper = int((len(right) - np.searchsorted(right, threshold - left, side="left")).sum())
    return float(Fraction(2 * upper, 2 ** len(decided)))


def _all_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _as_far(decided: NDArray[np.float64], rng: np.random.Generator, draws: int) -> int:
    """Count random sign patterns at least as far out as the one seen.

    One random byte holds eight signs; the 256 sums that it can choose between are worked out beforehand.
    """
    blocks = -(-len(decided) // 8)
    padded = np.zeros(blocks * 8)
    padded[: len(decided)] = decided
    signs = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64) * 2.0 - 1.0
    sums = np.zeros(draws)
    for start in range(0, blocks, _BLOCKS):
        some = padded[start * 8 : (start + _BLOCKS) * 8].reshape(-1, 8)
        sums_of_byte = (some @ signs.T).ravel()
        first = np.arange(len(some)) * 256
        drawn = np.frombuffer(rng.bytes(draws * len(some)), dtype=np.uint8).reshape(draws, len(some))
        sums += sums_of_byte[drawn + first].sum(axis=1)
    return int(np.count_nonzero(np.abs(sums) >= _threshold(decided)))


def sign_test(wins: int, losses: int) -> Fraction:
    """Test whether wins and losses are equally likely, ties dropped; exact and two-sided.

    p = 2 * sum of C(n, i) for i up to the smaller count, over 2^n; at most 1, and 1 when nothing differs.

    Raises:
        ValueError: a count is below 0.

    Source: Conover, Practical Nonparametric Statistics, 3rd edition (1999), 3.4.

    >>> sign_test(7, 2)
    Fraction(23, 128)
    """
    if wins < 0 or losses < 0:
        raise ValueError(f"counts of queries cannot be below 0: {wins} wins, {losses} losses")
    n = wins + losses
    tail = sum(comb(n, count) for count in range(min(wins, losses) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**n))


def smallest_p(decided: int) -> Fraction:
    """Return the smallest p that so many decided queries can reach, all of them won; 1 when there is none.

    >>> smallest_p(3)
    Fraction(1, 4)
    """
    return min(Fraction(1), Fraction(2, 2**decided))


def fewest_decided(alpha: float) -> int:
    """Return how many decided queries, all on one side, it takes to reach ``alpha``.

    Raises:
        ValueError: ``alpha`` is not strictly between 0 and 1.

    >>> fewest_decided(0.05)
    6
    """
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must lie strictly between 0 and 1, not {alpha}")
    fewest = max(1, ceil(1.0 - log2(alpha)) - 1)
    while smallest_p(fewest) > Fraction(alpha):
        fewest += 1
    return fewest
