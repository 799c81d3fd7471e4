"""Nothing that a user can type is without documentation: commands, options, settings, names of all kinds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
from docsite import cli, measures, settings
from docsite.build import LINK, ROOT, generated_pages, project_pages
from docsite.settings import CHOICES, TABLES, settings_of
from try_extra import USES

import assay
from assay.cli.commands import COMMANDS
from assay.connectors.registry import TYPES
from assay.corpus.chunkers.registry import CHUNKERS
from assay.flows.project import TABLES as TOML_TABLES
from assay.measures.spec import FAMILIES
from assay.retrieval.models.registry import EMBEDDERS, RERANKERS

DOCS = ROOT / "docs"
PROSE = {
    page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))
}
MODULES = [
    (name, module)
    for verb in COMMANDS
    for name, module in (
        [(f"{verb} {inner}", found.module) for inner, found in cli.verbs_of(verb).items()]
        or [(verb, COMMANDS[verb].module)]
    )
]


@pytest.mark.parametrize(("name", "module"), MODULES, ids=[name for name, _ in MODULES])
def test_every_option_of_the_command_says_what_it_does(name: str, module: str):
    app = cli.app_of(name, module)
    command = app.default_command
    assert command is not None
    assert (command.__doc__ or "").strip()
    silent = [
        argument.name
        for argument in cast("Any", app.assemble_argument_collection(parse_docstring=True))
        if argument.parse and not argument.parameter.help
    ]
    assert not silent


def test_every_command_is_spoken_of_in_a_page_that_a_person_wrote():
    told = "\n".join([*PROSE.values(), (ROOT / "README.md").read_text(encoding="utf-8")])
    assert [name for name in cli.command_names() if f"assay {name}" not in told] == []


@pytest.mark.parametrize("name", TABLES)
def test_every_setting_says_what_it_means(name: str):
    assert [row[0] for row in settings_of(TABLES[name]) if not row[3]] == []


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table, choices in CHOICES.items() for name in choices]
)
def test_every_setting_of_what_can_be_chosen_says_what_it_means(table: str, name: str):
    assert [row[0] for row in settings_of(CHOICES[table][name]) if not row[3]] == []


def test_every_table_of_the_settings_file_is_on_the_page():
    page = settings.pages()["reference/settings.md"]
    assert [name for name in TOML_TABLES if f"## `[{name}" not in page] == []


@pytest.mark.parametrize("kind", TYPES)
def test_every_connector_is_shown_in_the_page_of_connectors(kind: str):
    assert re.search(rf"\b{re.escape(kind)}\b", PROSE["connectors.md"])


@pytest.mark.parametrize("name", [*EMBEDDERS, *RERANKERS])
def test_every_model_is_shown_in_the_page_of_models(name: str):
    assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", PROSE["models.md"])


@pytest.mark.parametrize("name", CHUNKERS)
def test_every_chunker_is_shown_in_a_page(name: str):
    assert any(re.search(rf"`{re.escape(name)}`", page) for page in PROSE.values())


def test_every_measure_says_who_computes_it_otherwise_and_is_worked():
    assert set(measures.OTHERS) == {family.name for family in FAMILIES}
    for family in FAMILIES:
        assert measures.worked(family)
        assert family.source


def test_every_public_name_is_in_the_python_pages():
    page = generated_pages()["reference/api/index.md"]
    missing = [name for name in assay.__all__ if not name.startswith("__") and f"`assay.{name}`" not in page]
    assert not missing


def extras_of_the_package() -> dict[str, list[str]]:
    """Return the extras as pyproject.toml declares them."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]


def test_every_extra_is_in_the_page_of_installing():
    assert [name for name in extras_of_the_package() if f"`{name}`" not in PROSE["installing.md"]] == []


def test_every_extra_has_a_use_that_is_tried_on_a_clean_environment():
    assert set(USES) == set(extras_of_the_package())


def nav_pages(text: str) -> set[str]:
    """Return the pages that the navigation names."""
    return set(re.findall(r"(?m)^\s+- (?:[^:\n]+: )?(\S+\.md)$", text))


def test_every_page_stands_in_the_navigation_and_every_entry_is_a_page():
    named = nav_pages((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    generated = set(generated_pages())
    there = {*PROSE, *generated, *project_pages()}
    inner = {page for page in generated if page.startswith("reference/cli/")} | set(project_pages())
    assert named - there == set()
    assert there - inner - named == set()


@pytest.mark.parametrize("page", PROSE)
def test_every_link_of_the_page_leads_somewhere(page: str):
    places = {*PROSE, *generated_pages()}
    lost: list[str] = []
    for match in LINK.finditer(PROSE[page]):
        target = match["target"]
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (DOCS / page).parent / target
        place = Path(file).resolve()
        inside = place.relative_to(DOCS).as_posix() if place.is_relative_to(DOCS) else ""
        if not place.exists() and inside not in places:
            lost.append(target)
    assert not lost
