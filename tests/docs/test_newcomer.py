"""The newcomer's path is still what happens: its commands, on the documents that it was walked on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from docsite.build import ROOT

from docs.sessions import run_page
from shared_data import SHARED, needs_shared

MARK = "<!-- not run: FastAPI's pages are not bundled -->\n"


@needs_shared
def test_the_path_prints_what_the_page_says(tmp_path: Path):
    shutil.copytree(SHARED / "datasets" / "fastapi-docs", tmp_path / "fastapi")
    (tmp_path / "fastapi" / "README.md").unlink()
    text = (ROOT / "docs" / "newcomer.md").read_text(encoding="utf-8")
    assert text.count(MARK) == 6
    page = tmp_path / "newcomer.md"
    page.write_text(text.replace(MARK, ""), encoding="utf-8")
    failures = run_page(page, tmp_path)
    if failures:
        pytest.fail("\n\n".join(failures), pytrace=False)
