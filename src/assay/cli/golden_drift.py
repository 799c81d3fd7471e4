"""``assay golden drift``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, write
from assay.flows.golden_drift import MOVED, Drifted, drift_project
from assay.flows.project import load_project
from assay.report.golden import drift_json, print_drift
from assay.report.terminal import counted

_ORDER = ("vanished", "changed", "renamed", "presentation", "moved")


def command(
    golden: Path | None = None,
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> int:
    """Find the anchors that moved, changed or vanished since they were taken.

    Offsets of anchors that moved are written anew, on their lines of the golden file alone; changed ones are
    shown with the difference. Exit code 1 when one has changed or vanished, else 0.

    Args:
        golden: the golden file; the project's by default.
        project: the folder of an assay.toml, or the file itself.
        dry_run: only say what would be changed.
        json: print one JSON object instead.
    """
    drifted = drift_project(load_project(project), golden=golden, mending=MOVED, write=not dry_run)
    show(drifted, json=json)
    return int(bool(drifted.lost))


def show(drifted: Drifted, *, json: bool) -> None:
    """Print what became of the anchors."""
    drifts = sorted(drifted.drifts, key=lambda one: _ORDER.index(one.kind))
    if json:
        rows = [
            {
                "query": one.query_id,
                "anchor": one.anchor.id,
                "kind": one.kind,
                "document": one.anchor.doc_id,
                "quote": one.anchor.quote,
                "text": one.text,
                "line": one.line,
                "proposed": one.proposed,
                "mended": one in drifted.mended and drifted.written,
            }
            for one in drifts
        ]
        write(drift_json(rows, drifted.counts))
        return
    print_drift(
        [
            (one.kind, one.query_id, one.anchor.id, one.anchor.quote, _told(one.text, one.line))
            for one in drifts
        ],
        _summary(drifted),
        console(),
    )


def _told(text: str, line: int | None) -> str:
    return text if line is None else f"line {line}: {text}"


def _summary(drifted: Drifted) -> str:
    looked = counted(drifted.anchors, "anchor")
    if not drifted.drifts:
        return f"{drifted.path.name}: {looked}, all where they should be"
    parts = [f"{drifted.counts[kind]} {kind}" for kind in _ORDER if drifted.counts[kind]]
    sentence = f"{drifted.path.name}: {looked}: {', '.join(parts)}"
    if drifted.mended:
        sentence += f"; {len(drifted.mended)} {'mended' if drifted.written else 'could be mended'}"
    if any(one.mended is not None for one in drifted.left):
        sentence += "\n  fix: assay golden repair writes them as their documents do"
    if drifted.lost:
        sentence += f"\n  {len(drifted.lost)} need a person: quote the document anew"
    return sentence
