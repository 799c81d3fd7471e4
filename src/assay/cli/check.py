"""``assay check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, write
from assay.flows.check import Checked, check_project
from assay.flows.project import load_project
from assay.report.checks import findings_json, print_findings, survival_table
from assay.report.terminal import counted


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    chunkers: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=True)] = (),
    run: str | None = None,
    strict: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> int:
    """Prove the golden set of a project before it is used; all faults at once.

    Exit code 1 when an anchor or a query has an error (with --strict: or a warning), else 0.

    Args:
        project: the folder of an assay.toml, or the file itself.
        chunkers: further chunkers to hold the anchors against, as in "recursive size=400 overlap=50".
        run: the stored run whose top hits the queries are held against; the latest by default.
        strict: let warnings fail too.
        json: print one JSON object instead.
    """
    checked = check_project(load_project(project), chunkers=chunkers, run=run)
    if json:
        write(_json(checked))
    else:
        _print(checked)
    return int(checked.failed or (strict and checked.count("warning") > 0))


def _print(checked: Checked) -> None:
    screen = console()
    golden = checked.prepared.golden
    print_findings(checked.findings, checked.prepared.project.golden_path.name, screen)
    rows = {
        name: (
            one.chunks,
            one.survival.anchors,
            one.survival.whole,
            one.survival.duplicated,
            one.survival.split,
            one.survival.lost,
            one.omega,
        )
        for name, one in checked.survival.items()
    }
    screen.print(survival_table(rows))
    counts = ", ".join(
        counted(checked.count(severity), severity) for severity in ("error", "warning", "note")
    )
    screen.print(f"\n{golden.name}: {counted(len(golden.queries), 'query')}, {counts}")


def _json(checked: Checked) -> str:
    survival = {
        name: {
            "chunks": one.chunks,
            "anchors": one.survival.anchors,
            "whole": one.survival.whole,
            "duplicated": one.survival.duplicated,
            "split": one.survival.split,
            "lost": one.survival.lost,
            "precision_omega": one.omega,
        }
        for name, one in checked.survival.items()
    }
    counts = {severity: checked.count(severity) for severity in ("error", "warning", "note")}
    return findings_json(checked.findings, survival, counts)
