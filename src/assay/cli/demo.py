"""``assay demo``."""

from __future__ import annotations

from pathlib import Path

from assay.cli.screen import console, progress, write
from assay.flows.demo import copy_demo
from assay.flows.evaluate import evaluate
from assay.flows.project import load_project
from assay.report.json import summary_json
from assay.report.terminal import print_summary


def command(folder: Path = Path("assay-demo"), *, json: bool = False) -> None:
    """Copy the bundled project into a folder and measure it there, so that you can change it.

    A folder that holds the demo already is measured as it is, with your changes.

    Args:
        folder: where the project goes.
        json: print one JSON object instead of the table.
    """
    copied = copy_demo(folder)
    with progress() as tell:
        summary = evaluate(load_project(folder), progress=tell).summary
    if json:
        write(summary_json(summary))
        return
    screen = console()
    print_summary(summary, screen)
    screen.print(f"\n{'copied to' if copied else 'measured in'} {folder}; try: assay explain c01 -p {folder}")
