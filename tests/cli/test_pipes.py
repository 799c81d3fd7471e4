"""A reader that goes away ends a command quietly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from small_project import make_project


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (["--help"], 0),
        (["--version", "--verbose"], 0),
        (["run", "--help"], 0),
        (["golden"], 0),
        (["check"], 0),
        (["runs"], 0),
        (["nosuch"], 2),
    ],
)
def test_a_reader_that_has_gone_is_no_error(call: list[str], code: int, tmp_path: Path):
    folder = make_project(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-m", "assay", *call],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()  # before anything is written: what comes is for nobody
        told = command.stderr.read().decode()
    assert command.returncode == code
    assert told == (
        "" if code == 0 else "error: there is no command 'nosuch'\n  fix: 'assay --help' lists the commands\n"
    )
