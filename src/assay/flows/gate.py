"""``assay gate``: hold a run against the project's gates, and write baselines.

``assay.toml [gate] -> gates``; ``Evaluation -> ScoreTables -> GateReport``. Rooms: comparison (gates,
baselines, the paired test), measures (figures that a gate names and the project does not).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.comparison.baseline import load_baseline, make_baseline, save_baseline
from assay.comparison.gate import check_gates, parse_gates
from assay.comparison.measured import column_of
from assay.comparison.paired import compare_tables
from assay.flows.evaluate import Evaluation, Progress, evaluate, load_evaluation
from assay.flows.project import FILE, Project
from assay.flows.scoring import cut_columns, score_stage
from assay.model.comparison import Comparison
from assay.model.errors import ConfigError, Fault
from assay.model.gates import Baseline, Gate, GateReport
from assay.model.scores import ScoreTable

BASELINE = "baselines/main.json"
"""Where the baseline stands when ``[gate] baseline`` does not say; its name is the file's."""


@dataclass(frozen=True, kw_only=True)
class Gated:
    """A measured run and how its gates did."""

    evaluation: Evaluation
    report: GateReport
    comparison: Comparison | None
    """The final list against the baseline; None without one."""


@dataclass(frozen=True, kw_only=True)
class Updated:
    """A baseline that was written."""

    path: Path
    baseline: Baseline
    comparison: Comparison | None
    """Against the baseline that stood there; None when there was none, or no query in common."""


def gate(
    project: Project,
    *,
    run: str | None = None,
    baseline: Path | None = None,
    progress: Progress | None = None,
) -> Gated:
    """Measure a project and hold it against its gates.

    Args:
        project: the project; its ``[gate]`` table holds the gates.
        run: a stored run to hold against them; None: the retriever is run now.
        baseline: the baseline's file; None: that of ``[gate] baseline``, or ``baselines/main.json``.
        progress: called while long work goes on.

    Raises:
        ConfigError: the gates cannot be read, or there is none.
        InputError: an input is wrong, or a baseline that was named is not there.
        StoreError: there is no such run.
    """
    gates = project_gates(project)
    named, path = baseline_path(project, baseline)
    held = load_baseline(path) if named or path.is_file() else None
    evaluation = _evaluation(project, run, progress)
    report = gate_evaluation(evaluation, gates, held)
    return Gated(evaluation=evaluation, report=report, comparison=_against(evaluation, gates, held))


def gate_evaluation(
    evaluation: Evaluation, gates: Sequence[Gate], baseline: Baseline | None = None
) -> GateReport:
    """Hold a measured run against gates."""
    run = evaluation.run
    return check_gates(
        gates,
        gate_tables(evaluation, gates),
        baseline,
        final=run.final.name,
        errors={run.query_ids[place]: why for place, why in run.final.errors.items()},
        run=run.id,
        seed=evaluation.project.seed,
    )


def update_baseline(
    project: Project,
    *,
    run: str | None = None,
    baseline: Path | None = None,
    progress: Progress | None = None,
) -> Updated:
    """Write the baseline of a project from a run, and say how it differs from the one that stood there.

    Args:
        project: the project.
        run: a stored run; None: the retriever is run now.
        baseline: the file to write; None: that of ``[gate] baseline``, or ``baselines/main.json``.
        progress: called while long work goes on.

    Raises:
        InputError: an input is wrong.
        StoreError: there is no such run, or the file cannot be written.
    """
    gates = _read_gates(project)
    _, path = baseline_path(project, baseline)
    before = load_baseline(path) if path.is_file() else None
    evaluation = _evaluation(project, run, progress)
    final = evaluation.run.final.name
    guarded = {final, *(one.stage for one in gates if one.stage is not None)}
    made = make_baseline(
        {name: table for name, table in gate_tables(evaluation, gates).items() if name in guarded},
        name=path.stem,
        run=evaluation.run.id,
        digests={
            "golden": evaluation.run.golden_digest,
            "corpus": evaluation.run.corpus_digest,
            "pipeline": evaluation.run.pipeline_digest,
        },
    )
    save_baseline(path, made)
    return Updated(path=path, baseline=made, comparison=_against(evaluation, gates, before))


def project_gates(project: Project) -> tuple[Gate, ...]:
    """Return the gates of a project.

    Raises:
        ConfigError: they cannot be read (all faults), or there is none.
    """
    gates = _read_gates(project)
    if not gates:
        raise ConfigError(
            Fault(where=f"{FILE} [gate]", what="holds no gate", fix='add one: "recall@10" = ">= 0.70"')
        )
    return gates


def baseline_path(project: Project, given: Path | None = None) -> tuple[bool, Path]:
    """Return whether somebody named a baseline, and its path."""
    if given is not None:
        return True, given
    named = project.gate.get("baseline")
    if named is not None and not isinstance(named, str):
        raise ConfigError(
            Fault(where=f"{FILE} [gate] baseline", what=f"should be the path of a file, not {named!r}")
        )
    return False, project.folder / (named or BASELINE)


def gate_tables(evaluation: Evaluation, gates: Sequence[Gate]) -> dict[str, ScoreTable]:
    """Return the scores of every stage, with the measures that the gates name added where they lack."""
    tables = dict(evaluation.tables)
    for one in gates:
        name = one.stage or evaluation.run.final.name
        stage, table = evaluation.run.stage(name), tables.get(name)
        if stage is None or table is None or column_of(one.measure, table) is not None:
            continue
        more = score_stage(evaluation, stage, cut_columns(evaluation, [one.measure]))
        tables[name] = replace(
            table,
            values={**table.values, **more.values},
            ceilings={**table.ceilings, **more.ceilings},
        )
    return tables


def _read_gates(project: Project) -> tuple[Gate, ...]:
    table: Mapping[str, object] = {key: rule for key, rule in project.gate.items() if key != "baseline"}
    return parse_gates(table, where=f"{FILE} [gate]")


def _evaluation(project: Project, run: str | None, progress: Progress | None) -> Evaluation:
    return evaluate(project, progress=progress) if run is None else load_evaluation(project, run)


def _against(evaluation: Evaluation, gates: Sequence[Gate], baseline: Baseline | None) -> Comparison | None:
    """Compare the final list with the baseline in the measures that gates name; else in all."""
    if baseline is None:
        return None
    name = evaluation.run.final.name
    before, now = baseline.tables.get(name), gate_tables(evaluation, gates)[name]
    if before is None or not set(before.query_ids) & set(now.query_ids):
        return None
    shared = [measure for measure in now.measures if measure in before.values]
    guarded = {column_of(one.measure, now) for one in gates if one.stage in (None, name)}
    chosen = [measure for measure in shared if measure in guarded] or shared
    if not chosen:
        return None
    return compare_tables(
        before,
        now,
        chosen,
        seed=evaluation.project.seed,
        names=(f"baseline {baseline.name}", f"run {evaluation.run.id}"),
    )
