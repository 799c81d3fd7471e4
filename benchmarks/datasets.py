"""Import real golden sets and run the reference pipeline over each: the first table of RESULTS.md.

    python benchmarks/datasets.py SHARED [SET ...]

SHARED is the folder that holds ``datasets/``. Every set goes through the same two calls as ``assay import``
and ``assay run`` do, with the settings that an import writes and nothing tuned. The tables are put between
their marks in ``benchmarks/RESULTS.md``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from assay.flows.evaluate import evaluate
from assay.flows.importing import import_set
from assay.flows.project import load_project
from assay.model.runs import Run
from assay.model.scores import Average
from assay.model.summary import ALL, Summary
from assay.store.atomic import write_text
from assay.store.imports.known import form_named
from assay.store.tables import read_table

RESULTS = Path(__file__).parent / "RESULTS.md"
BEGIN, END = "<!-- datasets: begin -->", "<!-- datasets: end -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One set, as it is imported."""

    name: str
    form: str
    place: str
    options: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def command(self) -> str:
        chosen = "".join(f" --set {name}={value}" for name, value in self.options.items())
        return (
            f"assay import {self.form} $SETS/{self.place}{chosen} --into {self.name} && assay run {self.name}"
        )


JOBS = (
    Job(name="chroma", form="chroma-chunking", place="chroma-chunking"),
    Job(name="squad-answers", form="squad-fulldoc", place="squad-fulldoc"),
    Job(name="squad-sentences", form="squad-fulldoc", place="squad-fulldoc", options={"anchors": "sentence"}),
    *(
        Job(
            name=f"xquad-{language}",
            form="squad",
            place=f"squad-fulldoc/xquad/xquad.{language}.json.gz",
            options={"anchors": "sentence"},
        )
        for language in ("en", "de", "ar", "zh")
    ),
    Job(name="scifact", form="scifact", place="scifact"),
    Job(name="clapnq", form="clapnq", place="clapnq"),
    Job(name="anthropic-docs", form="anthropic-docs", place="anthropic-docs"),
    Job(name="aragog", form="aragog", place="aragog"),
    Job(
        name="autorag-eli5",
        form="autorag",
        place="autorag-samples",
        options={"questions": "qa_data_sample"},
    ),
    Job(name="autorag-korean", form="autorag", place="autorag-samples/gen_qa.parquet"),
    Job(name="adi", form="smart", place="classic-ir/adi"),
    Job(name="med", form="smart", place="classic-ir/med"),
)


HEAD = (
    "set",
    "documents",
    "chunks",
    "scored",
    "unit",
    "recall@10",
    "ceiling",
    "MRR@10",
    "nDCG@10",
    "vector@50",
    "fulltext@50",
    "pool@50",
    "unwinnable",
    "seconds",
)

OPENING = """\
## Real golden sets through the reference pipeline

Made by `python benchmarks/datasets.py SHARED`: each set is imported as below, then measured by `assay run`
with the settings that the import writes; nothing is tuned. There is no model in the pipeline: these are the
figures of hashing vectors and BM25, to compare with what you put in their place. A query is scored when it
has something to find. Unwinnable queries (their document is not there, or no chunk holds the whole anchor)
are in the means, as 0. Recall of a stage is over its whole list of 50. The last column is wall time on a
busy machine, and good for an order of magnitude.
"""

CLOSING = """
What the imports met: all of Chroma's 790 spans hold their text at their offsets, 49 begin or end inside a
word, and 97 are pinned to the first of several occurrences. All 1,190 SQuAD answers, in each of four
languages, and all 366 rationale sentences of SciFact stand where they are said to stand. ARAGOG labels 13
papers, and the text of 8 is not there: 60 of its queries cannot be won. XQuAD has five paragraphs an article
and makes few chunks: its figures say that four scripts are read, and nothing of difficulty.

### Ranked lists that were published with their scores

The Ray documentation experiment: hit rate by page over the whole list, as published and as counted on the
imported lists.
"""


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    datasets = Path(arguments[0]) / "datasets"
    wanted = set(arguments[1:])
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for job in JOBS:
            if not wanted or job.name in wanted:
                rows.append(measure(job, datasets, Path(folder)))
                print(rows[-1], flush=True)
    if not wanted:
        keep("\n".join(section(rows, list(published(datasets)))))
    return 0


