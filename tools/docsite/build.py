"""Builds the site: ``python tools/docsite/build.py`` gathers every page under ``.site`` and runs Zensical on it.

The pages of ``docs/`` are copied as they are. What the program knows of itself (commands, settings, measures,
errors, schemas, the Python API) is generated, so that it cannot fall behind. A link that leaves ``docs/`` for
another page of the repository finds it under ``project/``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docsite import api, cli, errors, measures, schemas, settings

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / ".site" / "pages"
ASSET = re.compile(
    r"""(?:<(?:script|img|iframe|source)[^>]*\ssrc|<link[^>]*\shref)=["']((?:https?:)?//[^"']+)"""
)
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")


def main(strict: bool = True) -> int:  # noqa: FBT001, FBT002 - a script's only switch
    """Gather the pages and build them; return Zensical's exit code."""
    stage(STAGE)
    words = [sys.executable, "-m", "zensical", "build", "--clean", *(["--strict"] if strict else [])]
    done = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        # Its own traceback tells a reader nothing.
        print(done.stdout, done.stderr.partition("Traceback")[0], sep="\n", file=sys.stderr)
        return 1
    outside = outside_assets(ROOT / "site")
    if outside:
        print("loaded from outside:", *outside, sep="\n  ", file=sys.stderr)
        return 1
    print(f"{len(list(STAGE.rglob('*.md')))} pages: {os.path.relpath(ROOT / 'site' / 'index.html')}")
    return 0


def outside_assets(site: Path) -> list[str]:
    """Return what the pages of a built site would fetch from elsewhere: scripts, styles, pictures, fonts."""
    found = {match for page in site.rglob("*.html") for match in ASSET.findall(page.read_text("utf-8"))}
    return sorted(found)


def stage(folder: Path) -> None:
    """Write every page of the site below a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    for page in sorted((ROOT / "docs").rglob("*")):
        if page.is_file():
            _write(folder, page.relative_to(ROOT / "docs").as_posix(), page)
    for name, page in project_pages().items():
        _write(folder, name, page)
    for name, text in generated_pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@cache
def generated_pages() -> dict[str, str]:
    """Return path in the site -> Markdown, for every page that the program writes of itself."""
    pages: dict[str, str] = {}
    for part in (cli, settings, measures, schemas, errors, api):
        pages |= part.pages()
    return pages


def project_pages() -> Mapping[str, Path]:
    """Return path in the site -> file, for the pages of the repository that lie outside ``docs/``."""
    names = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    files = [ROOT / name for name in names] + sorted((ROOT / "benchmarks").glob("*.md"))
    return {f"project/{file.name.lower()}": file for file in files}


def _write(folder: Path, name: str, source: Path) -> None:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".md":
        target.write_text(relinked(source.read_text(encoding="utf-8"), source, name), encoding="utf-8")
    else:
        shutil.copyfile(source, target)


def relinked(text: str, source: Path, name: str) -> str:
    """Return a page whose links name pages by their place in the site."""
    places = {file: place for place, file in project_pages().items()}

    def point(match: re.Match[str]) -> str:
        file = (source.parent / match["target"]).resolve()
        if file.is_relative_to(ROOT / "docs"):
            place = file.relative_to(ROOT / "docs").as_posix()
        elif file in places:
            place = places[file]
        else:
            return match[0]
        return os.path.relpath(place, Path(name).parent.as_posix()) + (match["anchor"] or "")

    return LINK.sub(point, text)


if __name__ == "__main__":
    raise SystemExit(main(strict="--lenient" not in sys.argv))
