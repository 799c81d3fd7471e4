"""A project with a run, pools that wait for labels and drafts that wait for a yes."""

from __future__ import annotations

import json
from pathlib import Path

from assay.flows.evaluate import evaluate
from assay.flows.golden_labels import project_labels
from assay.flows.project import load_project
from assay.model.golden import Anchor, Provenance, Query
from assay.model.labels import Candidate, Draft, Pool

QUERIES = 12
REPEATED = "The keeper writes the hour of it into the book."
SETTINGS = """
name = "lamps"
k = 1

[corpus]
path = "docs"

[golden]
kinds = ["factual", "lexical"]

[chunker]
max_chars = 120

[pipeline]
pool = 4
depth = 10
"""


def sentences(number: int) -> list[str]:
    """Return the paragraphs of one document; the last two are alike."""
    return [
        f"The lamp of station {number} is lit at {number + 4} in the evening, and never before the fog horn.",
        f"Station {number} keeps {number * 10 + 7} barrels of oil in the cellar under the northern stair.",
        f"Boats may land at station {number} on {number + 2} days of the month, when the tide allows it.",
        REPEATED,
        REPEATED,
    ]


def document(number: int) -> str:
    return "\n\n".join(sentences(number)) + "\n"


def make_pooled_project(folder: Path, *, queries: int = QUERIES) -> Path:
    """Write the project, with one run, a pool a query and two drafts; return its folder."""
    for number in range(1, queries + 1):
        path = folder / "docs" / f"station-{number:02}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document(number), encoding="utf-8")
    rows = [
        {
            "id": f"g{number}",
            # Two name their station; two could be of any of them, and are mostly missed.
            "query": f"When is the lamp of station {number} lit?"
            if number < 3
            else "When may ships come to the rock?",
            "kind": "factual",
            "anchors": [{"doc": f"station-{number:02}.md", "quote": sentences(number)[0][:50]}],
        }
        for number in range(1, 5)
    ]
    (folder / "golden.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "assay.toml").write_text(SETTINGS, encoding="utf-8")
    project = load_project(folder)
    evaluate(project)
    with project_labels(project) as labels:
        labels.add_pools([pool_of(number) for number in range(1, queries + 1)])
        labels.add_drafts([draft_of(1), draft_of(2)])
    return folder


def pool_of(number: int) -> Pool:
    """Return a pool of four candidates; the second is the one that answers."""
    doc_id, text = f"station-{number:02}.md", document(number)
    candidates: list[Candidate] = []
    for at in (2, 1, 3, 0):
        start = text.index(sentences(number)[at])
        quote = sentences(number)[at]
        candidates.append(
            Candidate(
                doc_id=doc_id,
                start=start,
                end=start + len(quote),
                text=quote,
                ranks={"secret-retriever": at + 1},
            )
        )
    return Pool(
        id=f"pool-{number}",
        name="first pooling",
        query_id=f"q{number:02}",
        query=f"How much oil does station {number} keep?",
        kind="lexical",
        candidates=tuple(candidates),
        sources=("secret-retriever",),
        depth=4,
        by="ada",
    )


def draft_of(number: int) -> Draft:
    """Return a draft with one anchor."""
    doc_id, text = f"station-{number:02}.md", document(number)
    quote = f"Station {number} keeps {number * 10 + 7} barrels of oil in the cellar"
    return Draft(
        id=f"{number:032x}",
        job="draft rules",
        query=Query(
            id=f"d{number}",
            text=f"What lies in the cellar of station {number}?",
            kind="factual",
            anchors=(Anchor(id="a1", doc_id=doc_id, quote=quote),),
            provenance=Provenance(origin="generated", source="rules"),
        ),
        evidence={f"{doc_id}#0-{len(text)}": text},
        notes=("worded by a rule",),
        by="rules",
    )
