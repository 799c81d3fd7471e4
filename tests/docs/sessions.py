"""Runs the examples of a Markdown page: what the page shows is what a reader gets.

A page's blocks run in order, in one empty folder:

- ``console``: each line that begins with ``$ `` is run by the shell; the lines below it are what it prints
  (standard output and error together). ``...`` stands for anything, as in doctest.
- ``python``: run in one namespace a page; a block with ``>>>`` is a doctest.
- a block below ``<!-- file: NAME -->`` is written to that file; ``<!-- not run: REASON -->`` leaves one out.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(
    r"(?:<!-- (?P<order>file|not run): (?P<value>[^>]*?) -->\s*\n)?"
    r"^(?P<indent>[ ]*)```(?P<language>[\w-]*)[^\n]*\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, kw_only=True)
class Block:
    """One fenced block of a page."""

    line: int
    language: str
    body: str
    file: str | None
    skipped: str | None


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    return [
        Block(
            line=page.count("\n", 0, match.start("body")),
            language=match["language"],
            body=re.sub(rf"(?m)^{match['indent']}", "", match["body"]),
            file=match["value"] if match["order"] == "file" else None,
            skipped=match["value"] if match["order"] == "not run" else None,
        )
        for match in FENCE.finditer(page)
    ]


def run_page(path: Path, folder: Path) -> list[str]:
    """Run every block of a page in a folder; return what differed, one text a failure."""
    failures: list[str] = []
    namespace: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks_of(path.read_text(encoding="utf-8")):
        where = f"{path.name}:{block.line}"
        if block.skipped is not None:
            continue
        if block.file is not None:
            target = folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body, encoding="utf-8")
        elif block.language == "console":
            failures += _run_console(block.body, folder, where)
        elif block.language == "python":
            failures += _run_python(block.body, namespace, folder, where)
    return failures


def _run_console(body: str, folder: Path, where: str) -> list[str]:
    failures: list[str] = []
    for session in re.split(r"(?m)^\$ ", body)[1:]:
        command, _, wanted = session.partition("\n")
        while command.endswith("\\"):
            more, _, wanted = wanted.partition("\n")
            command = f"{command[:-1]}{more.removeprefix('>')}"
        got = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=os.environ
            | {
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "COLUMNS": "110",
                "NO_COLOR": "1",
                "TERM": "dumb",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        ).stdout
        if wanted.strip() and not _alike(wanted, got):
            failures.append(f"{where}: $ {command}\n--- the page says\n{wanted}\n--- it prints\n{got}")
    return failures


def _alike(wanted: str, got: str) -> bool:
    lines = "\n".join(line.rstrip() for line in got.strip().splitlines())
    return doctest.OutputChecker().check_output(f"{wanted.strip()}\n", f"{lines}\n", FLAGS)


def _run_python(body: str, namespace: dict[str, Any], folder: Path, where: str) -> list[str]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        if ">>>" not in body:
            exec(compile(body, where, "exec"), namespace)
            return []
        test = doctest.DocTestParser().get_doctest(body, namespace, where, where, 0)
        told: list[str] = []
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=told.append, clear_globs=False)
        namespace.update(test.globs)
    except Exception as error:  # noqa: BLE001 - whatever the page's code raises is the failure
        return [f"{where}: {type(error).__name__}: {error}"]
    else:
        return ["".join(told)] if told else []
    finally:
        os.chdir(before)
