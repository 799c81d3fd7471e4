"""``assay golden export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, write
from assay.flows.golden_exchange import Exchanged, export_golden
from assay.flows.project import load_project
from assay.report.golden import exchange_json, print_exchange
from assay.report.terminal import counted


def command(
    golden: Path | None = None,
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    force: Annotated[bool, Parameter(negative=())] = False,
    with_unvalidated: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> None:
    """Write golden.jsonl from the label store: sorted by id, in one form, so that git shows what changed.

    Hand edits of the file that were not imported are never overwritten, unless --force says so. Labels of a
    judge that has no licence are left out, unless --with-unvalidated takes them; then they carry their mark.

    Args:
        golden: the file to write; the project's golden file by default.
        project: the folder of an assay.toml, or the file itself.
        force: overwrite hand edits that were not imported.
        with_unvalidated: take labels of judges without a licence too.
        json: print one JSON object instead.
    """
    done = export_golden(load_project(project), golden=golden, force=force, with_unvalidated=with_unvalidated)
    show(done, f"{done.path.name}: {counted(done.queries, 'query')}, {len(done.told)} changed", json=json)


def show(done: Exchanged, summary: str, *, json: bool) -> None:
    """Print what an export or an import did."""
    conflicts = {one.query_id: (one.file, one.store) for one in done.conflicts}
    if json:
        more = {"queries": done.queries, "waiting": list(done.waiting)}
        write(exchange_json(done.told, conflicts=conflicts, notices=done.notices, more=more))
        return
    print_exchange(done.told, summary, console(), conflicts=conflicts, notices=done.notices)
