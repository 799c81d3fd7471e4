"""Two runs under the same golden set, paired by query."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from assay.comparison.pairing import Pairing, pair_queries
from assay.comparison.wording import comparison_sentence, power_sentence
from assay.measures.spec import parse_measure
from assay.model.comparison import Comparison, Difference, Interval, Moved, Verdict
from assay.model.errors import InputError
from assay.model.notices import Notice, listed
from assay.model.scores import ScoreTable
from assay.stats.bootstrap import mean_interval
from assay.stats.multiple import holm
from assay.stats.power import detectable_difference, deviation, queries_needed, standardised_effect
from assay.stats.signs import fewest_decided, sign_flip_test, without_dust


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a comparison is made."""

    seed: int = 0
    """Each test draws from a generator of its own, made of this seed, the measure and the group: so that
    asking for one more measure changes no other figure."""
    alpha: float = 0.05
    draws: int = 10_000
    """Of the bootstrap, and of the sign-flip test where it is not exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """One measure over one group, tested but not yet corrected for the other tests."""

    measure: str
    group: str | None
    base: NDArray[np.float64]
    candidate: NDArray[np.float64]
    differences: NDArray[np.float64]
    p: float
    exact: bool
    interval: Interval | None

    @property
    def decided(self) -> int:
        return int(np.count_nonzero(self.differences))


def compare_tables(
    base: ScoreTable,
    candidate: ScoreTable,
    measures: Sequence[str] | None = None,
    *,
    by: str | None = "kind",
    seed: int = 0,
    alpha: float = 0.05,
    draws: int = 10_000,
    names: tuple[str, str] = ("base", "candidate"),
) -> Comparison:
    """Compare two runs over the queries that both have, measure by measure, overall and by group.

    Each figure stands on the queries with a value in both runs; what is left out is said in the notices.
    p-values come from the two-sided sign-flip test, intervals from the BCa bootstrap, and Holm's correction
    runs over all measures and groups that were tested. The order of the queries changes nothing.

    Args:
        base: the scores of the run that stands.
        candidate: the scores of the run that may replace it.
        measures: what to compare; None: all measures that both tables have.
        by: the column to group by; None: overall only. A column that a table lacks gives a notice.
        seed: of the generators; it is written into the result.
        alpha: the chance of a false alarm that is taken, over all tests together; 1 - alpha is the
            confidence of each interval.
        draws: of the bootstrap, and of the test where it is not exact.
        names: what to call the two runs.

    Raises:
        InputError: no query is in both, or a measure is not in both.

    >>> from assay.model.scores import ScoreTable
    >>> ids = tuple(f"q{n}" for n in range(8))
    >>> base = ScoreTable(query_ids=ids, values={"hit@3": np.zeros(8)})
    >>> candidate = ScoreTable(query_ids=ids, values={"hit@3": np.array([1.0] * 7 + [0.0])})
    >>> row = compare_tables(base, candidate, by=None).row("hit@3")
    >>> row.wins, row.p, row.verdict
    (7, 0.015625, 'better')
    """
    chosen = common_measures((base, candidate), measures)
    pairing = pair_queries((base, candidate), by=by)
    settings = Settings(seed=seed, alpha=alpha, draws=draws)
    tested, notices = weigh_pair(base, candidate, chosen, pairing, settings)
    corrected = holm([test.p for test in tested if len(test.base)])
    return finish_pair(
        (base, candidate),
        tested,
        corrected,
        pairing,
        settings,
        names=names,
        notices=(*pairing.notices, *notices),
    )


def common_measures(tables: Sequence[ScoreTable], measures: Sequence[str] | None) -> tuple[str, ...]:
    """Return the measures to compare: those asked for, or those that every table has.

    Raises:
        InputError: a measure asked for is not in every table, or no measure is.
    """
    shared = [name for name in tables[0].measures if all(name in table.values for table in tables)]
    chosen = tuple(dict.fromkeys(shared if measures is None else measures))
    missing = [name for name in chosen if name not in shared]
    if missing or not chosen:
        what = f"not measured in every run: {', '.join(missing)}" if missing else "the runs share no measure"
        raise InputError(what, fix=f"measures in all of them: {', '.join(shared) or 'none'}")
    return chosen


def weigh_pair(
    base: ScoreTable,
    candidate: ScoreTable,
    measures: Sequence[str],
    pairing: Pairing,
    settings: Settings,
) -> tuple[list[Tested], list[Notice]]:
    """Test each measure over all queries and over each group, before any correction."""
    tested: list[Tested] = []
    notices: list[Notice] = []
    for measure in measures:
        first = base.values[measure][pairing.places[0]]
        second = candidate.values[measure][pairing.places[1]]
        defined = ~np.isnan(first) & ~np.isnan(second)
        notices += _undefined(measure, first, second, pairing)
        for group in (None, *pairing.groups):
            chosen = defined if group is None else defined & pairing.mask(group)
            tested.append(_test(measure, group, first[chosen], second[chosen], settings))
    return tested, notices


def _test(
    measure: str,
    group: str | None,
    base: NDArray[np.float64],
    candidate: NDArray[np.float64],
    settings: Settings,
) -> Tested:
    rng = _generator(settings.seed, measure, group)
    differences = without_dust(candidate - base)
    flip = sign_flip_test(differences, rng, draws=settings.draws)
    return Tested(
        measure=measure,
        group=group,
        base=base,
        candidate=candidate,
        differences=differences,
        p=flip.p,
        exact=flip.exact,
        interval=mean_interval(differences, rng, confidence=1.0 - settings.alpha, draws=settings.draws),
    )


def _generator(seed: int, measure: str, group: str | None) -> np.random.Generator:
    name = f"{measure}\x00{'' if group is None else 'group ' + group}"
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.random.default_rng([seed, key])


def finish_pair(
    tables: tuple[ScoreTable, ScoreTable],
    tested: Sequence[Tested],
    corrected: Sequence[float],
    pairing: Pairing,
    settings: Settings,
    *,
    names: tuple[str, str],
    notices: tuple[Notice, ...],
    tests: int | None = None,
) -> Comparison:
    """Put tests and their corrected p-values together; tests without a query were not corrected."""
    tests = len(corrected) if tests is None else tests
    left = iter(corrected)
    rows = tuple(
        _row(test, next(left), settings, tests) if len(test.base) else _empty_row(test) for test in tested
    )
    measures = tuple(dict.fromkeys(test.measure for test in tested))
    return Comparison(
        base=names[0],
        candidate=names[1],
        by=pairing.by,
        rows=rows,
        moved={measure: _moved(measure, tables[0], tables[1], pairing) for measure in measures},
        only_base=pairing.only[0],
        only_candidate=pairing.only[1],
        seed=settings.seed,
        alpha=settings.alpha,
        draws=settings.draws,
        tests=tests,
        notices=notices,
    )


def _row(test: Tested, p_holm: float, settings: Settings, tests: int) -> Difference:
    base, candidate = _mean(test.base), _mean(test.candidate)
    wins = int(np.count_nonzero(test.differences > 0.0))
    losses = test.decided - wins
    n = len(test.base)
    sd = deviation(test.differences)
    detectable = None if sd is None else detectable_difference(n, sd, alpha=settings.alpha)
    needed = queries_needed(_mean(test.differences), sd, alpha=settings.alpha)
    verdict = _verdict(test, p_holm, settings.alpha)
    first = comparison_sentence(
        measure=test.measure,
        group=test.group,
        means=(base, candidate),
        interval=test.interval,
        p=test.p,
        alpha=settings.alpha,
        counts=(wins, losses, n - wins - losses),
    )
    second = power_sentence(
        verdict=verdict,
        decided=test.decided,
        alpha=settings.alpha,
        p_holm=p_holm,
        tests=tests,
        detectable=detectable,
        needed=needed,
        n=n,
    )
    return Difference(
        measure=test.measure,
        group=test.group,
        n=n,
        base=base,
        candidate=candidate,
        difference=_mean(test.differences),
        interval=test.interval,
        p=test.p,
        p_holm=p_holm,
        exact=test.exact,
        wins=wins,
        losses=losses,
        ties=n - wins - losses,
        effect=standardised_effect(test.differences),
        win_share=wins / test.decided if test.decided else None,
        detectable=detectable,
        needed=needed,
        verdict=verdict,
        sentence=f"{first} {second}".rstrip(),
    )


def _empty_row(test: Tested) -> Difference:
    of = "" if test.group is None else f" [{test.group}]"
    return Difference(
        measure=test.measure,
        group=test.group,
        n=0,
        base=None,
        candidate=None,
        difference=None,
        interval=None,
        p=1.0,
        p_holm=1.0,
        exact=True,
        wins=0,
        losses=0,
        ties=0,
        effect=None,
        win_share=None,
        detectable=None,
        needed=None,
        verdict="nothing to compare",
        sentence=f"{test.measure}{of}: no query has a value in both runs.",
    )


def _verdict(test: Tested, p_holm: float, alpha: float) -> Verdict:
    if test.decided == 0:
        return "no difference seen"
    if test.decided < fewest_decided(alpha):
        return "not enough queries"
    if p_holm > alpha:
        return "could be chance"
    return "better" if (test.differences.sum() > 0.0) == _higher_is_better(test.measure) else "worse"


def _higher_is_better(measure: str) -> bool:
    """Whether more is better; taken so for a column that is no measure of ours."""
    try:
        return parse_measure(measure).family.better == "higher"
    except InputError:
        return True


def _mean(values: NDArray[np.float64]) -> float:
    return fsum(values.tolist()) / len(values)


def _moved(measure: str, base: ScoreTable, candidate: ScoreTable, pairing: Pairing) -> tuple[Moved, ...]:
    first = base.values[measure][pairing.places[0]]
    second = candidate.values[measure][pairing.places[1]]
    differences = np.nan_to_num(without_dust(second - first), nan=0.0)
    moved = [
        Moved(
            query_id=pairing.query_ids[place],
            group=pairing.group_of[place] if pairing.by else None,
            base=float(first[place]),
            candidate=float(second[place]),
        )
        for place in np.flatnonzero(differences).tolist()
    ]
    return tuple(sorted(moved, key=lambda query: (-abs(query.difference), query.query_id)))


def _undefined(
    measure: str, first: NDArray[np.float64], second: NDArray[np.float64], pairing: Pairing
) -> list[Notice]:
    one = np.flatnonzero(np.isnan(first) != np.isnan(second)).tolist()
    if not one:
        return []
    ids = tuple(pairing.query_ids[place] for place in one)
    noun = "query has" if len(ids) == 1 else "queries have"
    text = f"{measure}: {len(ids)} {noun} a value in one run only, and stand in no figure: {listed(ids)}"
    return [Notice(code="undefined-in-one", text=text, ids=ids)]
