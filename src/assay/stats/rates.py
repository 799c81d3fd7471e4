"""Shares and their intervals; a judge's rates against people, and what they make of a measured share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from assay.model.comparison import Interval
from assay.stats.distributions import beta_quantile, normal_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of ``n`` cases, with its exact interval."""

    hits: int
    n: int
    interval: Interval | None
    """Clopper-Pearson; None when ``n`` is 0."""

    @property
    def value(self) -> float | None:
        """The share; None when there is no case."""
        return self.hits / self.n if self.n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRates:
    """How a judge's yes and no stand against people's."""

    true_positive: Rate
    """Of what people call yes, the share that the judge calls yes."""
    true_negative: Rate
    """Of what people call no, the share that the judge calls no."""

    def licensed(self, bar: float = 0.8) -> bool:
        """Whether the lower bounds of both rates reach the bar; False where a class is missing."""
        bounds = (self.true_positive.interval, self.true_negative.interval)
        return all(bound is not None and bound.low >= bar for bound in bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedShare:
    """A share that a judge measured, corrected for the judge's own errors."""

    observed: float
    """The share that the judge said."""
    value: float | None
    """(p + TNR - 1) / (TPR + TNR - 1), cut to 0..1; None when the judge does no better than chance."""
    interval: Interval | None
    """Bootstrap over the judged items and over both classes of the people's sample."""
    dropped: int = 0
    """Resamples in which the judge did no better than chance, left out of the interval."""
    draws: int = 0


def wilson_interval(hits: int, n: int, *, confidence: float = 0.95) -> Interval | None:
    """Return Wilson's score interval of a share; None when there is no case.

    Raises:
        ValueError: ``hits`` is not between 0 and ``n``.

    Source: Wilson, JASA 22 (1927).

    >>> interval = wilson_interval(9, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.5958, 0.9821)
    """
    _check_share(hits, n)
    if n == 0:
        return None
    z = normal_quantile(0.5 + confidence / 2.0)
    share, spread = hits / n, z * z / n
    centre = (share + spread / 2.0) / (1.0 + spread)
    half = z * sqrt(share * (1.0 - share) / n + spread / (4.0 * n)) / (1.0 + spread)
    return Interval(
        low=0.0 if hits == 0 else centre - half,
        high=1.0 if hits == n else centre + half,
        confidence=confidence,
        method="wilson",
    )


def exact_interval(hits: int, n: int, *, confidence: float = 0.95) -> Interval | None:
    """Return the exact (Clopper-Pearson) interval of a share; None when there is no case.

    It covers the true share at least as often as it says, for any n; so it is never too narrow.

    Raises:
        ValueError: ``hits`` is not between 0 and ``n``.

    Source: Clopper and Pearson, Biometrika 26 (1934).

    >>> interval = exact_interval(9, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.555, 0.9975)
    """
    _check_share(hits, n)
    if n == 0:
        return None
    tail = (1.0 - confidence) / 2.0
    return Interval(
        low=0.0 if hits == 0 else beta_quantile(tail, hits, n - hits + 1),
        high=1.0 if hits == n else beta_quantile(1.0 - tail, hits + 1, n - hits),
        confidence=confidence,
        method="exact",
    )


def judge_rates(human: Sequence[bool], judge: Sequence[bool], *, confidence: float = 0.95) -> JudgeRates:
    """Return a judge's true positive and true negative rate against people, with exact intervals.

    Raises:
        ValueError: the two do not label the same items.

    >>> rates = judge_rates([True, True, False, False], [True, False, False, False])
    >>> rates.true_positive.value, rates.true_negative.value
    (0.5, 1.0)
    """
    if len(human) != len(judge):
        raise ValueError(f"{len(human)} human labels stand against {len(judge)} of the judge")
    pairs = list(zip(human, judge, strict=True))
    return JudgeRates(
        true_positive=_rate([said for truth, said in pairs if truth], confidence),
        true_negative=_rate([not said for truth, said in pairs if not truth], confidence),
    )


def _rate(right: Sequence[bool], confidence: float) -> Rate:
    hits, n = sum(right), len(right)
    return Rate(hits=hits, n=n, interval=exact_interval(hits, n, confidence=confidence))


def corrected_share(
    yes: int,
    n: int,
    rates: JudgeRates,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    draws: int = 10_000,
) -> CorrectedShare:
    """Return what a share that a judge measured would be without the judge's own errors.

    ``yes`` of ``n`` items were called relevant by the judge, whose rates come from a sample that people
    labelled. The value is None when TPR + TNR <= 1 (or a class is missing): such a judge tells nothing.

    Raises:
        ValueError: ``n`` is 0, or ``yes`` is not between 0 and ``n``.

    Source: Rogan and Gladen, American Journal of Epidemiology 107 (1978).

    >>> labels = [True] * 50 + [False] * 50
    >>> rates = judge_rates(labels, [True] * 45 + [False] * 45 + [True] * 10)
    >>> round(corrected_share(60, 100, rates, np.random.default_rng(0)).value, 4)
    0.5714
    """
    _check_share(yes, n)
    if n == 0:
        raise ValueError("a share of no items cannot be corrected")
    observed = yes / n
    tpr, tnr = rates.true_positive, rates.true_negative
    if tpr.value is None or tnr.value is None or tpr.hits * tnr.n + tnr.hits * tpr.n <= tpr.n * tnr.n:
        return CorrectedShare(observed=observed, value=None, interval=None)
    drawn = _corrected(
        rng.binomial(n, observed, draws) / n,
        rng.binomial(tpr.n, tpr.value, draws) / tpr.n,
        rng.binomial(tnr.n, tnr.value, draws) / tnr.n,
    )
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(drawn, [tail, 1.0 - tail]).tolist() if len(drawn) else (0.0, 1.0)
    value = _corrected(np.array([observed]), np.array([tpr.value]), np.array([tnr.value]))
    return CorrectedShare(
        observed=observed,
        value=float(value[0]),
        interval=Interval(low=low, high=high, confidence=confidence, method="percentile"),
        dropped=draws - len(drawn),
        draws=draws,
    )


def _corrected(
    share: NDArray[np.float64], tpr: NDArray[np.float64], tnr: NDArray[np.float64]
) -> NDArray[np.float64]:
    better = tpr + tnr - 1.0
    told = better > 1e-12
    return np.clip((share[told] + tnr[told] - 1.0) / better[told], 0.0, 1.0)


def _check_share(hits: int, n: int) -> None:
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is not a share")
