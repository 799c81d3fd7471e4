"""A million chunks and ten thousand queries through the embedded pipeline: time and memory of each stage.

    python benchmarks/scale.py [--chunks N] [--queries N] [--dimensions 256] [--workers 1] [--write]

The corpus is made here, from a seed: words of a vocabulary by Zipf's law, with a few rare ones in each chunk,
as names and numbers are in real text; a query asks with words of one chunk, among words of everywhere. None
of it says how good a retriever is: it has the size and the skew that cost time and memory. Vectors and
indexes lie in files and are mapped. With ``--write`` the table goes to ``benchmarks/RESULTS-scale.md``.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.measures.batch import score
from assay.measures.spec import parse_measures
from assay.model.documents import Chunk
from assay.model.golden import Query
from assay.model.relevance import Judged, JudgedRows
from assay.model.runs import Retrieved
from assay.retrieval.cache import Cache
from assay.retrieval.models.registry import make_embedder
from assay.retrieval.pipeline import Pipeline
from assay.retrieval.settings import read_pipeline
from assay.retrieval.workers import local_workers
from assay.store.atomic import write_text

RESULTS = Path(__file__).parent / "RESULTS-scale.md"
VOCABULARY, WORDS, RARE, SEED = 60_000, 60, 4, 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one stage took."""

    stage: str
    seconds: float
    cpu: float
    memory: float
    """Most memory of the process's own during the stage, in MB; mapped files are not in it."""


class Meter:
    """Measures stages, and samples this process's own memory while they run."""

    def __init__(self) -> None:
        self.costs: list[Cost] = []

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        most, done = [own_memory()], threading.Event()

        def watch() -> None:
            while not done.wait(0.05):
                most[0] = max(most[0], own_memory())

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        began, before = time.perf_counter(), cpu_seconds()
        try:
            yield
        finally:
            seconds, cpu = time.perf_counter() - began, cpu_seconds() - before
            done.set()
            watcher.join()
            self.add(name, seconds, cpu, max(most[0], own_memory()))

    def add(self, name: str, seconds: float, cpu: float, memory: float) -> None:
        self.costs.append(Cost(stage=name, seconds=seconds, cpu=cpu, memory=memory))
        print(f"{name:<34} {seconds:9.1f} s {cpu:9.1f} s cpu {memory:9.0f} MB", flush=True)


def own_memory() -> float:
    """Return the anonymous memory of this process in MB: what no file stands behind."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def make_chunks(count: int) -> list[Chunk]:
    """Make chunks of about 400 characters; ten of them are one document."""
    rng = np.random.default_rng(SEED)
    vocabulary = make_vocabulary(rng)
    weights = 1.0 / np.arange(1, VOCABULARY + 1) ** 1.05
    cumulative = np.cumsum(weights / weights.sum())
    chunks: list[Chunk] = []
    for first in range(0, count, 10_000):
        size = min(10_000, count - first)
        common = np.minimum(np.searchsorted(cumulative, rng.random((size, WORDS))), VOCABULARY - 1)
        rare = rng.integers(VOCABULARY // 2, VOCABULARY, size=(size, RARE))
        for row, (words, names) in enumerate(zip(common, rare, strict=True)):
            number = first + row
            order: list[int] = [*words[:30].tolist(), *names.tolist(), *words[30:].tolist()]
            body = " ".join([vocabulary[at] for at in order])
            start = (number % 10) * 500
            chunks.append(
                Chunk(
                    id=f"d{number // 10:06d}#{start}-{start + len(body)}",
                    doc_id=f"d{number // 10:06d}",
                    start=start,
                    end=start + len(body),
                    text=body,
                )
            )
    return chunks


def make_vocabulary(rng: np.random.Generator) -> list[str]:
    """Make unlike words of four to twelve letters that no stemmer takes for each other."""
    letters = np.array(list("aeioubcdfghklmnprtvz"))
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        for size in rng.integers(4, 13, size=5_000).tolist():
            words.setdefault("".join(letters[rng.integers(0, len(letters), size=size)].tolist()))
    return list(words)[:VOCABULARY]


def make_queries(chunks: Sequence[Chunk], count: int) -> tuple[list[Query], np.ndarray]:
    """Make queries with three rare words and two others of one chunk, one of another; and say which."""
    rng = np.random.default_rng(SEED + 1)
    targets = rng.integers(0, len(chunks), size=count)
    others: list[int] = rng.integers(0, len(chunks), size=count).tolist()
    wanted: list[int] = targets.tolist()
    queries: list[Query] = []
    for number, (target, other) in enumerate(zip(wanted, others, strict=True)):
        words, noise = chunks[target].text.split(), chunks[other].text.split()
        names = [words[30 + int(at)] for at in rng.choice(RARE, size=3, replace=False)]
        common = [words[int(at)] for at in rng.integers(0, 30, size=2)]
        text = " ".join([*common, *names, noise[int(rng.integers(0, 30))]])
        queries.append(Query(id=f"q{number:05d}", text=text))
    return queries, targets


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true", help="write RESULTS-scale.md")
    said = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    meter = Meter()
    with tempfile.TemporaryDirectory() as temporary:
        figures = measure(said, meter, said.keep or Path(temporary))
    text = page(said, meter.costs, {**figures, "load": load})
    print(text)
    if said.write:
        write_text(RESULTS, text)
    return 0


def measure(said: argparse.Namespace, meter: Meter, folder: Path) -> dict[str, Any]:
    with meter.stage("make the corpus (not counted)"):
        chunks = make_chunks(said.chunks)
        queries, targets = make_queries(chunks, said.queries)
    settings = read_pipeline(
        {
            "embedder": {"name": "hashing", "dimensions": said.dimensions},
            "mmr": "off",
            "depth": 100,
            "pool": 50,
            "k": 10,
        }
    )
    cache = Cache(folder, max_bytes=64 << 30)
    pipeline = Pipeline(
        settings, chunks, cache=cache, workers=local_workers(said.workers) if said.workers > 1 else None
    )
    index = pipeline.index
    with meter.stage("identify (digest, order)"):
        _ = index.digest, index.order
    with meter.stage(f"embed, {said.workers} process{'es' if said.workers > 1 else ''}"):
        index.vectors(settings.embedder, lambda: make_embedder(settings.embedder), workers=pipeline.workers)
    with meter.stage("terms"):
        terms = index.terms(stemming=True, stop_words=True)
    with meter.stage("BM25 postings"):
        index.postings(terms, stemming=True, stop_words=True, k1=1.2, b=0.75)
    found = searched(pipeline, queries, meter)
    with meter.stage("score"):
        figures = scored(found, targets)
    figures["index GB"] = sum(size for _, size in index.built.values()) / 1e9
    figures["terms"] = len(terms.flat)
    return figures


def searched(pipeline: Pipeline, queries: Sequence[Query], meter: Meter) -> Retrieved:
    """Search, and take each stage's own time out of the trace."""
    before = cpu_seconds()
    with meter.stage("search, all stages"):
        found = pipeline.run(queries)
    whole = meter.costs.pop()
    used = cpu_seconds() - before
    names = {
        "vector": "vector search (exact)",
        "fulltext": "full-text search",
        "pool": "fusion",
        "reranked": "lexical reranker",
    }
    for stage in found.stages:
        if stage.elapsed_ms is not None and stage.name in names:
            seconds = float(stage.elapsed_ms.sum()) / 1e3
            meter.add(names[stage.name], seconds, used * seconds / whole.seconds, whole.memory)
    return found


