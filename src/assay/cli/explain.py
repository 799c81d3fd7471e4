"""``assay explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from assay.cli.screen import console, write
from assay.flows.evaluate import load_evaluation
from assay.flows.explain import explain
from assay.flows.project import load_project
from assay.report.explanation import render_explanation


def command(
    query: str,
    run: str = "latest",
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    json: bool = False,
) -> None:
    """Lay one query of a run open: anchors, hits, ranks at every stage, and the arithmetic of its numbers.

    Args:
        query: the query's id.
        run: the run's id, the beginning of one, or ``latest``.
        project: the folder of an assay.toml, or the file itself.
        json: print one JSON object instead.
    """
    shown = explain(load_evaluation(load_project(project), run), query)
    if json:
        write(msgspec.json.format(msgspec.json.encode(shown), indent=2).decode() + "\n")
    else:
        console().print(render_explanation(shown))
