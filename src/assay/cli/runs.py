"""``assay runs``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.table import Table

from assay.cli.screen import console, write
from assay.flows.project import load_project
from assay.store.runs import RunStore


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(), *, json: bool = False
) -> None:
    """List the stored runs of a project, the newest last.

    Args:
        project: the folder of an assay.toml, or the file itself.
        json: print a JSON list instead of the table.
    """
    store = RunStore(load_project(project).home / "runs")
    runs = store.list()
    if json:
        write(msgspec.json.format(msgspec.json.encode(runs), indent=2).decode() + "\n")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("run", "saved (UTC)", "name", "golden", "corpus", "pipeline"):
        table.add_column(name, no_wrap=True)
    for name in ("queries", "chunks", "k", "failed"):
        table.add_column(name, justify="right")
    for run in runs:
        table.add_row(
            run.id,
            f"{run.saved_at:%Y-%m-%d %H:%M:%S}",
            run.name,
            run.golden_digest[:8],
            run.corpus_digest[:8],
            run.pipeline_digest[:8],
            f"{run.queries:,}",
            f"{run.chunks:,}",
            str(run.k),
            str(run.failed),
        )
    screen = console()
    screen.print(table if runs else "no runs yet: assay run makes one")
    for run_id, what in store.damaged.items():
        screen.print(f"damaged: {run_id}: {what}", style="yellow")
