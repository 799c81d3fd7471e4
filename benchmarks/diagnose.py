"""How long diagnosis takes, and how much memory: 10,000 queries with traces of 200 hits a stage.

    python benchmarks/diagnose.py [QUERIES] [HITS]

The corpus is made up: pages of invented words, so that words are shared, and rare ones are rare, as in text.
What is timed is what `assay diagnose` does with a measured run: losses, findings, waterfall, agreement.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from numpy.typing import NDArray

from assay.diagnosis.cases import Library
from assay.diagnosis.findings import agreement, find_findings
from assay.diagnosis.losses import find_losses
from assay.diagnosis.waterfall import waterfalls
from assay.matching import find_relevance
from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.runs import ChunkTable, Role, Run, StageTable

K, POOL = 10, 50
PAGES, CHUNKS, WORDS = 5_000, 10, 80
VOCABULARY = 40_000
ROLES: dict[str, Role] = {
    "vector": "list",
    "fulltext": "list",
    "pool": "pool",
    "reranked": "rerank",
    "diverse": "diversify",
    "final": "final",
}


def corpus(rng: np.random.Generator) -> tuple[list[Document], list[tuple[int, int, int]]]:
    """Return pages of Zipf-like words, and where their chunks stand."""
    words = np.array([f"w{number:x}q" for number in range(VOCABULARY)])
    documents: list[Document] = []
    places: list[tuple[int, int, int]] = []
    for page in range(PAGES):
        numbers = np.minimum(rng.zipf(1.2, CHUNKS * WORDS) * 7 % VOCABULARY, VOCABULARY - 1)
        numbers[:: WORDS // 8] = rng.integers(0, VOCABULARY, len(numbers[:: WORDS // 8]))
        parts: list[str] = []
        at = 0
        for chunk in range(CHUNKS):
            text = " ".join(words[numbers[chunk * WORDS : (chunk + 1) * WORDS]])
            places.append((page, at, at + len(text)))
            parts.append(text)
            at += len(text) + 2
        documents.append(Document(id=f"page-{page}.md", text="\n\n".join(parts)))
    return documents, places


def plant(queries: int, hits: int) -> tuple[list[Document], GoldenSet, Run]:
    """Return pages, queries with their anchors, and a run whose lists hold half of them."""
    rng = np.random.default_rng(0)
    documents, places = corpus(rng)
    table = ChunkTable(
        ids=tuple(f"page-{page}.md#{start}-{end}" for page, start, end in places),
        doc_ids=tuple(f"page-{page}.md" for page, _, _ in places),
        starts=np.array([start for _, start, _ in places]),
        ends=np.array([end for _, _, end in places]),
        texts=(None,) * len(places),
    )
    gold = rng.integers(0, len(places), queries)
    chosen: list[int] = gold.tolist()
    golden = GoldenSet(
        name="made-up",
        queries=tuple(
            _query(at, documents[places[chunk][0]], places[chunk], rng) for at, chunk in enumerate(chosen)
        ),
    )
    stages = tuple(
        _stage(
            name,
            {"pool": POOL, "reranked": POOL, "diverse": POOL, "final": K}.get(name, hits),
            gold,
            rng,
            len(places),
        )
        for name in ROLES
    )
    run = Run(
        id="made-up", name="made-up", pipeline={}, pipeline_digest="", golden_digest="", corpus_digest="",
        k=K, query_ids=tuple(query.id for query in golden.queries), chunks=table, stages=stages,
    )  # fmt: skip
    return documents, golden, run


def main() -> None:
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    hits = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    documents, golden, run = plant(queries, hits)
    table, stages = run.chunks, run.stages
    started = time.perf_counter()
    relevance = find_relevance(golden, documents, table)
    matched, processor = time.perf_counter(), time.process_time()
    losses = find_losses(run, relevance)
    lost = time.perf_counter()
    findings = find_findings(losses, Library(run, relevance, golden, documents))
    found = time.perf_counter()
    flows = waterfalls(losses, {query.id: query.kind for query in golden.queries})
    agreement(findings)
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = sum(len(stage.chunks) for stage in stages)
    print(f"{queries:,} queries, {len(table):,} chunks, {rows:,} rows of traces, {len(findings):,} misses")
    print(f"relevance {matched - started:.2f} s (as for any measuring)")
    print(f"losses {lost - matched:.2f} s, findings {found - lost:.2f} s, waterfall {done - found:.2f} s")
    used = time.process_time() - processor
    print(f"diagnosis {done - matched:.2f} s ({used:.2f} s of processor time); peak memory {peak:,.0f} MiB")
    print({part.lost_at: part.items for part in flows[0].parts})


def _query(at: int, page: Document, place: tuple[int, int, int], rng: np.random.Generator) -> Query:
    words = page.text[place[1] : place[2]].split()
    asked: list[str] = [words[number] for number in rng.integers(0, len(words), 3).tolist()]
    return Query(
        id=f"q{at}",
        text=" ".join([*asked, f"own{at}a", f"own{at}b"]),
        kind=f"kind-{at % 3}",
        anchors=(Anchor(id="a1", doc_id=page.id, quote=" ".join(words[10:22])),),
    )


def _stage(
    name: str, hits: int, gold: NDArray[np.int64], rng: np.random.Generator, chunks: int
) -> StageTable:
    queries = len(gold)
    rows = rng.integers(0, chunks, (queries, hits)).astype(np.int32)
    kept = rng.random(queries) < 0.5
    rows[kept, rng.integers(0, hits, int(kept.sum()))] = gold[kept]
    return StageTable(
        name=name,
        role=ROLES[name],
        offsets=np.arange(queries + 1, dtype=np.int64) * hits,
        chunks=rows.ravel(),
        scores=np.tile(np.linspace(1, 0, hits), queries),
        deep_query=np.flatnonzero(~kept).astype(np.int32),
        deep_chunk=gold[~kept].astype(np.int32),
        deep_rank=rng.integers(hits + 1, chunks, int((~kept).sum())),
    )


if __name__ == "__main__":
    main()
