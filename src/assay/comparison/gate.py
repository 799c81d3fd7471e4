"""Hold a run's scores against its gates.

A gate is decided on exact figures (``exact.py``), never on those that are shown: at the floor, and at
exactly the tolerance, it passes. Where nothing was measured (no queries, no such measure, every retrieval
failed) it fails, and says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import fsum

from assay.comparison.causes import find_causes
from assay.comparison.exact import exact_mean, told_apart, written_figure
from assay.comparison.gate_baseline import check_against
from assay.comparison.gate_grammar import parse_gates
from assay.comparison.measured import Measured, measure_gate
from assay.comparison.reachable import lint_floor, neighbours
from assay.model.errors import ConfigError, Fault
from assay.model.gates import Baseline, Cause, Gate, GateReport, GateResult
from assay.model.notices import Notice
from assay.model.scores import ScoreTable

__all__ = ["check_gates", "parse_gates"]


def check_gates(
    gates: Sequence[Gate],
    tables: Mapping[str, ScoreTable],
    baseline: Baseline | None = None,
    *,
    final: str = "final",
    errors: Mapping[str, str] | None = None,
    run: str | None = None,
    seed: int = 0,
    alpha: float = 0.05,
) -> GateReport:
    """Return how each gate did.

    Args:
        gates: what ``parse_gates`` read.
        tables: stage -> scores.
        baseline: the run that ``no worse`` and ``not significantly worse`` are held against.
        final: the stage that gates without one speak of; the last table when there is none of that name.
        errors: query -> what its retrieval failed with. Such queries score 0 and are shown.
        run: the name of the run, for reports.
        seed: of the paired test.
        alpha: of the paired test.

    Raises:
        ConfigError: there is no gate at all: nothing would guard anything.

    >>> import numpy as np
    >>> table = ScoreTable(query_ids=("a", "b", "c"), values={"hit@5": np.array([1.0, 1.0, 0.0])})
    >>> report = check_gates(parse_gates({"hit@5": ">= 0.67"}), {"final": table})
    >>> report.results[0].shown, report.exit_code
    ('0.6667 < 0.6700', 1)
    """
    if not gates:
        raise ConfigError(
            Fault(where="assay.toml [gate]", what="holds no gate", fix="add one: \"recall@10\" = '>= 0.70'")
        )
    notices: list[Notice] = []
    results = tuple(
        _check(
            gate,
            measure_gate(gate, tables, final=final, errors=errors or {}),
            baseline,
            seed=seed,
            alpha=alpha,
            notices=notices,
        )
        for gate in gates
    )
    return GateReport(
        results=results,
        run=run,
        baseline=None if baseline is None else baseline.name,
        notices=tuple(dict.fromkeys(notices)),
    )


def _check(
    gate: Gate,
    measured: Measured | str,
    baseline: Baseline | None,
    *,
    seed: int,
    alpha: float,
    notices: list[Notice],
) -> GateResult:
    if isinstance(measured, str):
        return GateResult(
            gate=gate, passed=False, value=None, exact=None, shown="nothing measured", n=0, reason=measured
        )
    if gate.rule in ("no worse", "not significantly worse"):
        result, said = check_against(gate, measured, baseline, seed=seed, alpha=alpha)
        notices += said
        return result
    before = None if baseline is None else baseline.tables.get(measured.stage)
    scores: list[float] = measured.scores.tolist()
    value = exact_mean(scores) or Fraction(0)
    passed, shown, reason = _decide(gate, value)
    causes: tuple[Cause, ...] = ()
    if not passed:
        below = gate.rule == "floor" or (gate.rule == "pin" and value < gate.figure)
        causes = find_causes(measured, "more" if below else "less", before)
        if gate.rule == "pin" and not below:
            causes = tuple(cause for cause in causes if cause.before is not None)
    near = _near(gate, scores)
    return GateResult(
        gate=gate,
        passed=passed,
        value=fsum(scores) / len(scores),
        exact=value,
        shown=shown,
        n=len(scores),
        reason=None if reason is None else reason + _failures(measured),
        causes=causes,
        reachable=None if near is None else (float(near[0]), float(near[1])),
        lint=_lint(gate, measured, scores),
        errors=len(measured.failed),
    )


def _decide(gate: Gate, value: Fraction) -> tuple[bool, str, str | None]:
    """Return the verdict, the comparison as shown, and the reason of a failure."""
    digits = max(4, gate.decimals)
    if gate.rule == "pin":
        return _decide_pin(gate, value, digits)
    floor = gate.rule == "floor"
    passed = value >= gate.figure if floor else value <= gate.figure
    now, bound = told_apart(value, gate.figure, least=digits)
    if passed:
        return True, f"{now} {'>=' if floor else '<='} {bound}", None
    where, sign = ("below the floor", "<") if floor else ("above the cap", ">")
    return False, f"{now} {sign} {bound}", f"{gate.key} is {now}, {where} of {bound}"


def _decide_pin(gate: Gate, value: Fraction, digits: int) -> tuple[bool, str, str | None]:
    off = abs(value - gate.figure)
    passed = off <= gate.tolerance
    now, pin = written_figure(value, digits), written_figure(gate.figure, digits)
    far, tolerance = told_apart(off, gate.tolerance, least=digits)
    if passed:
        return True, f"{now} within {tolerance} of {pin}", None
    shown = f"{now} is {far} from {pin}, more than {tolerance}"
    if value > gate.figure:
        reason = f"{gate.key} rose: {shown}; if that is meant, pin it at {now}"
    else:
        reason = f"{gate.key} fell: {shown}"
    return False, shown, reason


def _failures(measured: Measured) -> str:
    if not measured.failed:
        return ""
    return f"; {len(measured.failed)} of {len(measured.scores)} queries failed and score 0"


def _near(gate: Gate, scores: Sequence[float]) -> tuple[Fraction, Fraction] | None:
    near = neighbours(scores, gate.figure)
    if near is not None and gate.rule == "pin" and any(abs(x - gate.figure) <= gate.tolerance for x in near):
        return None
    return near


def _lint(gate: Gate, measured: Measured, scores: Sequence[float]) -> str | None:
    best = measured.table.ceilings.get(measured.spelling)
    ceiling = None if best is None else exact_mean(best.tolist())
    lowest = gate.figure - gate.tolerance if gate.rule == "pin" else gate.figure
    if ceiling is not None and gate.rule != "cap" and ceiling < lowest:
        top, bound = told_apart(ceiling, lowest)
        return f"no retriever can reach {bound} here: the ceiling of this set is {top}"
    if gate.rule == "floor":
        return lint_floor(gate, scores)
    near = _near(gate, scores)
    if gate.rule != "pin" or near is None:
        return None
    ends = " and ".join(written_figure(end, 4) for end in near)
    return f"no value that {len(scores)} queries can score lies within the tolerance; the nearest are {ends}"
