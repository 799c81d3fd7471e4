"""Gates against a baseline: no worse than it by more than so much, and not significantly worse."""

from __future__ import annotations

from fractions import Fraction
from math import fsum

import numpy as np

from assay.comparison.causes import find_moved
from assay.comparison.exact import exact_mean, told_apart, written_figure
from assay.comparison.measured import Measured, column_of
from assay.comparison.paired import compare_tables
from assay.comparison.pairing import pair_queries
from assay.comparison.wording import written_p
from assay.model.comparison import Comparison
from assay.model.errors import InputError
from assay.model.gates import Baseline, Cause, Gate, GateResult
from assay.model.notices import Notice
from assay.model.scores import ScoreTable


def check_against(
    gate: Gate, measured: Measured, baseline: Baseline | None, *, seed: int, alpha: float
) -> tuple[GateResult, list[Notice]]:
    """Return how a gate against a baseline did; without that baseline it fails and says so."""
    table = _baseline_table(gate, measured, baseline)
    if isinstance(table, str):
        return _failed(gate, measured, table), []
    try:
        pairing = pair_queries((table, measured.table), by=None)
    except InputError:
        return _failed(gate, measured, "no query is in both the run and the baseline"), []
    if gate.rule == "not significantly worse":
        return _check_proof(gate, measured, table, seed=seed, alpha=alpha)
    before = table.values[measured.spelling][pairing.places[0]]
    now = measured.scores[pairing.places[1]]
    defined = ~np.isnan(before)
    first, second = exact_mean(before[defined].tolist()), exact_mean(now[defined].tolist())
    if first is None or second is None:
        return _failed(gate, measured, "no query has a value in the baseline"), list(pairing.notices)
    worse = first - second
    passed = worse <= gate.tolerance
    digits = max(4, gate.decimals)
    was, shown = written_figure(first, digits), written_figure(second, digits)
    far, tolerance = told_apart(abs(worse), gate.tolerance, least=digits)
    way = "equal to" if worse == 0 else f"{far} {'below' if worse > 0 else 'above'}"
    text = f"{shown} is {way} the baseline's {was}"
    if not passed:
        text += f", more than {tolerance}"
    result = GateResult(
        gate=gate,
        passed=passed,
        value=fsum(now[defined].tolist()) / int(defined.sum()),
        exact=second,
        shown=text,
        n=int(defined.sum()),
        reason=None if passed else f"{gate.key}: {text}",
        causes=() if passed else find_moved(measured, table, "more"),
        errors=len(measured.failed),
    )
    return result, list(pairing.notices)


def _baseline_table(gate: Gate, measured: Measured, baseline: Baseline | None) -> ScoreTable | str:
    if baseline is None:
        return "there is no baseline; write one with: assay gate --update"
    if gate.baseline not in (None, "baseline", baseline.name):
        return f"the rule speaks of baseline {gate.baseline!r}, and {baseline.name!r} was given"
    table = baseline.tables.get(measured.stage)
    if table is None:
        return f"the baseline {baseline.name!r} has no stage {measured.stage!r}"
    spelling = column_of(measured.spelling, table)
    if spelling is None:
        return (
            f"the baseline {baseline.name!r} has no {measured.spelling}; write it again: assay gate --update"
        )
    return ScoreTable(
        query_ids=table.query_ids,
        values={measured.spelling: table.values[spelling]},
        groups=table.groups,
    )


def _failed(gate: Gate, measured: Measured, reason: str) -> GateResult:
    scores: list[float] = measured.scores.tolist()
    return GateResult(
        gate=gate,
        passed=False,
        value=fsum(scores) / len(scores),
        exact=exact_mean(scores),
        shown="nothing to compare with",
        n=len(scores),
        reason=f"{gate.key}: {reason}",
        errors=len(measured.failed),
    )


def _check_proof(
    gate: Gate, measured: Measured, table: ScoreTable, *, seed: int, alpha: float
) -> tuple[GateResult, list[Notice]]:
    comparison = compare_tables(
        table, measured.table, [measured.spelling], by=gate.each, seed=seed, alpha=alpha
    )
    overall = comparison.row(measured.spelling)
    fallen = [row for row in comparison.rows if row.verdict == "worse"]
    names = [_of(row.group) for row in fallen]
    worst = min((row.p_holm for row in comparison.rows), default=1.0)
    shown = f"smallest p {written_p(worst, alpha).removeprefix('p ')} over {_tests(comparison.tests)}"
    if fallen:
        shown = f"significantly worse {', '.join(names)}"
    result = GateResult(
        gate=gate,
        passed=not fallen,
        value=overall.candidate,
        exact=None if overall.candidate is None else Fraction(overall.candidate),
        shown=shown,
        n=overall.n,
        reason=f"{gate.key}: {' '.join(row.sentence for row in fallen)}" if fallen else None,
        causes=_proof_causes(measured, table, comparison) if fallen else (),
        errors=len(measured.failed),
    )
    blind = [_of(row.group) for row in comparison.rows if row.verdict == "not enough queries"]
    notices = [*comparison.notices]
    if blind:
        text = f"{gate.name}: too few queries moved to prove anything {', '.join(blind)}"
        notices.append(Notice(code="cannot-tell", text=text))
    return result, notices


def _proof_causes(measured: Measured, table: ScoreTable, comparison: Comparison) -> tuple[Cause, ...]:
    fallen = {row.group for row in comparison.rows if row.verdict == "worse"}
    inside = {
        query.query_id
        for query in comparison.moved[measured.spelling]
        if None in fallen or query.group in fallen
    }
    return tuple(cause for cause in find_moved(measured, table, "more") if cause.query_id in inside)


def _of(group: str | None) -> str:
    return "overall" if group is None else f"on {group}"


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"
