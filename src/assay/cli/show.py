"""``assay show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, write
from assay.flows.evaluate import load_evaluation
from assay.flows.project import load_project
from assay.report.json import summary_json
from assay.report.terminal import print_summary


def command(
    run: str = "latest",
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    json: bool = False,
    misses: int = 20,
) -> None:
    """Print a stored run again, measured against the golden set as it is now.

    Args:
        run: the run's id, the beginning of one, ``latest``, or ``latest~1`` for the one before.
        project: the folder of an assay.toml, or the file itself.
        json: print one JSON object instead of the table.
        misses: how many misses the table shows.
    """
    summary = load_evaluation(load_project(project), run).summary
    if json:
        write(summary_json(summary))
    else:
        print_summary(summary, console(), most_misses=misses)
