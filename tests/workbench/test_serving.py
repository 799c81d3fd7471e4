"""``assay ui`` as a person starts it."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.cli import run
from assay.model.errors import MissingExtraError
from assay.workbench.serve import serve


@contextmanager
def started(folder: Path, *options: str) -> Generator[tuple[subprocess.Popen[str], list[str]]]:
    """Start the command on a free port and give what it says first."""
    command = [sys.executable, "-m", "assay", "ui", "--project", str(folder), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            told: list[str] = []
            while not any("127.0.0.1" in line or "token=" in line for line in told):
                line = process.stdout.readline()
                assert line, told
                told.append(line.rstrip())
            yield process, told
        finally:
            process.terminate()
            process.wait(20)


def answer(address: str) -> tuple[int, str]:
    request = urllib.request.Request(address, headers={"accept": "text/html"})
    try:
        with urllib.request.urlopen(request, timeout=20) as got:
            return got.status, got.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_it_says_where_it_is_and_answers_there(folder: Path):
    with started(folder) as (_, told):
        address = next(line for line in told if line.startswith("http"))
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert not any("token" in line for line in told)
        status, page = answer(f"{address}name")
        assert (status, "Your name" in page) == (200, True)


def test_any_other_address_asks_for_the_token_that_it_printed(folder: Path):
    with started(folder, "--host", "0.0.0.0") as (_, told):
        link = next(line for line in told if "token=" in line).rpartition(" ")[2]
        port = re.search(r":(\d+)/", link)
        assert port is not None
        status, page = answer(f"http://127.0.0.1:{port[1]}/")
        assert "Come in" in page
        assert status == 200  # the entrance, after a redirect
        token = link.partition("token=")[2]
        status, page = answer(f"http://127.0.0.1:{port[1]}/enter?token=x{token}")
        assert (status, "That is not the token" in page) == (401, True)


def test_a_port_that_is_taken_is_a_mistake_that_is_told(folder: Path, capsys: pytest.CaptureFixture[str]):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run(["ui", "--project", str(folder), "--port", str(port)]) == 2
    assert f"127.0.0.1:{port} cannot be taken" in capsys.readouterr().err


def test_a_folder_without_a_project_is_a_mistake_that_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(["ui", "--project", str(tmp_path)]) == 2
    assert "assay.toml" in capsys.readouterr().err


def test_the_help_is_shown_without_loading_the_server():
    script = (
        "import sys, assay.cli; assay.cli.run(['ui', '--help']); "
        "print(sorted({'starlette', 'uvicorn', 'sqlalchemy', 'jinja2'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.rstrip().endswith("[]")
    assert "--host" in told.stdout


def test_without_its_package_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError) as caught:
        serve(folder, host="127.0.0.1", port=0, tell=print)
    assert str(caught.value) == (
        "the workbench needs the package 'uvicorn', which is not installed\n"
        "  fix: pip install 'retrieval-assay[ui]'"
    )
