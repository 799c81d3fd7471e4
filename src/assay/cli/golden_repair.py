"""``assay golden repair``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.golden_drift import show
from assay.flows.golden_drift import PRESENTATION, drift_project
from assay.flows.project import load_project


def command(
    golden: Path | None = None,
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> int:
    """Mend anchors where only the presentation differs: offsets, quotes, names of documents.

    Wrong offsets go to the nearest occurrence of the quote; a quote that differs from its document in letter
    case, white space or typography becomes the document's own text; an anchor whose document is gone follows
    its phrase when that stands in exactly one other. Changed words are never guessed. Exit code 1 when an
    anchor is left that only a person can mend, else 0.

    Args:
        golden: the golden file; the project's by default.
        project: the folder of an assay.toml, or the file itself.
        dry_run: only say what would be changed.
        json: print one JSON object instead.
    """
    drifted = drift_project(load_project(project), golden=golden, mending=PRESENTATION, write=not dry_run)
    show(drifted, json=json)
    return int(bool(drifted.lost))
