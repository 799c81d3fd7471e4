"""What one worker of a sweep does: cut, index and search once what configurations share, and measure each.

Rooms: corpus (chunks), matching (relevance), retrieval (pipeline and its cache), measures (scores).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.corpus import Corpus, count_tokens
from assay.flows.beside import span_table
from assay.flows.evaluate import Evaluation
from assay.flows.prepare import Prepared
from assay.flows.project import Project
from assay.flows.rerun import Cut, Cuts, ask, retriever_over
from assay.flows.retrieve import ReferenceRetriever, Retriever, pipeline_settings
from assay.flows.scoring import cut_columns, score_stage
from assay.matching import golden_lists, judge
from assay.measures.batch import score
from assay.measures.budget import cut_lists, hits_within
from assay.measures.spec import parse_measures
from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet, Query
from assay.model.relevance import Unit
from assay.model.runs import StageTable
from assay.model.sweep import PROMPT_TOKENS
from assay.retrieval.cache import Cache
from assay.retrieval.settings import digest
from assay.retrieval.workers import Workers
from assay.store.run_tables import content_id
from assay.store.sweeps import Record

Floats = NDArray[np.float64]
_KEPT_RESULTS = 4096
"""Results of stages that are kept while a chunker's configurations run."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """What every worker is given once."""

    project: Project
    corpus: Corpus
    golden: GoldenSet
    lines: Mapping[str, int]
    chunker: object = None
    cache: Path | None
    """Where embeddings and indexes are kept; None: each worker keeps its own in memory."""
    cut: str | None
    """What columns call the cut where k is varied; None: the number itself."""
    timed: tuple[str, ...]
    """Queries whose time is taken one by one; the first warms up and does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One configuration over some queries."""

    number: int
    round: int
    changes: Mapping[str, Any]
    query_ids: tuple[str, ...]
    timed: bool


class Session:
    """Measures configurations, one after the other; what two in a row share is made once."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self._queries = {query.id: query for query in material.golden.queries}
        # One cut at a time, with a cache of its own: when the next chunker comes, what belonged to the last
        # one is let go.
        self._cuts = Cuts(
            material.corpus,
            material.golden,
            cache=lambda: Cache(material.cache, most=_KEPT_RESULTS),
            most=1,
        )

    def __call__(self, job: Job) -> Record:
        """Measure one configuration; one that cannot run says why."""
        try:
            return self._measured(job)
        except InputError as error:
            why = "; ".join(_told(fault) for fault in error.faults)
            return Record(number=job.number, round=job.round, values={}, costs={}, samples=(), why=why)

    def run(self, job: Job) -> tuple[Evaluation, Retriever, Cut]:
        """Run one configuration and return it as an evaluation, with its retriever."""
        project = self.material.project.with_settings(deepcopy(dict(job.changes)))
        cut = self._cuts.of(project)
        prepared = self._prepared(project, cut, job.query_ids)
        retriever = retriever_over(prepared, cut)
        run, relevance = ask(prepared, cut, retriever, prepared.golden.queries, watching=False)
        return Evaluation(prepared=prepared, run=run, relevance=relevance), retriever, cut

    def embed(self, job: Job, workers: Workers, progress: Callable[[str, int, int], None] | None) -> None:
        """Make the vectors that a configuration needs, on several processes; one that cannot run has none."""
        try:
            project = self.material.project.with_settings(deepcopy(dict(job.changes)))
            if project.retriever is not None or len(self.material.corpus) == 0:
                return
            cut = self._cuts.of(project)
            retriever = retriever_over(self._prepared(project, cut, job.query_ids), cut)
        except InputError:
            return  # whoever measures it says why
        if isinstance(retriever, ReferenceRetriever):
            retriever.pipeline.workers = workers
            retriever.pipeline.build_vectors(progress=progress)

    def _prepared(self, project: Project, cut: Cut, query_ids: Sequence[str]) -> Prepared:
        queries = tuple(self._queries[one] for one in query_ids)
        return Prepared(
            project=project,
            corpus=self.material.corpus,
            golden=replace(self.material.golden, queries=queries),
            lines=self.material.lines,
            chunker=cut.chunker,
            chunks=cut.chunks,
        )

    def _measured(self, job: Job) -> Record:
        evaluation, retriever, cut = self.run(job)
        values = columns_of(evaluation, cut=self.material.cut, tokens=cut.tokens)
        cost = retriever.pipeline.build() if isinstance(retriever, ReferenceRetriever) else None
        return Record(
            number=job.number,
            round=job.round,
            values=values,
            costs={
                "chunks": len(cut.chunks),
                "index_bytes": None if cost is None else cost.bytes,
                "build_ms": None if cost is None else cost.build_ms + cut.cut_ms,
            },
            samples=self._latencies(retriever) if job.timed else (),
        )

    def _latencies(self, retriever: Retriever) -> tuple[float, ...]:
        """Return the milliseconds of each timed query on its own; a shared stage is timed once."""
        found: list[float] = []
        for query_id in self.material.timed:
            query: Query = self._queries[query_id]
            if isinstance(retriever, ReferenceRetriever):
                stages: Sequence[StageTable] = retriever.pipeline.run([query]).stages
            else:
                stages = retriever.retrieve([query], watch={}).stages
            found.append(fsum(float(stage.elapsed_ms[0]) for stage in stages if stage.elapsed_ms is not None))
        return tuple(found[1:])


def _told(fault: Fault) -> str:
    where = f"{fault.where}: " if fault.where else ""
    return f"{where}{fault.what}" + (f" ({fault.fix})" if fault.fix else "")


def start_session(material: Material) -> Session:
    """Start what a worker keeps while a sweep runs."""
    return Session(material)


def first_stage_key(project: Project) -> str:
    """Return the digest of all that decides the first-stage lists; empty for a retriever of a team's own."""
    if project.retriever is not None:
        return digest(dict(project.retriever))
    own = pipeline_settings(project)
    return digest(own.embedder, own.vector, own.fulltext, own.rewrite, own.depth)


