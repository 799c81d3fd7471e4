"""The check of a golden set, for people and for scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.model.checks import CheckFinding
from assay.report.terminal import figure

STYLES = {"error": "red", "warning": "yellow", "note": "dim"}


def print_findings(findings: Sequence[CheckFinding], file: str, console: Console) -> None:
    """Print each remark with its place and its fix, the gravest first."""
    for severity, style in STYLES.items():
        for finding in findings:
            if finding.severity == severity:
                console.print(
                    Text(f"{severity}: ", style=style), Text(str(finding.fault(file))), soft_wrap=True
                )


def survival_table(rows: Mapping[str, tuple[int, int, int, int, int, int, float | None]]) -> Table:
    """Return the table of label survival.

    Args:
        rows: chunker -> chunks, anchors, whole, duplicated, split, lost, precision-omega.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("chunker", no_wrap=True)
    for name in ("chunks", "anchors", "whole", "of these twice", "split", "lost", "precision-omega"):
        table.add_column(name, justify="right")
    for name, (*counts, omega) in rows.items():
        table.add_row(name, *(f"{count:,}" for count in counts), figure(omega))
    return table


def findings_json(
    findings: Sequence[CheckFinding], survival: Mapping[str, Mapping[str, object]], counts: Mapping[str, int]
) -> str:
    """Return the check as one JSON object: counts, findings, survival."""
    page = {"counts": counts, "findings": findings, "survival": survival}
    return msgspec.json.format(msgspec.json.encode(page), indent=2).decode() + "\n"
