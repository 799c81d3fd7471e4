"""A judge held against people: rates, agreement, and what a share it measured would be without errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log

import numpy as np

from assay.model.comparison import Interval
from assay.model.judges import Corrected, JudgeFigures, PeopleAgreement, Share
from assay.model.labels import Standing
from assay.stats.agreement import cohen_kappa, krippendorff_alpha
from assay.stats.rates import JudgeRates, Rate, corrected_share, judge_rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One place that people and the judge have graded."""

    query_id: str
    place: str
    kind: str
    people: float
    judge: float


def figures_of(rows: Sequence[Compared], *, relevant_from: float, seed: int = 0) -> tuple[JudgeFigures, ...]:
    """Return the figures over all rows, then over each kind of query, sorted.

    Args:
        rows: places that both have graded.
        relevant_from: the lowest grade that is called relevant.
        seed: of the bootstrap of kappa.

    >>> row = Compared(query_id="q1", place="a#0-1", kind="factual", people=1.0, judge=0.0)
    >>> [(one.kind, one.true_positive.value) for one in figures_of([row], relevant_from=1)]
    [(None, 0.0), ('factual', 0.0)]
    """
    kinds = sorted({row.kind for row in rows})
    groups: list[tuple[str | None, Sequence[Compared]]] = [(None, rows)]
    groups += [(kind, [row for row in rows if row.kind == kind]) for kind in kinds]
    return tuple(_figures(kind, group, relevant_from, seed) for kind, group in groups)


def rates_over(rows: Sequence[Compared], *, relevant_from: float) -> JudgeRates:
    """Return the judge's rates over some places."""
    return judge_rates(*_sides(rows, relevant_from))


def corrected(what: str, yes: int, n: int, rates: JudgeRates, *, seed: int = 0) -> Corrected:
    """Return a share that the judge measured, corrected for its errors.

    Raises:
        ValueError: ``n`` is 0, or ``yes`` is not between 0 and ``n``.
    """
    found = corrected_share(yes, n, rates, np.random.default_rng(seed))
    low, high = _ends(found.interval)
    return Corrected(what=what, yes=yes, n=n, observed=found.observed, value=found.value, low=low, high=high)


def people_agreement(
    standings: Iterable[Standing], *, relevant_from: float, seed: int = 0
) -> PeopleAgreement | None:
    """Return how people agree: kappa of two, alpha of more; None where nobody graded what another graded.

    Settled disagreements count as the disagreements that they were.
    """
    shared = [one for one in standings if len(one.people) > 1]
    if not shared:
        return None
    people = sorted({name for one in shared for name in one.people})
    conflicts = sum(one.conflict for one in shared)
    if len(people) == 2:
        first, second = ([one.people[name] >= relevant_from for one in shared] for name in people)
        found = cohen_kappa(first, second, np.random.default_rng(seed))
        low, high = _ends(found.interval)
        return PeopleAgreement(
            people=tuple(people),
            n=len(shared),
            conflicts=conflicts,
            agreement=found.agreement,
            kappa=found.kappa,
            kappa_low=low,
            kappa_high=high,
            why_undefined=found.why_undefined,
        )
    labels = [[one.people.get(name) for one in shared] for name in people]
    alpha = krippendorff_alpha(labels, scale="ordinal")
    return PeopleAgreement(
        people=tuple(people),
        n=len(shared),
        conflicts=conflicts,
        alpha=alpha,
        why_undefined="undefined: only one grade; add negative examples" if alpha is None else None,
    )


def least_for(bar: float, *, confidence: float = 0.95) -> int:
    """Return how many cases a judge that never errs needs for its lower bound to reach the bar.

    The exact lower bound of n of n is tail ** (1 / n). 0 when the bar is 0; a bar of 1 is never reached, and
    gives -1.

    >>> least_for(0.8), least_for(0.9)
    (17, 36)
    """
    if bar <= 0.0:
        return 0
    return -1 if bar >= 1.0 else ceil(log((1.0 - confidence) / 2.0) / log(bar))


def _figures(kind: str | None, rows: Sequence[Compared], relevant_from: float, seed: int) -> JudgeFigures:
    people, judge = _sides(rows, relevant_from)
    rates = judge_rates(people, judge)
    agreed = cohen_kappa(people, judge, np.random.default_rng(seed))
    low, high = _ends(agreed.interval)
    return JudgeFigures(
        kind=kind,
        n=len(rows),
        people_yes=sum(people),
        judge_yes=sum(judge),
        true_positive=_share(rates.true_positive),
        true_negative=_share(rates.true_negative),
        agreement=agreed.agreement,
        expected=agreed.expected,
        kappa=agreed.kappa,
        kappa_low=low,
        kappa_high=high,
        why_undefined=agreed.why_undefined,
    )


def _sides(rows: Sequence[Compared], relevant_from: float) -> tuple[list[bool], list[bool]]:
    return [row.people >= relevant_from for row in rows], [row.judge >= relevant_from for row in rows]


def _share(rate: Rate) -> Share:
    low, high = _ends(rate.interval)
    return Share(hits=rate.hits, n=rate.n, value=rate.value, low=low, high=high)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)
