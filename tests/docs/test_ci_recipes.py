"""The recipes for CI: their commands run green on the demo, and red when a weight is flipped."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.sessions import blocks_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ci.md"


def commands_of(recipe: str) -> list[str]:
    """Return the shell commands of a recipe, but for the installation."""
    found = re.findall(r"(?m)^\s*- (?:run: )?((?:pip|assay) .*)$", recipe)
    assert found[0] == "pip install retrieval-assay"
    return found[1:]


RECIPES = [block.body for block in blocks_of(PAGE.read_text(encoding="utf-8")) if block.language == "yaml"]


def run_all(recipe: str, folder: Path) -> tuple[int, str]:
    """Run a recipe's commands as a CI does: until one fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    told = ""
    for command in commands_of(recipe):
        done = subprocess.run(
            command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        told += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, told
    return 0, told


@pytest.fixture
def project(tmp_path: Path) -> Path:
    from assay.flows.demo import copy_demo  # noqa: PLC0415

    copy_demo(tmp_path / "demo")
    return tmp_path / "demo"


@pytest.mark.parametrize("recipe", RECIPES, ids=["github", "gitlab"])
def test_the_recipe_is_green_on_the_demo(recipe: str, project: Path):
    code, told = run_all(recipe, project)
    assert code == 0, told
    assert (project / "gate.md").is_file()
    assert 'failures="0"' in (project / "gate.xml").read_text()


@pytest.mark.parametrize("recipe", RECIPES, ids=["github", "gitlab"])
def test_the_recipe_is_red_when_a_weight_is_flipped_and_names_kinds_and_queries(recipe: str, project: Path):
    settings = project / "assay.toml"
    settings.write_text(settings.read_text().replace("pool = 50", "pool = 50\nfusion.weights.fulltext = 0"))
    code, told = run_all(recipe, project)
    assert code == 1, told
    assert "recall@10 [factual]" in told
    assert "f13" in told
    assert "f13" in (project / "gate.md").read_text()


def test_the_github_recipe_writes_annotations_and_the_step_summary(project: Path):
    settings = project / "assay.toml"
    settings.write_text(settings.read_text().replace("pool = 50", "pool = 50\nfusion.weights.fulltext = 0"))
    _, told = run_all(RECIPES[0], project)
    assert "::error" in told
    assert "recall@10" in (project / "summary.md").read_text()
