"""The bundled demo: 20 pages of a handbook about retrieval, 12 stories from the field, 48 queries."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def project_files() -> dict[str, bytes]:
    """Return the files of the demo project: relative path with forward slashes -> content."""
    return dict(sorted(_walk(files("assay.demo") / "project", "")))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _walk(entry, f"{name}/")
        else:
            found.append((name, entry.read_bytes()))
    return found
