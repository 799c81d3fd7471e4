"""A sweep of 24 configurations, side by side with the package retrieval-lab, in one run.

    python benchmarks/sweep.py SHARED [--quick]

SHARED is the folder that holds ``datasets/``. Needs ``pip install retrieval-lab==0.1.0`` beside Assay. Both
are run from their command lines, cold, on ``chroma-chunking``: the same chunk sizes, vectors of as many
dimensions, dense, sparse and hybrid, with and without a lexical reranker, 50 candidates, 10 in the prompt,
latencies, JSON and an HTML page. Then the peer's own ranked lists are judged by Assay: on the same chunks
and candidates both must find the same anchors. The tables go to ``benchmarks/RESULTS-sweep.md``.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from assay.flows.importing import import_set
from assay.flows.prepare import Prepared, prepare
from assay.flows.project import load_project
from assay.matching import find_relevance
from assay.measures.spans import Spans, span_scores
from assay.model.relevance import Relevance
from assay.model.runs import chunk_table
from assay.store.atomic import write_text

RESULTS = Path(__file__).parent / "RESULTS-sweep.md"
SIZES = (400, 800)
K, POOL, DIMENSIONS = 10, 50, 2048
COVERED = 0.8
"""The peer counts a span as found when the hits together hold this much of it."""
SETTINGS = f"""
k = {K}
[pipeline]
pool = {POOL}
depth = {POOL}
mmr = "off"
[pipeline.embedder]
dimensions = {DIMENSIONS}
"""
PLAN = """
seed = 0
measure = "recall@10"

[knobs]
lists = ["vector", "fulltext", "both"]
reranker = ["none", "lexical"]

[knobs.cut]
fixed-400 = { chunker = { name = "characters", size = 400, overlap = 0 } }
fixed-800 = { chunker = { name = "characters", size = 800, overlap = 0 } }
recursive-400 = { chunker = { name = "recursive", size = 400, overlap = 0 } }
recursive-800 = { chunker = { name = "recursive", size = 800, overlap = 0 } }
"""

OPENING = f"""\
# Sweeps side by side

