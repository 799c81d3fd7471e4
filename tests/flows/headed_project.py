"""A project whose misses come back when headings are put before the chunks: for trials."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SETTINGS = """\
# what the tests try
name = "headed"
k = 2

[corpus]
path = "docs"

[chunker]
name = "paragraphs"
max_chars = 70

[pipeline]
pool = 4
depth = 10
mmr = "off"
reranker = "none"   # nothing is reranked

[pipeline.embedder]
dimensions = 256
"""
TOPICS = {
    "heron": "grey feathers beside shallow water",
    "granite": "speckled rock from slow cooling",
    "violin": "four strings tuned in fifths",
    "saffron": "threads picked from purple flowers",
    "glacier": "moving ice that carves valleys",
    "lantern": "glass around a small flame",
    "walnut": "hard shell with two halves",
    "harbour": "calm basin for moored ships",
}


def make_headed(folder: Path, *, splits: bool = False, settings: str = SETTINGS) -> Path:
    """Write the project: per topic one page, and one query that names its heading alone."""
    rows: list[dict[str, Any]] = []
    for at, (topic, said) in enumerate(TOPICS.items()):
        text = (
            f"# Notes about the {topic}\n\n"
            f"Introductory remarks number {at} open this entry and say little else.\n\n"
            f"One finds {said} in every case seen.\n\n"
            f"Closing remarks number {at} end this entry and say little else too.\n"
        )
        path = folder / "docs" / f"page-{at}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        rows.append(
            {
                "id": f"easy-{at}",
                "query": f"{said}?",
                "kind": "plain",
                "anchors": [{"doc": path.name, "quote": f"One finds {said} in every case seen"}],
            }
        )
        rows.append(
            {
                "id": f"hard-{at}",
                "query": f"What is written of the {topic}?",
                "kind": "heading",
                "anchors": [{"doc": path.name, "quote": f"One finds {said} in every case seen"}],
            }
        )
    if splits:
        for at, row in enumerate(rows):
            row["split"] = "dev" if at % 4 < 2 else "heldout"
    (folder / "golden.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "assay.toml").write_text(settings, encoding="utf-8")
    return folder
