"""Confidence intervals over queries, by resampling them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.model.comparison import Interval
from assay.stats.distributions import normal_cdf, normal_quantile
from assay.stats.signs import DUST

_AT_ONCE = 1 << 20
"""Resampled values held in memory at once."""
_DRAWN_UP_TO = 5_000
"""Values up to which means are drawn; drawing ten thousand means of more takes seconds."""
_FEW = 20
"""When each value stands this often, how often each is drawn is drawn instead: the same in less time."""


def mean_interval(
    values: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    draws: int = 10_000,
) -> Interval | None:
    """Return the interval of the mean over queries: bootstrap, bias-corrected and accelerated (BCa).

    None below two values: one query says nothing of how queries vary. Equal values give the point itself,
    marked ``constant``. When the correction is undefined (every resampled mean on one side), the plain
    percentile interval is given, marked so. Above 5,000 values (unless few are distinct) the ends are
    worked out instead of drawn (``analytic``): resampling would only add its own noise. Never NaN.

    Raises:
        ValueError: a value is not finite, or ``confidence`` is not strictly between 0 and 1.

    Source: Efron, Better Bootstrap Confidence Intervals, JASA 82 (1987).

    >>> interval = mean_interval(np.array([0.0, 0.0, 0.5, 1.0] * 10), np.random.default_rng(0))
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.25, 0.51)
    """
    if not np.isfinite(values).all():
        raise ValueError("a value is not finite: leave undefined scores out before resampling")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie strictly between 0 and 1, not {confidence}")
    if len(values) < 2:
        return None
    mean = float(values.mean())
    if float(np.ptp(values)) <= DUST:
        return Interval(low=mean, high=mean, confidence=confidence, method="constant")
    centred = values - mean
    if len(values) > _DRAWN_UP_TO and len(np.unique(values)) * _FEW > len(values):
        return _analytic(centred, mean, confidence)
    return corrected_interval(
        _resampled_means(centred, rng, draws),
        estimate=mean,
        acceleration=_acceleration(centred),
        confidence=confidence,
    )


def corrected_interval(
    deviations: NDArray[np.float64], *, estimate: float, acceleration: float, confidence: float
) -> Interval:
    """Return the BCa interval from resampled deviations from the estimate.

    Deviations within rounding of 0 count half below it and half above, since means of few distinct scores
    fall on the estimate often.
    """
    tail = (1.0 - confidence) / 2.0
    below = np.count_nonzero(deviations < -DUST) + np.count_nonzero(deviations <= DUST)
    share = below / (2.0 * len(deviations))
    if not 0.0 < share < 1.0:
        low, high = np.quantile(deviations, [tail, 1.0 - tail]).tolist()
        return Interval(low=estimate + low, high=estimate + high, confidence=confidence, method="percentile")
    bias = normal_quantile(share)
    ends = [_corrected(bias, acceleration, normal_quantile(end)) for end in (tail, 1.0 - tail)]
    low, high = np.quantile(deviations, ends).tolist()
    return Interval(low=estimate + low, high=estimate + high, confidence=confidence, method="bca")


def _corrected(bias: float, acceleration: float, z: float) -> float:
    shifted = bias + z
    return normal_cdf(bias + shifted / (1.0 - acceleration * shifted))


def _acceleration(centred: NDArray[np.float64]) -> float:
    """The jackknife's acceleration; for a mean it is a sixth of the skewness over the root of n."""
    return float((centred**3).sum() / (6.0 * (centred**2).sum() ** 1.5))


def _analytic(centred: NDArray[np.float64], mean: float, confidence: float) -> Interval:
    """The limit of BCa for a mean: the bias is that of the skewness, and quantiles are expanded to it.

    Source: DiCiccio and Efron, Bootstrap Confidence Intervals, Statistical Science 11 (1996), section 4.
    """
    error = float(np.sqrt((centred**2).sum())) / len(centred)
    lean = _acceleration(centred)
    tail = (1.0 - confidence) / 2.0
    ends: list[float] = []
    for end in (tail, 1.0 - tail):
        z = normal_quantile(_corrected(lean, lean, normal_quantile(end)))
        ends.append(mean + error * (z + lean * (z * z - 1.0)))
    return Interval(low=ends[0], high=ends[1], confidence=confidence, method="analytic")


def _resampled_means(
    values: NDArray[np.float64], rng: np.random.Generator, draws: int
) -> NDArray[np.float64]:
    n = len(values)
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    if len(distinct) * _FEW <= n:
        seen = np.argsort(first)  # by first appearance: a change of sign then mirrors the draws
        drawn = rng.multinomial(n, counts[seen] / n, size=draws)
        return np.asarray(drawn @ distinct[seen] / n, dtype=np.float64)
    index = np.uint16 if n <= 1 << 16 else np.uint32  # the narrowest is drawn fastest
    rows = max(1, _AT_ONCE // n)
    means = np.empty(draws)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        chosen = rng.integers(0, n, size=(count, n), dtype=index)
        means[start : start + count] = values[chosen].mean(axis=1)
    return means
