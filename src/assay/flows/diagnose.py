"""``assay diagnose``: where each miss was lost, why, and which fix brings it back.

``Run + GoldenSet -> Relevance -> losses -> rules -> Findings, beside what people said -> trials``.
Rooms: store (runs, traces, decisions), matching (through ``evaluate``), diagnosis (losses, rules, waterfall).
Stored traces are enough: without trials, no engine is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.diagnosis.cases import Library
from assay.diagnosis.findings import agreement, apply_decisions, distribution, find_findings
from assay.diagnosis.losses import find_losses
from assay.diagnosis.settings import DiagnosisSettings, read_diagnosis
from assay.diagnosis.waterfall import waterfalls
from assay.diagnosis.windows import hidden_anchors, signs_read, window_of
from assay.flows.evaluate import Evaluation, evaluate, evaluation_of, load_evaluation
from assay.flows.prepare import prepare
from assay.flows.project import FILE, Project, check_project
from assay.matching import locate_texts
from assay.model.errors import InputError
from assay.model.findings import Decision, Diagnosis, Finding, ItemLoss
from assay.model.notices import Notice
from assay.model.runs import Run
from assay.model.showing import Showable
from assay.store.findings import FILE as DECISIONS
from assay.store.findings import load_decisions, save_decisions
from assay.store.run_tables import content_id
from assay.store.runs import RunStore
from assay.store.traces import read_traces

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Diagnosed(Showable):
    """A diagnosis, and what it stands on: for a review, and for reports that show passages."""

    evaluation: Evaluation
    diagnosis: Diagnosis
    settings: DiagnosisSettings


def diagnose(
    project: Project,
    run_id: str | None = None,
    *,
    traces: Path | None = None,
    trials: bool = False,
    slow: bool = False,
    progress: Progress | None = None,
) -> Diagnosed:
    """Diagnose a stored run, a file of traces, or the project as it is.

    Args:
        project: the project.
        run_id: a stored run; None: the latest, or a new one where none is stored.
        traces: a file of traces in place of a stored run.
        trials: whether fixes are tried.
        slow: whether embedders are tried that take minutes on this corpus.
        progress: called while long work goes on.

    Raises:
        InputError: a file or a setting is wrong.
        StoreError: there is no such run.
    """
    check_project(project)
    settings = read_diagnosis(project.diagnosis, folder=project.folder, where=f"{FILE} [diagnosis]")
    if traces is not None:
        if run_id is not None:
            raise InputError("a run and a file of traces were given", fix="leave one of them out")
        evaluation = trace_evaluation(project, traces)
    elif run_id is not None or RunStore(project.home / "runs").list():
        evaluation = load_evaluation(project, run_id or "latest")
    else:
        evaluation = evaluate(project, progress=progress)
    return diagnose_evaluation(evaluation, settings=settings, trials=trials, slow=slow, progress=progress)


def diagnose_evaluation(
    evaluation: Evaluation,
    *,
    settings: DiagnosisSettings | None = None,
    trials: bool = False,
    slow: bool = False,
    progress: Progress | None = None,
) -> Diagnosed:
    """Diagnose a run that is measured already.

    Args:
        evaluation: the measured run.
        settings: what ``[diagnosis]`` says; read from the project by default.
        trials: whether fixes are tried.
        slow: whether embedders are tried that take minutes on this corpus.
        progress: called while trials go on.
    """
    project, golden = evaluation.project, evaluation.prepared.golden
    settings = settings or read_diagnosis(
        project.diagnosis, folder=project.folder, where=f"{FILE} [diagnosis]"
    )
    losses = _losses(evaluation)
    library = Library(
        evaluation.run,
        evaluation.relevance,
        golden,
        evaluation.prepared.corpus.documents,
        {chunk.id: chunk.context for chunk in evaluation.prepared.chunks if chunk.context},
    )
    found = find_findings(losses, library, cuts=evaluation.cuts, rules=settings.rules)
    decisions = load_decisions(decisions_path(project))
    findings = apply_decisions(found, decisions, fix_of=settings.fix_of)
    kind_of = {query.id: query.kind for query in golden.queries}
    diagnosis = Diagnosis(
        run_id=evaluation.run.id,
        name=project.name,
        golden_name=golden.name,
        k=evaluation.run.k,
        queries=len({loss.query_id for loss in losses}),
        findings=findings,
        waterfall=waterfalls(losses, kind_of, kinds=golden.all_kinds),
        proposed_kinds=distribution((one.proposed for one in findings), settings.kinds),
        confirmed_kinds=_confirmed(findings, settings.kinds),
        agreement=agreement(findings),
        tried=trials,
        seed=project.seed,
        notices=(*evaluation.notices, *_notices(findings, decisions)),
    )
    if trials:
        from assay.flows.trials import run_trials  # noqa: PLC0415 - the pipeline is loaded for trials alone

        tried = run_trials(evaluation, findings, own=settings.fixes, slow=slow, progress=progress)
        diagnosis = replace(
            diagnosis,
            trials=tried.trials,
            remedies=tried.remedies,
            proposal=tried.proposal,
            notices=(*diagnosis.notices, *tried.notices),
        )
    return Diagnosed(evaluation=evaluation, diagnosis=diagnosis, settings=settings)


def trace_evaluation(project: Project, path: Path) -> Evaluation:
    """Measure a file of traces: the form of ``docs/schemas/traces.schema.json``, or exported spans.

    Raises:
        InputError: the file has faults, or speaks of no query of the golden set.
    """
    prepared = prepare(project)
    foreign = read_traces(
        path, prepared.golden, frozenset(document.id for document in prepared.corpus.documents)
    )
    chunks, located = locate_texts(foreign.retrieved.chunks, prepared.corpus.documents)
    run = Run(
        id="",
        name=foreign.name,
        pipeline={"summary": f"traces of {foreign.name}"},
        pipeline_digest="",
        golden_digest=prepared.golden.digest,
        corpus_digest=prepared.corpus.digest,
        k=foreign.k or project.k,
        query_ids=foreign.query_ids,
        chunks=chunks,
        stages=foreign.retrieved.stages,
        seed=project.seed,
        meta={**foreign.meta, "whole_index": False},
    )
    run = replace(run, id=content_id(run))
    return evaluation_of(prepared, run, notices=(*foreign.retrieved.notices, *located))


def decisions_path(project: Project) -> Path:
    """Return where the decisions of a project's golden set are kept: beside it."""
    return project.golden_path.with_name(DECISIONS)


