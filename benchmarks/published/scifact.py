"""SciFact as BEIR has it: BM25's nDCG@10, published as 0.665 (Anserini) and 0.679 (later tables).

    python benchmarks/published/scifact.py SHARED

BEIR's 300 test queries are the validation claims, and its 339 right documents those that the claims cite. A
document is one chunk, title and abstract; k1 = 0.9 and b = 0.4 are Anserini's.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from common import WORK, datasets, imported, keep, measured, table, with_interval

from assay.store.atomic import write_text

WHOLE: dict[str, Any] = {
    "chunker": {"name": "characters", "size": 1_000_000, "overlap": 0, "context": "title"}
}
BM25: dict[str, Any] = {
    **WHOLE,
    "measure": {"names": ["nDCG", "recall", "RR"], "unit": "document"},
    "pipeline.vector": False,
    "pipeline.reranker": "none",
    "pipeline.mmr": "off",
}
ROWS: dict[str, dict[str, Any]] = {
    "BM25, k1 0.9, b 0.4": {"pipeline.fulltext.k1": 0.9, "pipeline.fulltext.b": 0.4},
    "BM25, k1 1.2, b 0.75": {},
    "BM25, k1 0.9, b 0.4, no stemming": {
        "pipeline.fulltext.k1": 0.9,
        "pipeline.fulltext.b": 0.4,
        "pipeline.fulltext.stemming": False,
    },
}
PUBLISHED = 0.665


def main(arguments: Sequence[str]) -> int:
    folder = WORK / "scifact-beir-source"
    write_beir(datasets(arguments, __doc__ or "") / "scifact", folder)
    project = imported("beir", folder, "scifact-beir")
    rows: list[list[str]] = []
    for name, changes in ROWS.items():
        scores = measured(project, {**BM25, **changes}).scores
        mean = scores.average("nDCG@10").mean or 0.0
        difference = f"{mean - PUBLISHED:+.3f}" if "0.9" in name and "no" not in name else ""
        rows.append([name, with_interval(scores, "nDCG@10"), difference, with_interval(scores, "recall@10")])
    keep("scifact", OPENING + table(("pipeline", "nDCG@10", "against 0.665", "recall@10"), rows) + CLOSING)
    return 0


def write_beir(source: Path, folder: Path) -> None:
    """Write the set as BEIR has it: corpus.jsonl, queries.jsonl, qrels/test.tsv."""
    abstracts = _read(gzip.decompress((source / "corpus.jsonl.gz").read_bytes()))
    claims = _read((source / "claims_validation.jsonl").read_bytes())
    corpus = (
        {"_id": str(one["doc_id"]), "title": one["title"], "text": " ".join(one["sentences"])}
        for one in abstracts
    )
    queries = ({"_id": one["query_id"], "text": one["query"]} for one in claims)
    write_text(folder / "corpus.jsonl", _lines(corpus))
    write_text(folder / "queries.jsonl", _lines(queries))
    pairs = (f"{one['query_id']}\t{doc}\t1\n" for one in claims for doc in sorted(set(one["cited_doc_ids"])))
    write_text(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\n" + "".join(pairs))


def _read(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.split(b"\n") if line]


def _lines(rows: Iterator[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


OPENING = """\
## SciFact: BM25 against BEIR's table

`python benchmarks/published/scifact.py SHARED`. 300 claims, 339 cited abstracts of
5,183; with 95 % intervals.

"""
CLOSING = """

Lucene's analyser stems with Porter's first algorithm and drops 33 stop words; Assay stems with its successor
and drops more. The figures differ by less than the interval of either.
"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
