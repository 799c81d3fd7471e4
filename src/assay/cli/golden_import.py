"""``assay golden import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from assay.cli.golden_export import show
from assay.flows.golden_exchange import import_golden
from assay.flows.project import load_project
from assay.report.terminal import counted


def command(
    golden: Path | None = None,
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    take: Literal["file", "store"] | None = None,
    by: str | None = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> int:
    """Bring hand edits of golden.jsonl back into the label store, each with its author.

    The file, the store and what both last agreed on are compared query by query. What changed in the file is
    taken; what changed in both, not alike, is shown and left alone until --take says which counts. Exit code
    1 while such a conflict is open, else 0.

    Args:
        golden: the file; the project's golden file by default.
        project: the folder of an assay.toml, or the file itself.
        take: which side counts where both changed: file or store.
        by: who edited the file; the login name by default.
        dry_run: only say what would be taken.
        json: print one JSON object instead.
    """
    done = import_golden(load_project(project), golden=golden, take=take, write=not dry_run, by=by)
    summary = f"{done.path.name}: {len(done.told)} of {counted(done.queries, 'query')} taken into the store"
    if done.waiting:
        summary += f"; {len(done.waiting)} changed in the store only (assay golden export writes them)"
    if done.conflicts:
        summary += (
            f"\n  {len(done.conflicts)} changed on both sides: --take file or --take store, or edit the file"
        )
    show(done, summary, json=json)
    return int(bool(done.conflicts))
