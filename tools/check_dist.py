"""Checks what ``make dist`` built: the wheel holds the demo, styles and py.typed, and no tests."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

NEEDED = (
    "assay/py.typed",
    "assay/demo/project/assay.toml",
    "assay/demo/project/golden.jsonl",
    "assay/report/html/style.css",
)
UNWANTED = ("tests/", "docs/", "tools/", "benchmarks/", "__pycache__/")


def faults(folder: Path) -> list[str]:
    """Return what is wrong with the archives of a folder."""
    wheels, sources = list(folder.glob("*.whl")), list(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sources) != 1:
        return [f"{folder}: one wheel and one source archive are expected"]
    names = zipfile.ZipFile(wheels[0]).namelist()
    found = [f"{wheels[0].name} lacks {needed}" for needed in NEEDED if needed not in names]
    found += [
        f"{wheels[0].name} holds {name}"
        for name in names
        if name.startswith(UNWANTED)
        or "__pycache__" in name
        or not name.startswith(("assay/", "retrieval_assay-"))
    ]
    with tarfile.open(sources[0]) as archive:
        inside = {name.split("/", 1)[-1] for name in archive.getnames()}
    found += [
        f"{sources[0].name} lacks {one}"
        for one in ("pyproject.toml", "README.md", "LICENSE")
        if one not in inside
    ]
    if wheels[0].name.split("-")[1] != sources[0].name.removesuffix(".tar.gz").split("-")[1]:
        found.append("wheel and source archive are of two versions")
    return found


if __name__ == "__main__":
    problems = faults(Path(sys.argv[1] if len(sys.argv) > 1 else "dist"))
    print("\n".join(problems) or "dist: the wheel holds what it should, and nothing else")
    raise SystemExit(bool(problems))
