"""The few phrases that several reports share, so that all say the same."""

from __future__ import annotations

from collections.abc import Sequence

from assay.model.comparison import Interval
from assay.model.gates import Cause, GateReport, GateResult

UNDEFINED = "-"
"""What stands where a value is undefined: never 0, never NaN."""
MOST_CAUSES = 10
"""Queries that a report names for one gate; it says how many more there are."""


def cause_text(cause: Cause) -> str:
    """Write one query that caused a failure.

    >>> cause_text(Cause(query_id="q-017", value=0.0, before=1.0))
    'q-017 0.000 (was 1.000)'
    """
    moved = cause.before is not None and cause.before != cause.value
    was = f" (was {cause.before:.3f})" if moved else ""
    error = "" if cause.error is None else f": {cause.error}"
    never = ", and no retriever could win it" if cause.unwinnable else ""
    return f"{cause.query_id} {cause.value:.3f}{was}{error}{never}"


def cause_lines(causes: Sequence[Cause], *, most: int = MOST_CAUSES) -> list[str]:
    """Write the first few causes, one a line, and how many more there are."""
    lines = [cause_text(cause) for cause in causes[:most]]
    return [*lines, f"and {len(causes) - most} more"] if len(causes) > most else lines


def gate_headline(report: GateReport) -> str:
    """Write how many gates fell, in one sentence.

    >>> gate_headline(GateReport(results=()))
    'no gate was checked'
    """
    of = len(report.results)
    if not of:
        return "no gate was checked"
    gates = "1 gate" if of == 1 else f"{of} gates"
    fell = len(report.failed)
    return f"{gates} passed" if not fell else f"{fell} of {gates} fell"


def result_lines(result: GateResult) -> list[str]:
    """Write why a gate failed and which queries caused it."""
    lines = [] if result.reason is None else [result.reason]
    if result.lint is not None and not result.passed:
        lines.append(result.lint)
    return [*lines, *cause_lines(result.causes)]


def number(value: float | None) -> str:
    """Write a mean or a score.

    >>> number(2 / 3), number(None)
    ('0.667', '-')
    """
    return UNDEFINED if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Write a difference.

    >>> signed(0.125), signed(None)
    ('+0.125', '-')
    """
    return UNDEFINED if value is None else f"{value:+.3f}"


def ends(interval: Interval | None) -> str:
    """Write an interval.

    >>> ends(Interval(low=-0.05, high=0.2))
    '-0.050 to +0.200'
    """
    return UNDEFINED if interval is None else f"{signed(interval.low)} to {signed(interval.high)}"