def scored(found: Retrieved, targets: np.ndarray) -> dict[str, Any]:
    """Score the final lists: each query has one right chunk."""
    final = found.stages[-1]
    lengths = np.diff(final.offsets)
    query = np.repeat(np.arange(len(targets)), lengths)
    rank = np.arange(len(query)) - final.offsets[query] + 1
    right = final.chunks == targets[query]
    ones = np.ones(len(targets))
    judged = Judged(
        query_ids=tuple(str(number) for number in range(len(targets))),
        found=JudgedRows(
            query=query[right].astype(np.int32),
            rank=rank[right].astype(np.int32),
            grade=np.ones(int(right.sum())),
        ),
        ideal=JudgedRows(
            query=np.arange(len(targets), dtype=np.int32), rank=np.ones(len(targets), np.int32), grade=ones
        ),
        retrieved=lengths,
    )
    values = score(judged, parse_measures(["recall@10", "MRR@10"]))
    return {name: float(column.mean()) for name, column in values.items()}


PAGE = """\
# A million chunks

Made by `{command}`:
{chunks:,} chunks ({terms:,} words in the index), {queries:,} queries, vectors of {dimensions} dimensions,
lists of 100, a pool of 50, k = 10; {size:.1f} GB of indexes in files. {cores} cores, whose load was
{load:.1f} when it began. Memory is the process's own at its highest: mapped files are not in it, the system
gives and takes them; nor are the embedding processes, which hold a block each. The search's processor time is
shared out over its stages by their seconds, and its memory is that of the whole search.

| stage | seconds | processor seconds | memory, MB |
|---|---:|---:|---:|
{rows}

The planted chunk is in the first ten of {recall:.3f} of the queries (MRR {mrr:.3f}): a check that the search
worked, and nothing more.
"""


def page(said: argparse.Namespace, costs: Sequence[Cost], figures: dict[str, Any]) -> str:
    command = f"python benchmarks/scale.py --chunks {said.chunks} --queries {said.queries}"
    rows = [f"| {one.stage} | {one.seconds:,.1f} | {one.cpu:,.1f} | {one.memory:,.0f} |" for one in costs]
    return PAGE.format(
        command=f"{command} --dimensions {said.dimensions} --workers {said.workers}",
        chunks=said.chunks,
        queries=said.queries,
        dimensions=said.dimensions,
        terms=figures["terms"],
        size=figures["index GB"],
        cores=os.cpu_count(),
        load=figures["load"],
        rows="\n".join(rows),
        recall=figures["recall@10"],
        mrr=figures["MRR@10"],
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