Made by `python benchmarks/sweep.py SHARED`, in one run: 24 configurations (fixed and recursive cuts of 400
and 800 characters; dense, sparse, hybrid; without and with a lexical reranker) over the 5 documents and 472
questions of Chroma's chunking set; vectors of {DIMENSIONS} dimensions without a model, {POOL} candidates,
k = {K}, latencies, JSON and an HTML page. Cold: nothing is cached before. Peer: retrieval-lab 0.1.0.
Machine: {{cores}} cores, load {{load:.0f}} (the runs' own included). A second worker does nothing twice: its
processor time shows that. It halves what lies between the start and the conclusions, about five sixths of
the whole: planning before, intervals and the page after are done once.
"""
HEAD = (
    "| command | seconds | processor seconds | times faster (clock) | times less work |",
    "|---|---:|---:|---:|---:|",
)
ANCHORS = """
## The same chunks and candidates, the same anchors

The peer's final lists, judged by both. The peer finds a span when its hits together hold 80 % of it; counted
that way, Assay must agree on every query. Assay's own anchors ask for more: one chunk that holds the whole
phrase. What only the peer finds are phrases that the cut went through; nothing is found by Assay alone.

| configuration | peer found | by its rule here | differ | whole in one chunk | peer's alone | ours alone |
|---|---:|---:|---:|---:|---:|---:|"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a command took."""

    wall: float
    cpu: float


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    source = Path(arguments[0]) / "datasets" / "chroma-chunking"
    quick = "--quick" in arguments
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = folder / "project"
        import_set("chroma-chunking", source, project, options={})
        head = (project / "assay.toml").read_text(encoding="utf-8")
        k, _, rest = SETTINGS.strip().partition("\n")
        (project / "assay.toml").write_text(f"{k}\n{head}\n{rest}\n", encoding="utf-8")
        (folder / "sweep.toml").write_text(PLAN, encoding="utf-8")
        peer = convert(source, folder / "peer")
        times: dict[str, Took] = {}
        for workers in (1, 2):
            times[f"assay sweep --workers {workers}"] = ours(folder, workers)
            print(f"workers {workers}: {times[f'assay sweep --workers {workers}']}", flush=True)
        if not quick:
            times["retrieval-lab run"] = theirs(peer)
            print(f"peer: {times['retrieval-lab run']}", flush=True)
        rows = list(same_anchors(project, peer, SIZES[-1:] if quick else SIZES))
    text = page(times, rows)
    print(text)
    if not quick:
        write_text(RESULTS, text)
    return 0


def ours(folder: Path, workers: int) -> Took:
    """Sweep from nothing: no chunk, no vector and no index is there."""
    subprocess.run(["rm", "-rf", str(folder / "project" / ".assay")], check=True)
    command = [sys.executable, "-m", "assay", "sweep", str(folder / "sweep.toml")]
    command += ["--project", str(folder / "project"), "--workers", str(workers), "--json"]
    return timed([*command, "--html", str(folder / "ours.html")], folder / f"ours-{workers}.json")


def theirs(peer: Path) -> Took:
    program = Path(sys.executable).with_name("retrieval-lab")
    chunkers = ",".join(f"{kind}:{size}" for kind in ("fixed", "recursive") for size in SIZES)
    command = [
        str(program),
        "run",
        "--corpus",
        str(peer / "docs.jsonl"),
        "--queries",
        str(peer / "queries.jsonl"),
    ]
    command += ["--embed-models", "det", "--chunkers", chunkers, "--retrieval", "dense,sparse,hybrid"]
    command += [
        "--rerank",
        "none,lexical",
        "--top-k",
        str(K),
        "--candidate-n",
        str(POOL),
        "--measure-latency",
    ]
    return timed(
        [*command, "--json", str(peer / "out.json"), "--html", str(peer / "out.html")], peer / "out.txt"
    )


def timed(command: Sequence[str], output: Path) -> Took:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with output.open("wb") as file:
        subprocess.run(command, check=True, stdout=file)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall=wall, cpu=cpu)


def convert(source: Path, target: Path) -> Path:
    """Write the set in the peer's form: the same documents, questions and spans, nothing left out."""
    target.mkdir()
    csv.field_size_limit(2**31 - 1)
    with (target / "docs.jsonl").open("w", encoding="utf-8") as file:
        for path in sorted((source / "corpora").glob("*.md")):
            file.write(json.dumps({"id": path.stem, "text": path.read_bytes().decode()}) + "\n")
    with (source / "questions_df.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    with (target / "queries.jsonl").open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            spans = [
                {
                    "source_id": row["corpus_id"],
                    "start": one["start_index"],
                    "end": one["end_index"],
                    "quoted_text": one["content"],
                }
                for one in json.loads(row["references"])
            ]
            gold = {"alternatives": [{"required_spans": spans}]}
            file.write(json.dumps({"id": str(number), "text": row["question"], "gold": gold}) + "\n")
    return target


