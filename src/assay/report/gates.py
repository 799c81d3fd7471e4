"""Gates for people in a terminal, and as one JSON object."""

from __future__ import annotations

from typing import Any

import msgspec
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.model.gates import GateReport, GateResult
from assay.report.words import gate_headline, result_lines


def print_gates(report: GateReport, console: Console) -> None:
    """Print every gate, and for each that fell why, and the queries that caused it."""
    console.print(render_gates(report))


def render_gates(report: GateReport) -> RenderableType:
    """Return the page as one renderable."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("", "gate", "measured"):
        table.add_column(name)
    table.add_column("n", justify="right")
    for result in report.results:
        mark = Text("pass", style="green") if result.passed else Text("FAIL", style="bold red")
        table.add_row(mark, Text(result.gate.name), Text(result.shown), str(result.n))
    parts: list[RenderableType] = [table]
    for result in report.failed:
        parts.append(Text())
        parts.append(Text(result.gate.name, style="bold"))
        parts += [Padding(Text(line), (0, 0, 0, 2), expand=False) for line in result_lines(result)]
    if report.notices:
        parts.append(Text())
    parts += [Text(f"note: {notice.text}", style="yellow") for notice in report.notices]
    parts.append(Text())
    parts.append(Text(gate_headline(report), style="bold green" if report.passed else "bold red"))
    return Group(*parts)


def gates_json(report: GateReport) -> str:
    """Return the report as JSON text, indented, ending with a line end; exact values, no times."""
    return msgspec.json.format(msgspec.json.encode(gates_values(report)), indent=2).decode() + "\n"


def gates_values(report: GateReport) -> dict[str, Any]:
    """Return the same as plain values."""
    return {
        "passed": report.passed,
        "run": report.run,
        "baseline": report.baseline,
        "gates": [_result(result) for result in report.results],
        "notices": [msgspec.to_builtins(notice) for notice in report.notices],
    }


def _result(result: GateResult) -> dict[str, Any]:
    gate = result.gate
    return {
        "gate": gate.key,
        "rule": gate.written,
        "stage": gate.stage,
        "measure": gate.measure,
        "column": gate.column if gate.group is not None else None,
        "group": gate.group,
        "passed": result.passed,
        "value": result.value,
        "exact": None if result.exact is None else str(result.exact),
        "shown": result.shown,
        "n": result.n,
        "reason": result.reason,
        "queries": [msgspec.to_builtins(cause) for cause in result.causes],
        "reachable": result.reachable,
        "lint": result.lint,
        "errors": result.errors,
    }
