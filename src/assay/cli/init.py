"""``assay init``."""

from __future__ import annotations

from pathlib import Path

from assay.cli.screen import console
from assay.flows.init import start_project


def command(documents: Path, *, project: Path | None = None) -> None:
    """Write an assay.toml for a folder (or a JSONL or CSV file) of documents.

    Args:
        documents: where the documents are; the file is written there.
        project: another folder for assay.toml.
    """
    started = start_project(documents, project=project)
    screen = console()
    found = "1 document" if len(started.corpus) == 1 else f"{len(started.corpus):,} documents"
    screen.print(f"found {found}; wrote {started.file}", markup=False)
    for notice in started.corpus.notices:
        screen.print(f"note: {notice.text}", markup=False)
    folder = started.file.parent
    golden = folder / "golden.jsonl"
    screen.print(
        f"\nNow write queries, one a line, into {golden}; each quotes the phrase that answers it:\n"
        f"  {started.example}\n\nThen: assay check {folder}, and assay run {folder}",
        markup=False,
        soft_wrap=True,
    )