def measure(job: Job, datasets: Path, folder: Path) -> str:
    """Import one set, run the pipeline over it, and return its row."""
    import_set(job.form, datasets / job.place, folder / job.name, options=job.options)
    began = time.perf_counter()
    summary = evaluate(load_project(folder / job.name), save=False).summary
    return row(job, summary, time.perf_counter() - began)


def row(job: Job, summary: Summary, seconds: float) -> str:
    counts = summary.counts
    recall = summary.measures["recall@10"]
    cells = (
        job.name,
        f"{counts['documents']:,}",
        f"{counts['chunks']:,}",
        f"{recall.n:,} of {counts['queries']:,}",
        summary.unit,
        figure(recall),
        "-" if recall.ceiling is None else f"{recall.ceiling:.3f}",
        figure(summary.measures["MRR@10"]),
        figure(summary.measures["nDCG@10"]),
        *(stage_recall(summary, name) for name in ("vector", "fulltext", "pool")),
        str(counts.get("unwinnable", 0)),
        f"{seconds:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def figure(average: Average) -> str:
    return "-" if average.mean is None else f"{average.mean:.3f}"


def stage_recall(summary: Summary, name: str) -> str:
    stage = next((stage for stage in summary.stages if stage.name == name), None)
    return "-" if stage is None else figure(stage.recall[ALL])


def published(datasets: Path) -> Iterator[str]:
    """Yield one row a ranked list of the Ray experiment: its published page hit rate, and ours."""
    imported = form_named("ray-docs").read(datasets / "ray-docs-runs", {"labels": "page"})
    scores = {
        row["experiment"]: row["published_retrieval_score"]
        for _, row in read_table(datasets / "ray-docs-runs" / "published_scores.csv").rows
    }
    labels = {query.id: set(query.labels) for query in imported.golden.queries}
    for run in imported.runs:
        rate = hit_rate(run, labels)
        yield f"| {run.name} | {float(scores[run.name]):.4f} | {rate:.4f} |"


def hit_rate(run: Run, labels: dict[str, set[str]]) -> float:
    """Return the part of queries whose list holds a labelled page at any rank."""
    final = run.final
    hits = [
        any(
            run.chunks.doc_ids[chunk] in labels[query]
            for chunk in final.chunks[final.hits_of(place)].tolist()
        )
        for place, query in enumerate(run.query_ids)
    ]
    return float(np.mean(hits))


def section(rows: Sequence[str], ray: Sequence[str]) -> Iterator[str]:
    yield OPENING
    yield f"| {' | '.join(HEAD)} |"
    yield f"|---|{'---:|' * 3}---|{'---:|' * 9}"
    yield from rows
    yield "\nThe commands, with the folder of the sets in `SETS`, from an empty folder:\n"
    yield "```sh"
    yield from (job.command for job in JOBS)
    yield "assay import ray-docs $SETS/ray-docs-runs --into ray   # 8 ranked lists, no documents"
    yield "assay import mtrag $SETS/mtrag-tasks --into mtrag      # 777 queries, 2,128 labels, no documents"
    yield "```"
    yield CLOSING
    yield "| list | published | here |"
    yield "|---|---:|---:|"
    yield from ray


def keep(text: str) -> None:
    """Put the text between its marks in RESULTS.md, at the end when the marks are not there."""
    before = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else "# Results\n"
    block = f"{BEGIN}\n{text}\n{END}"
    if BEGIN in before and END in before:
        head, rest = before.split(BEGIN, 1)
        whole = head + block + rest.split(END, 1)[1]
    else:
        whole = f"{before.rstrip()}\n\n{block}\n"
    write_text(RESULTS, whole)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
