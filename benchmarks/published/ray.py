"""The 8 ranked lists of the Ray documentation experiment: the published retrieval score of each, to 4 digits.

    python benchmarks/published/ray.py SHARED

The published score is the hit rate by page over the whole list; by section, the labels' own unit, beside.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from common import datasets, keep, table

from assay.model.runs import Run
from assay.store.imports.known import form_named
from assay.store.tables import read_table


def main(arguments: Sequence[str]) -> int:
    source = datasets(arguments, __doc__ or "") / "ray-docs-runs"
    rows = reproduce(source)
    shown = [
        (name, f"{published:.4f}", f"{page:.4f}", f"{page - published:+.4f}", f"{section:.4f}")
        for name, (published, page, section) in rows.items()
    ]
    keep("ray", OPENING + table(("list", "published", "here", "difference", "by section"), shown))
    return 0


def reproduce(source: Path) -> dict[str, tuple[float, float, float]]:
    """Return list -> published score, hit rate by page, hit rate by section."""
    by_page, by_section = (
        form_named("ray-docs").read(source, {"labels": unit}) for unit in ("page", "section")
    )
    published = {
        row["experiment"]: float(row["published_retrieval_score"])
        for _, row in read_table(source / "published_scores.csv").rows
    }
    labels = [{query.id: set(query.labels) for query in one.golden.queries} for one in (by_page, by_section)]
    return {
        pages.name: (published[pages.name], hit_rate(pages, labels[0]), hit_rate(sections, labels[1]))
        for pages, sections in zip(by_page.runs, by_section.runs, strict=True)
    }


def hit_rate(run: Run, labels: Mapping[str, set[str]]) -> float:
    """Return the part of queries whose list names something that is labelled, at any rank."""
    final, chunks = run.final, run.chunks
    hits: list[bool] = []
    for place, query in enumerate(run.query_ids):
        rows = final.chunks[final.hits_of(place)].tolist()
        named = {name for chunk in rows for name in (chunks.ids[chunk], chunks.doc_ids[chunk])}
        hits.append(not named.isdisjoint(labels[query]))
    return float(np.mean(hits))


OPENING = """\
## The Ray documentation experiment: 8 published retrieval scores

`python benchmarks/published/ray.py SHARED`. 177 questions; a hit is a list that names the page of the label.

"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
