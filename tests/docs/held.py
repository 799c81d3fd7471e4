"""What commands print and projects keep, held against the published schemas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from docsite.output_schemas import output_schema
from jsonschema import Draft202012Validator

from assay.cli import main


def printed(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command and return the JSON that it printed."""
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(words)
    return json.loads(capsys.readouterr().out)


def faults(name: str, value: Any) -> list[str]:
    """Return what is wrong with a value."""
    validator = cast("Any", Draft202012Validator(output_schema(name)))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def lines(path: Path) -> list[Any]:
    """Return the values of a file of JSON lines; at least one."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert found
    return found