def same_anchors(project: Path, peer: Path, sizes: Sequence[int]) -> Iterator[str]:
    """Judge the peer's ranked lists by Assay: yield one row a configuration with fixed windows."""
    import retrieval_lab as lab_module  # noqa: PLC0415 - the peer  # pyright: ignore[reportMissingImports]

    lab = cast("Any", lab_module)
    documents = lab.load_documents(peer / "docs.jsonl")
    queries = lab.load_queries(peer / "queries.jsonl", documents)
    embedder = lab.DeterministicEmbedder(dim=DIMENSIONS, cache=lab.EmbeddingCache())
    for size in sizes:
        chunker = {"chunker": {"name": "characters", "size": size, "overlap": 0}}
        prepared = prepare(load_project(project).with_settings(chunker))
        relevance = find_relevance(
            prepared.golden, prepared.corpus.documents, chunk_table(prepared.chunks), twins=False
        )
        chunks = lab.FixedSizeChunker(chunk_size=size).chunk_corpus(list(documents.values()))
        here = {(Path(one.doc_id).stem, one.start, one.end) for one in prepared.chunks}
        assert here == {(one.source_id, one.start, one.end) for one in chunks}, "the chunks differ"
        dense, sparse = lab.DenseRetriever(embedder).index(chunks), lab.BM25Retriever().index(chunks)
        for mode in ("dense", "sparse", "hybrid"):
            for reranker in (None, "lexical"):
                pipeline = lab.RetrievalPipeline(
                    chunks,
                    lab.Config(
                        embed_model="det",
                        chunker=f"fixed:{size}",
                        retrieval=mode,
                        rerank=reranker,
                        top_k=K,
                        candidate_n=POOL,
                    ),
                    dense=dense if mode != "sparse" else None,
                    sparse=sparse if mode != "dense" else None,
                    reranker=lab.LexicalReranker() if reranker else None,
                )
                found = [lab.evaluate_query(query, pipeline) for query in queries]
                lists = [
                    [(one.source_id, one.start, one.end) for one in pipeline.run(query.text).final]
                    for query in queries
                ]
                yield judged_row(
                    f"fixed {size}, {mode}, {reranker or 'no'} reranker", prepared, relevance, lists, found
                )


def judged_row(
    name: str,
    prepared: Prepared,
    relevance: Relevance,
    lists: Sequence[Sequence[tuple[str, int, int]]],
    found: Sequence[Any],
) -> str:
    peer = np.array([one.hit for one in found])
    share, whole, owner = coverage(prepared, relevance, lists)
    by_their_rule = all_of(share >= COVERED, owner, len(lists))
    by_our_rule = all_of(whole, owner, len(lists))
    cells = [
        name,
        str(int(peer.sum())),
        str(int(by_their_rule.sum())),
        str(int((peer != by_their_rule).sum())),
        str(int(by_our_rule.sum())),
        str(int((peer & ~by_our_rule).sum())),
        str(int((by_our_rule & ~peer).sum())),
    ]
    return f"| {' | '.join(cells)} |"


def coverage(
    prepared: Prepared, relevance: Relevance, lists: Sequence[Sequence[tuple[str, int, int]]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    """Return for each anchor how much of it the hits hold together, if one holds it whole, and its query."""
    codes = {Path(document.id).stem: code for code, document in enumerate(prepared.corpus.documents)}
    anchors: list[tuple[int, int, int, int]] = []
    hits: list[tuple[int, int, int, int]] = []
    owner: list[int] = []
    whole: list[bool] = []
    for place, query in enumerate(prepared.golden.queries):
        for places in relevance.by_query[query.id].places.values():
            one = places[0]
            number, doc = len(anchors), Path(one.doc_id).stem
            anchors.append((number, codes[doc], one.start, one.end))
            hits += [(number, codes[name], start, end) for name, start, end in lists[place]]
            owner.append(place)
            whole.append(
                any(
                    name == doc and start <= one.start and one.end <= end for name, start, end in lists[place]
                )
            )
    recall = span_scores(_spans(hits), _spans(anchors), len(anchors)).recall
    return recall, np.array(whole), np.array(owner)


def _spans(rows: Sequence[tuple[int, int, int, int]]) -> Spans:
    query, doc, start, end = np.array(rows, np.int64).T
    return Spans(query=query, doc=doc, start=start, end=end)


def all_of(holds: NDArray[np.bool_], owner: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Return the queries of which every anchor holds."""
    return np.bincount(owner[~holds], minlength=n) == 0


def page(times: dict[str, Took], rows: Sequence[str]) -> str:
    peer = times.get("retrieval-lab run")
    lines = [OPENING.format(load=os.getloadavg()[0], cores=os.cpu_count()), *HEAD]
    for name, took in times.items():
        clock = "-" if peer is None else f"{peer.wall / took.wall:.1f}"
        work = "-" if peer is None else f"{peer.cpu / took.cpu:.1f}"
        lines.append(f"| `{name}` | {took.wall:.1f} | {took.cpu:.1f} | {clock} | {work} |")
    lines += [ANCHORS, *rows, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
