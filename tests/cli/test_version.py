"""``assay --version --verbose``: what a report of an error needs."""

from __future__ import annotations

import importlib.metadata as packages
from pathlib import Path

import pytest

from assay._version import __version__
from assay.cli.version import version_lines


def test_it_names_assay_python_the_core_and_the_extras():
    lines = version_lines()
    assert lines[0] == f"assay {__version__}"
    assert lines[1].startswith("CPython 3.")
    assert any(line.startswith("numpy ") for line in lines)
    assert "extras:" in lines


def test_it_says_nothing_of_who_or_where():
    assert str(Path.home()) not in "\n".join(version_lines())


def test_an_extra_is_whole_partly_there_or_absent(monkeypatch: pytest.MonkeyPatch):
    declared = ["numpy>=2", "one>=1; extra == 'whole'", "one; extra == 'half'", "two>=1; extra == 'half'"]
    declared += ["two; extra == 'none'"]

    class Told:
        def get_all(self, _name: str) -> list[str]:
            return ["whole", "half", "none"]

    def found(name: str) -> str:
        if name in {"numpy", "one"}:
            return "1.0"
        raise packages.PackageNotFoundError(name)

    def requires(_name: str) -> list[str]:
        return declared

    def metadata(_name: str) -> Told:
        return Told()

    monkeypatch.setattr("assay.cli.version.requires", requires)
    monkeypatch.setattr("assay.cli.version.metadata", metadata)
    monkeypatch.setattr("assay.cli.version.version", found)
    assert version_lines()[2:] == [
        "numpy 1.0",
        "extras:",
        "  half: not whole: one 1.0; without two",
        "  whole: one 1.0",
        "  not installed: none",
    ]
