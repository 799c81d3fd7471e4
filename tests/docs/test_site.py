"""The site's own builder: links between pages, and nothing that is fetched from elsewhere."""

from __future__ import annotations

from pathlib import Path

from docsite.build import ROOT, outside_assets, relinked


def test_a_script_from_elsewhere_is_found_and_a_link_is_none(tmp_path: Path):
    page = tmp_path / "page.html"
    page.write_text('<a href="https://example.org">there</a><script src="own.js"></script>', encoding="utf-8")
    assert outside_assets(tmp_path) == []
    page.write_text('<script src="https://example.org/a.js"></script>', encoding="utf-8")
    assert outside_assets(tmp_path) == ["https://example.org/a.js"]


def test_a_link_out_of_the_docs_finds_its_page_in_the_site():
    text = "[a](../CONTRIBUTING.md#how-the-tests-read) [b](ci.md) [c](https://example.org)"
    found = relinked(text, ROOT / "docs" / "start.md", "start.md")
    assert found == "[a](project/contributing.md#how-the-tests-read) [b](ci.md) [c](https://example.org)"
