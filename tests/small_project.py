"""A project of three short documents, for tests of the flows and of the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCUMENTS = {
    "returns.md": (
        "# Returns\n\nRefunds reach the card within 14 days of the return being scanned.\n\n"
        "Opened software cannot be returned at all.\n"
    ),
    "delivery.md": (
        "# Delivery\n\nParcels leave the Rotterdam warehouse every weekday at six.\n\n"
        "A missed delivery is tried again on the next working day.\n"
    ),
    "errors.md": (
        "# Errors\n\nCode E1207 means that the payment provider refused the card.\n\n"
        "Code E1300 means that the basket was empty at the checkout.\n"
    ),
}

QUERIES: list[dict[str, Any]] = [
    {
        "id": "q1",
        "query": "When do refunds reach the card?",
        "kind": "factual",
        "anchors": [{"doc": "returns.md", "quote": "Refunds reach the card within 14 days"}],
    },
    {
        "id": "q2",
        "query": "What does E1207 mean?",
        "kind": "lexical",
        "anchors": [
            {"doc": "errors.md", "quote": "Code E1207 means that the payment provider refused the card"}
        ],
    },
    {"id": "q3", "query": "Who founded the company?", "kind": "factual", "answerable": False},
]

SETTINGS = """
k = 2

[corpus]
path = "docs"

[golden]
kinds = ["factual", "lexical", "table"]

[chunker]
max_chars = 80

[pipeline]
pool = 4
depth = 10
"""


def make_project(
    folder: Path, *, settings: str = SETTINGS, queries: list[dict[str, Any]] | None = None
) -> Path:
    """Write the project into a folder and return it."""
    for name, text in DOCUMENTS.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    rows = QUERIES if queries is None else queries
    (folder / "golden.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "assay.toml").write_text(settings, encoding="utf-8")
    return folder
