"""``assay golden split``."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from assay.cli.screen import console, write
from assay.flows.golden_split import SHARE, SplitReport, split_project
from assay.flows.project import load_project
from assay.model.notices import listed
from assay.report.terminal import counted


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    share: float = SHARE,
    seed: int | None = None,
    fresh: Annotated[bool, Parameter(negative=())] = False,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> None:
    """Split the golden set into a dev and a held-out part, and write the parts into golden.jsonl.

    Near-duplicates, and queries whose answers stand in one document, stay together; every kind has its share
    in both parts as nearly as that allows. A query that has a part keeps it.

    Args:
        project: the folder of an assay.toml, or the file itself.
        share: of the held-out part, between 0 and 1.
        seed: decides between groups that fit equally well; the project's by default.
        fresh: deal all queries out anew; what was held out before may have been tuned on since.
        dry_run: only say how even it would be.
        json: print one JSON object instead.
    """
    report = split_project(load_project(project), share=share, seed=seed, fresh=fresh, write=not dry_run)
    if json:
        write(_json(report))
    else:
        _print(report, console())


def _print(report: SplitReport, screen: Console) -> None:
    split = report.split
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("kind", "queries", "dev", "held-out", "share"):
        table.add_column(heading, justify="left" if heading == "kind" else "right")
    for kind in split.kinds:
        table.add_row(
            kind.kind,
            str(kind.queries),
            str(kind.queries - kind.heldout),
            str(kind.heldout),
            f"{kind.share:.1%}",
        )
    total = len(split.parts)
    held = sum(kind.heldout for kind in split.kinds)
    table.add_row("all", str(total), str(total - held), str(held), f"{split.share:.1%}")
    screen.print(table)
    screen.print(
        f"{counted(split.groups, 'group')}, the largest of {counted(split.largest, 'query')}; "
        f"wanted {split.wanted:.1%}, seed {split.seed}",
        markup=False,
    )
    if split.largest > split.wanted * total:
        screen.print(
            "one group is larger than the held-out part: questions about one document, or chained by "
            "questions that need two",
            markup=False,
        )
    if split.kept:
        screen.print(f"{counted(split.kept, 'query')} kept the part that they had", markup=False)
    for group in split.torn:
        screen.print(f"in both parts already: {listed(group)}; --fresh puts them together", markup=False)
    told = "written" if report.written else "would be written"
    screen.print(f"{report.path.name}: {counted(report.changed, 'query')} {told}", markup=False)


def _json(report: SplitReport) -> str:
    split = report.split
    record = {
        "seed": split.seed,
        "wanted": split.wanted,
        "share": split.share,
        "groups": split.groups,
        "largest": split.largest,
        "kept": split.kept,
        "torn": [list(group) for group in split.torn],
        "kinds": [
            {"kind": kind.kind, "queries": kind.queries, "heldout": kind.heldout, "share": kind.share}
            for kind in split.kinds
        ],
        "parts": dict(split.parts),
        "changed": report.changed,
        "written": report.written,
    }
    return json_text.dumps(record, indent=2, ensure_ascii=False) + "\n"
