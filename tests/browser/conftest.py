"""A real browser without a network; tests that need it skip, saying so, where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assay.demo import project_files
from assay.flows.evaluate import evaluate
from assay.flows.project import load_project
from assay.flows.report import Wanted, report
from assay.report.html.page import report_html
from hostile_project import make_hostile_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

CHROMIUM = os.environ.get("ASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, once a session."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium (apt-get install chromium, or ASSAY_CHROMIUM=path)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


@dataclass
class Opened:
    """A page, and all that it asked for or complained of."""

    page: Page
    asked: list[str] = field(default_factory=list[str])
    complaints: list[str] = field(default_factory=list[str])


Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Return a function that opens a file: its width, theme, and whether scripts run."""
    contexts: list[object] = []

    def opener(
        path: Path, *, width: int = 1280, theme: str = "light", scripts: bool = True, anchor: str = ""
    ) -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # pyright: ignore[reportArgumentType] - a literal there, a parameter here
            java_script_enabled=scripts,
            offline=True,
        )
        contexts.append(context)
        opened = Opened(page=context.new_page())

        def note(request: Request) -> None:
            opened.asked.append(request.url)

        opened.page.on("request", note)
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.goto(f"{path.as_uri()}{anchor}")
        return opened

    yield opener
    for context in contexts:
        context.close()  # pyright: ignore[reportAttributeAccessIssue]


@pytest.fixture(scope="session")
def demo_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's report against a baseline that knows less, with trials."""
    folder = tmp_path_factory.mktemp("demo")
    for name, content in project_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    project = load_project(folder)
    base = evaluate(project.with_settings({"pipeline.pool": 12, "chunker.max_chars": 300})).run.id
    run = evaluate(project).run.id
    path = folder / "report.html"
    path.write_text(report_html(report(project, run, Wanted(baseline=base, trials=True))), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of documents that try to get out of it."""
    folder = tmp_path_factory.mktemp("hostile")
    page = report(make_hostile_project(folder))
    path = folder / "report.html"
    path.write_text(report_html(page), encoding="utf-8")
    return path
