"""Which queries of a log become the set: how many of each kind, and what such a set can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from assay.building.draft_tasks import share_out
from assay.building.merging import MergedQuery
from assay.stats.distributions import normal_quantile
from assay.stats.rates import wilson_interval

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One kind in the log and in the set."""

    kind: str
    distinct: int
    """Different questions of the kind in the log."""
    traffic: float
    """How often they were asked."""
    share: float
    """Of all that was asked, 0 to 1."""
    picked: int
    """Queries of the kind in the set."""
    half_width: float | None
    """Half the 95 % interval of a share measured on them when half of them are found: the widest there is.
    None when there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """How many of each kind, and what interval that gives."""

    strata: tuple[Stratum, ...]
    """The most frequent kind first."""
    wanted: int
    true_shares: bool
    """Whether the set has the log's own distribution; else the mean over the set is not that over the log."""

    @property
    def picked(self) -> int:
        return sum(stratum.picked for stratum in self.strata)

    @property
    def half_width(self) -> float | None:
        """Half the 95 % interval of the share found over the whole log, when half is found in each kind.

        Kinds are weighted by their share in the log. None when a kind that was asked has no query: nothing
        is known of it then.

        Source: Cochran, Sampling Techniques, 3rd edition (1977), 5.4: stratified means.
        """
        variance = 0.0
        for stratum in self.strata:
            if stratum.share and not stratum.picked:
                return None
            if stratum.picked:
                variance += stratum.share**2 * 0.25 / stratum.picked
        return normal_quantile(0.5 + _CONFIDENCE / 2.0) * sqrt(variance)


def plan_sample(
    queries: Mapping[str, Sequence[MergedQuery]],
    count: int,
    *,
    shares: Mapping[str, float] | None = None,
    least: int = 0,
) -> SamplePlan:
    """Return how many queries of each kind make a set.

    Args:
        queries: kind -> its questions.
        count: how many queries the set shall have; fewer where the log has not so many.
        shares: the distribution that is wanted, kind -> share; None: that of the log, by how often its
            questions were asked.
        least: the fewest of each kind that the log has, so that each can be read on its own.

    Raises:
        ValueError: a share names a kind that the log lacks, or none is positive.

    >>> log = {"how-to": [MergedQuery(text=f"h{n}", count=3, wordings=()) for n in range(9)],
    ...        "lexical": [MergedQuery(text=f"l{n}", count=1, wordings=()) for n in range(9)]}
    >>> [(one.kind, one.picked) for one in plan_sample(log, 8).strata]
    [('how-to', 6), ('lexical', 2)]
    """
    traffic = {kind: sum(one.count for one in some) for kind, some in queries.items()}
    total = sum(traffic.values())
    given = traffic if shares is None else dict(shares)
    unknown = [kind for kind in given if kind not in queries]
    if unknown:
        raise ValueError(
            f"the log has no query of the kind {', '.join(unknown)}; it has {', '.join(queries)}"
        )
    room = {kind: len(some) for kind, some in queries.items()}
    dealt = _dealt(count, given, room, least)
    true = _dealt(count, traffic, room, 0)
    strata = [
        Stratum(
            kind=kind,
            distinct=len(some),
            traffic=traffic[kind],
            share=traffic[kind] / total if total else 0.0,
            picked=dealt.get(kind, 0),
            half_width=_half_width(dealt.get(kind, 0)),
        )
        for kind, some in queries.items()
    ]
    strata.sort(key=lambda one: (-one.traffic, one.kind))
    return SamplePlan(
        strata=tuple(strata),
        wanted=count,
        true_shares=all(dealt.get(kind, 0) == number for kind, number in true.items()),
    )


def _dealt(count: int, shares: Mapping[str, float], room: Mapping[str, int], least: int) -> dict[str, int]:
    """Share out, never more than there is; what one kind has no room for goes to the others."""
    dealt = {kind: min(least, room[kind]) if share > 0 else 0 for kind, share in shares.items()}
    left = max(0, count - sum(dealt.values()))
    exact = share_out(count, shares)
    # First what is missing to the exact share, then what others could not take.
    while left:
        open_shares = {kind: shares[kind] for kind in shares if dealt[kind] < room[kind] and shares[kind] > 0}
        if not open_shares:
            break
        missing = {kind: max(0, min(exact[kind], room[kind]) - dealt[kind]) for kind in open_shares}
        if sum(missing.values()) == 0:
            missing = share_out(left, open_shares)
        more = missing if sum(missing.values()) <= left else share_out(left, missing)
        for kind, number in more.items():
            taken = min(number, room[kind] - dealt[kind], left)
            dealt[kind] += taken
            left -= taken
    return dealt


def _half_width(n: int) -> float | None:
    interval = wilson_interval(n // 2, n, confidence=_CONFIDENCE)
    return None if interval is None else (interval.high - interval.low) / 2.0


def sample(queries: Sequence[MergedQuery], count: int, rng: np.random.Generator) -> list[MergedQuery]:
    """Return so many of some queries, each with a chance in proportion to how often it was asked.

    A question that was asked more often than 1 / count of the time is taken for sure. The rest are drawn by
    a systematic sample from a random order, so that none is drawn twice.

    Args:
        queries: of one kind.
        count: how many; all when there are no more.
        rng: decides.

    Source: Madow, Annals of Mathematical Statistics 20 (1949): systematic sampling with unequal chances.
    """
    left = sorted(queries, key=lambda one: (-one.count, one.text))
    if count >= len(left):
        return left
    sure: list[MergedQuery] = []
    total = sum(one.count for one in left)
    while left and len(sure) < count and left[0].count * (count - len(sure)) >= total > 0:
        total -= left[0].count
        sure.append(left.pop(0))
    open_places = count - len(sure)
    if not open_places:
        return sure
    order: list[MergedQuery] = [left[at] for at in rng.permutation(len(left)).tolist()]
    weights = np.array([one.count for one in order], np.float64)
    if weights.sum() <= 0:
        return sure + order[:open_places]
    reached = np.cumsum(weights / weights.sum() * open_places)
    points = float(rng.random()) + np.arange(open_places)
    drawn = np.minimum(np.searchsorted(reached, points, side="right"), len(order) - 1)
    picked = dict.fromkeys(drawn.tolist())
    rest = (at for at in range(len(order)) if at not in picked)
    while len(picked) < open_places:  # rounding put two points into one query
        picked[next(rest)] = None
    return sure + [order[at] for at in picked]
