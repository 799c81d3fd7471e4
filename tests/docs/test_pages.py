from __future__ import annotations

from pathlib import Path

import pytest

from docs.sessions import blocks_of, run_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if page.parent.name != "connectors"  # those need servers: see test_connector_pages
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_the_page_prints_what_the_page_says(page: Path, tmp_path: Path):
    failures = run_page(page, tmp_path)
    if failures:
        pytest.fail("\n\n".join(failures), pytrace=False)


def test_a_console_block_that_prints_something_else_fails(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\ntwo\n```\n")
    assert "it prints\none" in run_page(page, tmp_path)[0]


def test_a_python_block_with_a_wrong_result_fails(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n")
    assert run_page(page, tmp_path)


def test_blocks_below_a_file_mark_are_written(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("<!-- file: a/b.txt -->\n```text\nhello\n```\n\n```console\n$ cat a/b.txt\nhello\n```\n")
    assert not run_page(page, tmp_path)
    assert [block.language for block in blocks_of(page.read_text())] == ["text", "console"]
