"""A project whose documents, names and queries try to get out of a page: for tests of reports."""

from __future__ import annotations

import json
from pathlib import Path

from assay.flows.evaluate import evaluate
from assay.flows.project import Project, load_project

ATTACK = (
    "<script>document.title='owned';window.owned=1</script>"
    "<img src=x onerror=\"window.owned=1;document.title='owned'\">"
    "</script><!--<script>]]>"
)
TURNED = "invoice\u202egnp.exe\u202c \u2066hidden\u2069 \x07bell \U000e0041tag 😀 end"
"""Direction overrides, a control character, a letter that nobody sees, and a sign of two UTF-16 units."""
KIND = "\"><b id=owned>bold</b>'"

SETTINGS = """
name = "A & B <i>report</i>"
k = 1

[corpus]
path = "docs"

[chunker]
max_chars = 400

[pipeline]
pool = 3
depth = 20
"""


def make_hostile_project(folder: Path) -> Project:
    """Write the project, with a stored run, and return it: at k = 1 most of its queries miss something."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    # Each document says the same words, so that one of them is first and the others are missed.
    for number in range(8):
        text = f"# Page\n\nThe refund takes {number} days. {ATTACK} {TURNED} <b>gold {number}</b> & more.\n"
        (docs / f"page-{number} & <u>.md").write_text(text, encoding="utf-8")
    queries = [
        {
            "id": f"q{number}<i>",
            "query": f"How long does the refund take? {ATTACK} {TURNED}",
            "kind": KIND if number % 2 else "plain",
            "anchors": [{"doc": f"page-{number} & <u>.md", "quote": f"<b>gold {number}</b>"}],
        }
        for number in range(8)
    ]
    queries.append(
        {
            "id": "gone",
            "query": "Where?",
            "kind": "plain",
            "anchors": [{"doc": "page-0 & <u>.md", "quote": ATTACK + "!"}],
        }
    )
    rows = "".join(f"{json.dumps(row)}\n" for row in queries)
    (folder / "golden.jsonl").write_text(rows, encoding="utf-8")
    (folder / "assay.toml").write_text(SETTINGS, encoding="utf-8")
    project = load_project(folder)
    evaluate(project)
    return project
