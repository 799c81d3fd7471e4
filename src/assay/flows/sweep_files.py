"""The files of a sweep that people open: tables, JSON, and the page.

Rooms: store (tables), report (JSON).
"""

from __future__ import annotations

from pathlib import Path

from assay.flows.project import Project
from assay.model.sweep import SweepResult
from assay.report.sweep import sweep_json
from assay.store.atomic import write_bytes, write_text
from assay.store.sweep_tables import sweep_files


def save_sweep(project: Project, result: SweepResult, page: str) -> Path:
    """Write the results of a sweep into its folder and return the folder.

    ``results.json``, ``results.parquet`` and ``queries.parquet`` are the same bytes for any number of
    workers; ``timings.parquet`` and ``report.html`` hold what the clock said here.

    Args:
        project: the project that was swept.
        result: what the sweep found.
        page: the HTML page of it.

    Raises:
        StoreError: the folder cannot be written.
    """
    folder = project.folder / result.folder
    for name, data in sweep_files(result).items():
        write_bytes(folder / name, data)
    write_text(folder / "results.json", sweep_json(result, timed=False))
    write_text(folder / "report.html", page)
    return folder