def decide(
    diagnosed: Diagnosed, decisions: Sequence[Decision], *, removed: Sequence[Decision] = ()
) -> Diagnosed:
    """Keep what people said, and return the diagnosis with it.

    Raises:
        StoreError: the file beside the golden set cannot be written.
    """
    project = diagnosed.evaluation.project
    held = save_decisions(decisions_path(project), decisions, removed=[one.key for one in removed])
    before = diagnosed.diagnosis
    proposed = [
        replace(
            one,
            kind=one.proposed,
            status="proposed",
            by=None,
            when=None,
            note=None,
            stale=False,
        )
        for one in before.findings
    ]
    findings = apply_decisions(proposed, held, fix_of=diagnosed.settings.fix_of)
    after = replace(
        before,
        findings=findings,
        confirmed_kinds=_confirmed(findings, diagnosed.settings.kinds),
        agreement=agreement(findings),
    )
    return replace(diagnosed, diagnosis=after)


def _losses(evaluation: Evaluation) -> tuple[ItemLoss, ...]:
    """Return the losses of a run; where it says what its reranker reads, with what that could not see."""
    if window_of(evaluation.run) is None and signs_read(evaluation.run) is None:
        return evaluation.losses
    prepared = evaluation.prepared
    hidden = hidden_anchors(
        evaluation.run,
        evaluation.relevance,
        texts={document.id: document.text for document in prepared.corpus.documents},
        queries={query.id: query.text for query in prepared.golden.queries},
        contexts={chunk.id: chunk.context for chunk in prepared.chunks if chunk.context},
    )
    return find_losses(evaluation.run, evaluation.relevance, cuts=evaluation.cuts, hidden=hidden)


def _confirmed(findings: Sequence[Finding], kinds: Sequence[str]) -> dict[str, int]:
    return distribution((one.kind for one in findings if one.status != "proposed"), kinds)


def _notices(findings: Sequence[Finding], decisions: Sequence[Decision]) -> tuple[Notice, ...]:
    notices: list[Notice] = []
    stale = tuple(one.query_id for one in findings if one.stale)
    if stale:
        text = f"{len(stale)} decisions are stale: the trace has changed since (assay diagnose --review)"
        notices.append(Notice(code="stale-decisions", text=text, ids=stale))
    missed = {(one.query_id, one.item) for one in findings}
    back = tuple(one.query_id for one in decisions if (one.query_id, one.item) not in missed)
    if back:
        text = f"{len(back)} decisions are of items that are no longer missed; they are kept"
        notices.append(Notice(code="resolved-decisions", text=text, ids=back))
    return tuple(notices)
