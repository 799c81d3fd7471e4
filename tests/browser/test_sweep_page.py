from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.flows.project import load_project
from assay.flows.sweep import sweep
from assay.flows.sweep_plan import load_plan
from assay.report.html.sweep import sweep_html
from flows.headed_project import make_headed

pytestmark = pytest.mark.browser

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_headed(tmp_path_factory.mktemp("swept"), splits=True)
    project = load_project(folder)
    plan = load_plan(
        project, None, ["max_chars=70,140", "lists=vector,fulltext,both", "reranker=none,lexical"]
    )
    page = folder / "sweep.html"
    page.write_text(sweep_html(sweep(project, plan, final=True)))
    return page


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_opens_without_a_network_and_without_complaints(
    open_page: Open, swept: Path, width: int, theme: str
):
    opened = open_page(swept, width=width, theme=theme)
    assert opened.asked == [swept.as_uri()]
    assert opened.complaints == []
    assert opened.page.locator("h1").inner_text() == "headed"
    # Wide tables scroll inside themselves: the page does not.
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_is_accessible(open_page: Open, swept: Path, theme: str):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found = axe.Axe().run(open_page(swept, theme=theme).page)
    assert found.violations_count == 0, found.generate_report()
