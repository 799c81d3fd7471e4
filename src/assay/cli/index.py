"""``assay index``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from assay.cli.running import settings_of
from assay.cli.screen import console, progress, write
from assay.flows.index import BATCH, index_chunks
from assay.flows.project import load_project


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    into: str | None = None,
    set: Annotated[tuple[str, ...], Parameter(name=["--set", "-s"], negative=())] = (),  # noqa: A002
    batch: int = BATCH,
    json: bool = False,
) -> None:
    """Put a project's chunks into an engine, so that it can be measured beside others.

    Chunks that are there already stay, chunks that the project no longer has go, and a run that was stopped
    goes on where it was. Vectors come from the embedder of [pipeline]. What is printed is the [retriever]
    table that measures the index.

    Args:
        project: the folder of an assay.toml, or the file itself.
        into: sqlite:///index.db, postgresql://host/db, qdrant+http://host:6333, ...; or a TOML file with a
            [retriever] table. By default the project's own retriever.
        set: a setting of the engine, as in --set table=shop; may be repeated.
        batch: how many chunks are put in at a time.
        json: print one JSON object instead of sentences.
    """
    with progress() as tell:
        report = index_chunks(
            load_project(project), into, settings=settings_of(set), batch=batch, progress=tell
        )
    if json:
        write(msgspec.json.encode(report).decode() + "\n")
        return
    screen = console()
    screen.print(
        f"{report.engine} {report.table}: {report.chunks:,} chunks; {report.added:,} added, "
        f"{report.kept:,} there already, {report.removed:,} removed",
        markup=False,
    )
    screen.print(f"\nMeasure it with\n\n{report.retriever}", markup=False, soft_wrap=True)