def columns_of(
    evaluation: Evaluation, *, cut: str | None = None, tokens: dict[int, int] | None = None
) -> dict[str, Floats]:
    """Return every column of a run, one value a query.

    The project's measures in anchors; the same in chunks, with ``chunk`` before their name; characters of
    evidence (``char recall``, ``char precision``, ``char IoU``); recall of anchors within each token budget;
    and the tokens of the prompt.

    Args:
        evaluation: the run.
        cut: what columns call the cut in place of the run's k, where k is varied.
        tokens: counts of the chunks that were counted before; those of this run are added.
    """
    run, names = evaluation.run, evaluation.project.measure.names
    n = len(evaluation.prepared.golden.queries)
    columns: dict[str, Floats] = {}
    units: tuple[tuple[str, Unit], ...] = (("", "anchor"), ("chunk ", "chunk"))
    for head, unit in units:
        table = score_stage(evaluation, run.final, cut_columns(evaluation, names), unit=unit)
        for name, column in zip(table.measures, table.values.values(), strict=True):
            renamed = (
                name if cut is None or not name.endswith(f"@{run.k}") else f"{name.rpartition('@')[0]}@{cut}"
            )
            columns[f"{head}{renamed}"] = column
    spans = span_table(evaluation)
    for name in ("recall", "precision", "IoU"):
        columns[f"char {name}"] = np.full(n, np.nan) if spans is None else spans.values[name]
    columns |= _within_budgets(evaluation, {} if tokens is None else tokens)
    return columns


def _within_budgets(evaluation: Evaluation, counted: dict[int, int]) -> dict[str, Floats]:
    """Return recall within each budget, filled from the last list before the cut, and the prompt's tokens.

    The number of chunks does not cut these lists, the tokens do: so small chunks and large ones get the same
    room.
    """
    run, golden = evaluation.run, evaluation.prepared.golden
    filled = run.stages[-2] if len(run.stages) > 1 and run.stages[-2].role != "list" else run.final
    budgets = evaluation.project.measure.budgets
    texts = _ChunkTexts(evaluation)
    lists = golden_lists(filled, run, golden)
    final = golden_lists(run.final, run, golden)
    tokens = np.zeros(len(run.chunks), np.int64)
    for chunk in np.union1d(np.unique(lists.chunks), np.unique(final.chunks)).tolist():
        if chunk not in counted:
            counted[chunk] = count_tokens(texts.of(chunk))
        tokens[chunk] = counted[chunk]
    judged = judge(filled, run, evaluation.relevance, golden, "anchor")
    (recall,) = parse_measures([f"recall@{max(1, int(np.diff(lists.offsets).max(initial=1)))}"])
    columns: dict[str, Floats] = {}
    for budget in budgets:
        cut = cut_lists(judged, hits_within(lists.offsets, tokens[lists.chunks], budget))
        columns[budget_column(budget)] = score(cut, [recall])[str(recall)]
    query = np.repeat(np.arange(len(golden.queries)), np.diff(final.offsets))
    columns[PROMPT_TOKENS] = np.bincount(
        query, weights=tokens[final.chunks], minlength=len(golden.queries)
    ).astype(np.float64)
    return columns


def budget_column(budget: int) -> str:
    """Name the column of a token budget."""
    return f"recall in {budget} tokens"


class _ChunkTexts:
    def __init__(self, evaluation: Evaluation) -> None:
        self._table = evaluation.run.chunks
        self._documents = evaluation.prepared.corpus.by_id

    def of(self, chunk: int) -> str:
        text = self._table.texts[chunk]
        document = self._documents.get(self._table.doc_ids[chunk])
        if text is not None or document is None or self._table.starts[chunk] < 0:
            return text or ""
        return document.text[int(self._table.starts[chunk]) : int(self._table.ends[chunk])]


def run_id_of(evaluation: Evaluation) -> str:
    """Return the content address of a run."""
    return content_id(evaluation.run)
