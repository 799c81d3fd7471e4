"""Which files a folder or a glob means, and the stable id of each."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from assay.model.notices import Notice

TEXT_SUFFIXES = (".txt", ".md", ".markdown", ".rst", ".html", ".htm", ".xhtml")
RECORD_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The files to read, in the order of their ids, and a notice of those left out."""

    files: tuple[tuple[str, Path], ...]
    """Id (path relative to the folder, with forward slashes) and path."""
    notices: tuple[Notice, ...] = ()


def find_files(source: str | Path, *, include: Sequence[str], exclude: Sequence[str]) -> Found | None:
    """Return the files of a folder, a glob or one path; None when there is nothing of that name.

    Patterns are matched against the relative path: ``*`` stays within a folder, ``**`` crosses folders, a
    pattern without a slash means files of that name anywhere, and a folder's name means all below it.
    Without ``include`` the text files of a folder are taken; a glob or a file says itself what it means.
    Hidden files and folders are passed over.
    """
    path = Path(source)
    if path.is_dir():
        base, names, kinds = path, sorted(_walk(path)), TEXT_SUFFIXES
    elif path.is_file():
        base, names, kinds = path.parent, [path.name], None
    elif _MAGIC.search(str(source)):
        base, names = _expand(str(source))
        kinds = TEXT_SUFFIXES + RECORD_SUFFIXES
    else:
        return None
    wanted = [name for name in names if not matches(name, exclude)]
    if include:
        taken = [name for name in wanted if matches(name, include)]
    else:
        taken = [name for name in wanted if kinds is None or kind_of(name) in kinds]
    files = tuple((name, base / name) for name in taken)
    if include:
        return Found(files=files)
    return Found(files=files, notices=_left_out(sorted(set(wanted).difference(taken))))


def kind_of(name: str) -> str:
    """Return the suffix that says how a file is read: in lower case, without a ``.gz`` after it.

    >>> kind_of("a/README.MD"), kind_of("docs.jsonl.gz"), kind_of("LICENSE")
    ('.md', '.jsonl', '')
    """
    return PurePosixPath(name.lower().removesuffix(".gz")).suffix


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Tell whether a relative path, or a folder above it, matches one of the patterns.

    >>> matches("guide/a.md", ["*.md"]), matches("guide/a.md", ["guide/"]), matches("guide/a.md", ["*/b.md"])
    (True, True, False)
    """
    return any(_pattern(pattern).match(name) is not None for pattern in patterns)


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> re.Pattern[str]:
    trimmed = pattern.replace("\\", "/").removeprefix("./").rstrip("/")
    parts: list[str] = [] if "/" in trimmed else ["(?:.*/)?"]
    place = 0
    while place < len(trimmed):
        rest = trimmed[place:]
        if rest.startswith("**/"):
            parts.append("(?:.*/)?")
            place += 3
        elif rest.startswith("**"):
            parts.append(".*")
            place += 2
        elif rest[0] == "*":
            parts.append("[^/]*")
            place += 1
        elif rest[0] == "?":
            parts.append("[^/]")
            place += 1
        elif (found := re.match(r"\[(!?)(\]?[^\]/]*)\]", rest)) is not None:
            inside = found.group(2).replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
            inside = f"\\{inside}" if inside.startswith("]") else inside
            parts.append(f"[{'^' if found.group(1) else ''}{inside}]")
            place += found.end()
        else:
            parts.append(re.escape(rest[0]))
            place += 1
    return re.compile("".join(parts).removeprefix("/") + r"(?:/.*)?\Z", re.DOTALL)


def _walk(folder: Path) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        relative = PurePosixPath(Path(root).relative_to(folder).as_posix())
        for name in files:
            if not name.startswith("."):
                yield str(relative / name)


def _expand(pattern: str) -> tuple[Path, list[str]]:
    parts = Path(pattern).parts
    fixed = next(place for place, part in enumerate(parts) if _MAGIC.search(part))
    base = Path(*parts[:fixed]) if fixed else Path()
    found = base.glob(str(Path(*parts[fixed:])))
    names = {path.relative_to(base).as_posix() for path in found if path.is_file()}
    return base, sorted(name for name in names if not any(part.startswith(".") for part in name.split("/")))


def _left_out(names: Sequence[str]) -> tuple[Notice, ...]:
    if not names:
        return ()
    kinds = Counter(PurePosixPath(name).suffix.lower() or "no suffix" for name in names)
    counts = ", ".join(
        f"{kind} {count}" for kind, count in sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    )
    return (
        Notice(
            code="files-not-read",
            text=f"{len(names)} file(s) of other kinds were not read ({counts}); include can name them",
            ids=tuple(names),
        ),
    )
