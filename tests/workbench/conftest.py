from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.workbench.bench import Workbench
from pooled_project import make_pooled_project
from visitor import Visitor


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it is before anybody has worked on it."""
    return make_pooled_project(tmp_path_factory.mktemp("pooled"), queries=4)


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "lamps")


@pytest.fixture
def bench(folder: Path) -> Iterator[Workbench]:
    made = Workbench(folder)
    yield made
    made.close()


@pytest.fixture
def ada(bench: Workbench) -> Visitor:
    return Visitor(bench, name="ada")


@pytest.fixture
def bob(bench: Workbench) -> Visitor:
    return Visitor(bench, name="bob")
