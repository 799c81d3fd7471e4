"""``assay run``: measure a project's retriever.

``golden set + corpus -> chunker -> retriever -> Run -> Relevance -> ScoreTables -> Summary``.
Rooms: store (runs), retrieval or connectors (the retriever), matching (relevance), measures (scores),
diagnosis (where items were lost).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from assay.diagnosis.losses import find_losses
from assay.flows.judge_licence import judge_notices
from assay.flows.looks import told_looks
from assay.flows.prepare import Prepared, prepare
from assay.flows.project import Project
from assay.flows.retrieve import (
    ForeignRetriever,
    ReferenceRetriever,
    make_retriever,
    run_of,
    take_retriever,
)
from assay.flows.scoring import score_stage, stage_measures
from assay.matching import find_relevance
from assay.model.findings import ItemLoss
from assay.model.golden import Query
from assay.model.notices import Notice
from assay.model.relevance import Relevance, Unit
from assay.model.runs import Run, StageTable, chunk_table
from assay.model.scores import ScoreTable
from assay.model.showing import Showable
from assay.model.summary import Summary
from assay.store.run_tables import content_id
from assay.store.runs import RunStore

if TYPE_CHECKING:
    from assay.flows.plots import Plots

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""


@dataclass(frozen=True, kw_only=True)
class Evaluation(Showable):
    """One run, measured: everything that reports, gates and diagnosis start from."""

    prepared: Prepared
    run: Run
    relevance: Relevance
    notices: tuple[Notice, ...] = ()

    @property
    def project(self) -> Project:
        return self.prepared.project

    @property
    def unit(self) -> Unit:
        """What the headline counts: the project's unit; anchors where the index is not known as a whole."""
        unit = self.project.measure.unit
        return "anchor" if unit == "chunk" and not whole_index(self.run) else unit

    @cached_property
    def cuts(self) -> Mapping[str, int]:
        """Query id -> its k, where its kind has one of its own."""
        by_kind = self.project.measure.k_by_kind
        return {
            query.id: by_kind[query.kind] for query in self.prepared.golden.queries if query.kind in by_kind
        }

    @cached_property
    def tables(self) -> Mapping[str, ScoreTable]:
        """Stage -> scores: all measures for ``final``, recall for the stages before it."""
        return {stage.name: self._table(stage) for stage in self.run.stages}

    @cached_property
    def scores(self) -> ScoreTable:
        """The scores of what the prompt gets."""
        return self.tables[self.run.final.name]

    @cached_property
    def losses(self) -> tuple[ItemLoss, ...]:
        """What became of each relevant item."""
        return find_losses(self.run, self.relevance, cuts=self.cuts)

    @cached_property
    def summary(self) -> Summary:
        """The page that reports show."""
        from assay.flows.summarise import summarise  # noqa: PLC0415 - it needs this module's noun

        return summarise(self)

    @property
    def plot(self) -> Plots:
        """The pictures of the report: ``evaluation.plot.waterfall()``."""
        from assay.flows.plots import Plots  # noqa: PLC0415 - drawings are loaded for notebooks alone

        return Plots(self)

    def _table(self, stage: StageTable) -> ScoreTable:
        return score_stage(self, stage, stage_measures(self, stage))


def evaluate(
    project: Project,
    *,
    save: bool = True,
    retriever: object | None = None,
    prepared: Prepared | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Run a project's retriever over its golden set and measure what it returned.

    Args:
        project: the project.
        save: whether the run is stored under ``.assay/runs``.
        retriever: another retriever than the project's: a function ``search(query, k)``, an object, an object
            of a framework, or a `Retriever`.
        prepared: the project's inputs, where they have been read already.
        progress: called while long work goes on.

    Raises:
        InputError: a file or a setting is wrong.
        RetrieverError: every query failed.
    """
    prepared = prepared or prepare(project)
    asked = make_retriever(prepared) if retriever is None else take_retriever(prepared, retriever)
    # A connector's list ends where it ends: there is nothing to watch.
    relevance = (
        None
        if isinstance(asked, ForeignRetriever)
        else find_relevance(prepared.golden, prepared.corpus.documents, chunk_table(prepared.chunks))
    )
    watch = (
        {query.query_id: frozenset(query.chunk_grades) for query in relevance.queries} if relevance else {}
    )
    retrieved = asked.retrieve(prepared.golden.queries, watch=watch, progress=progress)
    run = run_of(prepared, asked, prepared.golden.queries, retrieved)
    if save:
        store = RunStore(project.home / "runs")
        run = replace(run, id=store.save(run))
    else:
        run = replace(run, id=content_id(run))
    own_chunks = isinstance(asked, ReferenceRetriever)  # what was watched is what was searched
    return evaluation_of(
        prepared, run, relevance=relevance if own_chunks else None, notices=retrieved.notices
    )


def evaluation_of(
    prepared: Prepared, run: Run, *, relevance: Relevance | None = None, notices: tuple[Notice, ...] = ()
) -> Evaluation:
    """Measure a run that is there already: nothing is called, only counted.

    Args:
        prepared: the project's inputs.
        run: the run.
        relevance: what is relevant in its chunks, where that is known already.
        notices: what is to be said beside what is found here.
    """
    relevance = relevance or find_relevance(
        prepared.golden, prepared.corpus.documents, run.chunks, whole_index=whole_index(run)
    )
    evaluation = Evaluation(prepared=prepared, run=run, relevance=relevance)
    marks = judge_notices(prepared.project, prepared.golden)
    told = [*prepared.notices, *relevance.notices, *marks, *notices]
    looks = told_looks(prepared.project)
    if looks is not None:
        told.append(looks)
    if evaluation.unit != prepared.project.measure.unit:
        told.append(
            Notice(
                code="unit",
                text="anchors are counted, not chunks: the chunks of this retriever's index are not known "
                "(where the project's chunker cuts them, say whole_index = true under [retriever])",
            )
        )
    # A retriever that located its texts and the matching that tried the rest may say the same.
    return replace(evaluation, notices=tuple(dict.fromkeys(told)))


def whole_index(run: Run) -> bool:
    """Whether the chunks of a run are all that its index holds."""
    return run.meta.get("whole_index", True) is not False


def load_evaluation(project: Project, run_id: str) -> Evaluation:
    """Measure a stored run against the project's golden set as it is now.

    Raises:
        StoreError: there is no such run.
    """
    prepared = prepare(project)
    run = RunStore(project.home / "runs").load(run_id)
    notices: list[Notice] = []
    if run.golden_digest != prepared.golden.digest:
        notices.append(
            Notice(code="golden-changed", text="the golden set has changed since this run was made")
        )
    if run.corpus_digest != prepared.corpus.digest:
        notices.append(
            Notice(code="corpus-changed", text="the documents have changed since this run was made")
        )
    return evaluation_of(prepared, run, notices=tuple(notices))


def text_of(query: Query) -> str:
    """Return the words of a query, for lists."""
    return " ".join(query.text.split())
