"""``assay sweep``: turn the knobs, all of them, and say what each is worth without fooling oneself.

``plan -> jobs -> workers (chunk, index, search and score once what is shared) -> rows -> effects, fronts,
shrinkage``. Rooms: retrieval (pipeline, cache, workers), comparison (effects, selection), store (the folder
of the sweep), stats (intervals).

The folder ``.assay/sweeps/ID`` keeps each measured configuration as soon as it is there: a sweep that was
killed goes on where it was, and ends with the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assay._version import __version__
from assay.flows.looks import HELDOUT, told_looks
from assay.flows.prepare import load_corpus
from assay.flows.project import HOME, Project
from assay.flows.rerun import chunker_key
from assay.flows.sweep_final import final_look
from assay.flows.sweep_plan import Plan
from assay.flows.sweep_result import gather
from assay.flows.sweep_work import (
    Job,
    Material,
    budget_column,
    first_stage_key,
    start_session,
)
from assay.model.errors import ConfigError, Fault, InputError
from assay.model.golden import GoldenSet, Query
from assay.model.notices import Notice
from assay.model.sweep import Configuration, SweepResult
from assay.retrieval.settings import digest
from assay.retrieval.workers import OneProcess, Processes, Task, Workers
from assay.store.golden import load_golden_lines
from assay.store.sweeps import Record, SweepLog

Progress = Callable[[str, int, int], None]
SWEEPS = "sweeps"
_UNREADABLE = ("",)
_FORM = 1
"""Raised when what is kept changes its meaning, so that old folders are left alone."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a sweep has measured, before anything is concluded from it."""

    plan: Plan
    material: Material
    query_ids: tuple[str, ...]
    """The queries that it tunes on, in the order in which rounds take them."""
    split: str | None
    target: str
    records: Mapping[int, tuple[Record, ...]]
    """Number of a configuration -> its record of each round that it was in."""
    rounds: tuple[tuple[int, int], ...]
    id: str
    folder: Path
    notices: tuple[Notice, ...]


def sweep(
    project: Project,
    plan: Plan,
    *,
    workers: Workers | None = None,
    final: bool = False,
    progress: Progress | None = None,
) -> SweepResult:
    """Measure every configuration of a plan, and conclude.

    The results are the same whatever the workers are, however often the sweep was stopped; only times differ.

    Args:
        project: the project.
        plan: what is tried; see ``load_plan``.
        workers: where it runs; by default in this process.
        final: score the winner once on the held-out queries, and write the look down.
        progress: told how many measurements are done, of how many.

    Raises:
        InputError: a file or a setting is wrong, no configuration can run, or ``final`` has no held-out
            queries.
        WorkerError: a worker failed; what was measured before is kept.
    """
    golden = load_golden_lines(
        project.golden_path, kinds=project.golden.kinds, name=project.golden.name or project.golden_path.stem
    )
    if final and not any(query.split == HELDOUT for query in golden.golden.queries):
        raise InputError(
            "--final needs held-out queries, and the golden set has none",
            fix="assay golden split marks queries as dev and heldout; then sweep again",
        )
    split, queries = _tuned_on(golden.golden, plan)
    order = balanced(queries, plan.table.seed)
    target = _target(project, plan)
    material = Material(
        project=project,
        corpus=load_corpus(project),
        golden=golden.golden,
        lines=golden.lines,
        cache=project.home / "cache",
        cut="k" if plan.varies("k") else None,
        timed=_timed(order, plan.table.timed),
    )
    whole = _identity(project, plan, material, order, target)
    name = digest(whole)[:12]
    folder = project.home / SWEEPS / name
    log = SweepLog(folder, whole)
    try:
        records, rounds = _Rounds(plan, material, order, target, log, workers or OneProcess(), progress).run()
        found = Measured(
            plan=plan,
            material=material,
            query_ids=tuple(order),
            split=split,
            target=target,
            records=records,
            rounds=rounds,
            id=name,
            folder=Path(HOME) / SWEEPS / name,
            notices=(*golden.notices, *material.corpus.notices),
        )
        result = gather(found)
        if final or (folder / "final.json").is_file():
            result = final_look(found, result, folder)
    finally:
        log.close()
    looks = told_looks(project)
    return replace(result, notices=(*result.notices, *([] if looks is None else [looks])))


def balanced(queries: Sequence[Query], seed: int) -> list[str]:
    """Return query ids in a seeded order of which every beginning holds the kinds in their proportions.

    >>> kinds = [Query(id=f"{kind}{n}", text="", kind=kind) for kind in "ab" for n in range(2)]
    >>> sorted(balanced(kinds, seed=0)[:2])[0][0], sorted(balanced(kinds, seed=0)[:2])[1][0]
    ('a', 'b')
    """
    rng = np.random.default_rng(seed)
    by_kind: dict[str, list[str]] = {}
    for query in sorted(queries, key=lambda one: one.id):
        by_kind.setdefault(query.kind, []).append(query.id)
    placed: list[tuple[float, str]] = []
    for kind in sorted(by_kind):
        places: list[int] = rng.permutation(len(by_kind[kind])).tolist()
        mixed = [by_kind[kind][at] for at in places]
        placed += [((at + 0.5) / len(mixed), query) for at, query in enumerate(mixed)]
    return [query for _, query in sorted(placed)]


class _Rounds:
    """Runs a plan: one round, or for halving several, each with fewer configurations and more queries."""

    def __init__(
        self,
        plan: Plan,
        material: Material,
        order: Sequence[str],
        target: str,
        log: SweepLog,
        workers: Workers,
        progress: Progress | None,
    ) -> None:
        self.plan = plan
        self.material = material
        self.order = order
        self.target = target
        self.log = log
        self.workers = workers
        self.progress = progress

    def run(self) -> tuple[dict[int, tuple[Record, ...]], tuple[tuple[int, int], ...]]:
        field: list[Configuration] = list(self.plan.configurations)
        sizes = rounds_of(self.plan, len(self.order))
        found: dict[int, list[Record]] = {}
        rounds: list[tuple[int, int]] = []
        asked = 0
        for at, (keep, queries) in enumerate(sizes):
            field = self._best(field, found, keep) if at else field
            last = at == len(sizes) - 1
            some = tuple(self.order[asked:queries])
            for number, record in self._round(field, at, some, last=last).items():
                found.setdefault(number, []).append(record)
            field = [one for one in field if found[one.number][-1].why is None]
            if not field:
                raise ConfigError(_no_one(self.plan, found))
            rounds.append((len(field), queries))
            asked = queries
        return {number: tuple(records) for number, records in found.items()}, tuple(rounds)

    def _round(
        self, field: Sequence[Configuration], at: int, queries: tuple[str, ...], *, last: bool
    ) -> dict[int, Record]:
        jobs = [
            Job(number=one.number, round=at, changes=one.changes, query_ids=queries, timed=last)
            for one in field
        ]
        keys = {job.number: digest(dict(job.changes), list(queries), at, last) for job in jobs}
        done = {number: self.log.records[key] for number, key in keys.items() if key in self.log.records}
        what = "sweeping" if self.plan.method != "halving" else f"round {at + 1}"
        if self.progress is not None:
            self.progress(what, len(done), len(jobs))
        tasks = self._tasks([job for job in jobs if job.number not in done])
        left = [task.work for task in tasks]
        self._embed([task for task in tasks if task.affinity != _UNREADABLE])
        for place, record in self.workers.run(start_session, self.material, tasks):
            if record.why is None:  # else it is tried again: what was missing may be there then
                self.log.append(keys[left[place].number], record)
            done[record.number] = record
            if self.progress is not None:
                self.progress(what, len(done), len(jobs))
        return {job.number: done[job.number] for job in jobs}

    def _embed(self, tasks: Sequence[Task[Job]]) -> None:
        """Let all processes embed together where there are fewer chunkers than processes.

        Else one would embed while the others wait for it: each chunker's vectors are made once.
        """
        workers = self.workers
        if not isinstance(workers, Processes) or not tasks:
            return
        if len({task.affinity[0] for task in tasks}) >= workers.count:
            return
        session = start_session(self.material)
        for task in {task.affinity: task for task in tasks}.values():
            session.embed(task.work, workers, self.progress)

    def _tasks(self, jobs: Sequence[Job]) -> list[Task[Job]]:
        """Put jobs into the order in which a single process does them: alike ones stand together."""
        tasks: list[Task[Job]] = []
        for job in jobs:
            try:
                project = self.material.project.with_settings(dict(job.changes))
                affinity = chunker_key(project), first_stage_key(project)
            except ConfigError:
                affinity = _UNREADABLE  # the worker says what is wrong with it
            tasks.append(Task(work=job, affinity=affinity))
        place = {key: at for at, key in reversed(list(enumerate(task.affinity for task in tasks)))}
        group = {key: at for at, key in reversed(list(enumerate(task.affinity[0] for task in tasks)))}
        return sorted(
            tasks, key=lambda task: (group[task.affinity[0]], place[task.affinity], task.work.number)
        )

    def _best(
        self, field: Sequence[Configuration], found: Mapping[int, Sequence[Record]], keep: int
    ) -> list[Configuration]:
        def merit(one: Configuration) -> tuple[float, int]:
            values = np.concatenate([record.values[self.target] for record in found[one.number]])
            held = values[~np.isnan(values)]
            return -round(float(held.mean()) if len(held) else 0.0, 12), one.number

        kept = {one.number for one in sorted(field, key=merit)[:keep]}
        return [one for one in field if one.number in kept]


def rounds_of(plan: Plan, queries: int) -> list[tuple[int, int]]:
    """Return (configurations, queries) of each round; one round with everything unless it is halving.

    Each round keeps a third (``halving.keep``) of the configurations and asks three times as many queries;
    the last asks all, and has two configurations or more.
    """
    count = len(plan.configurations)
    if plan.method != "halving":
        return [(count, queries)]
    keep, fewest = plan.table.halving.keep, min(plan.table.halving.fewest, queries)
    sizes = [(count, queries)]
    while sizes[0][1] * keep >= fewest and round(sizes[-1][0] * keep) >= 2:
        sizes = [(one, max(fewest, round(asked * keep))) for one, asked in sizes]
        sizes.append((max(2, round(sizes[-1][0] * keep)), queries))
    return sizes


def _no_one(plan: Plan, found: Mapping[int, Sequence[Record]]) -> list[Fault]:
    reasons: dict[str, Configuration] = {}
    for one in plan.configurations:
        why = found[one.number][-1].why if one.number in found else None
        if why is not None:
            reasons.setdefault(why, one)
    return [Fault(where=one.name, what=why, fix="no configuration can run") for why, one in reasons.items()]


def _tuned_on(golden: GoldenSet, plan: Plan) -> tuple[str | None, list[Query]]:
    """Return the queries with something to find, of the dev split where there is one."""
    labelled = [query for query in golden.queries if query.anchors or query.labels]
    wanted = plan.table.split
    splits = {query.split for query in labelled}
    if wanted == "dev" and "dev" not in splits:
        raise InputError("the golden set has no dev queries", fix="assay golden split, or --split all")
    if wanted != "all" and "dev" in splits:
        return "dev", [query for query in labelled if query.split == "dev"]
    if wanted != "all" and HELDOUT in splits:
        # Held-out queries stay out, also where the others are not marked.
        labelled = [query for query in labelled if query.split != HELDOUT]
        return "dev", labelled
    if not labelled:
        raise InputError("no query of the golden set has anything to find", fix="add anchors to its queries")
    return None, labelled


def _target(project: Project, plan: Plan) -> str:
    if plan.table.measure is not None:
        return plan.table.measure
    budgets = sorted(project.measure.budgets)
    if plan.varies("chunker") and budgets:
        return budget_column(budgets[len(budgets) // 2])
    from assay.flows.scoring import headline_measures  # noqa: PLC0415

    first = str(headline_measures(project.measure.names[:1], project.k)[0])
    return f"{first.rpartition('@')[0]}@k" if plan.varies("k") and first.endswith(f"@{project.k}") else first


def _timed(order: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the queries to time, after one that warms up."""
    return () if not count else (order[-1], *order[:count])


def _identity(
    project: Project, plan: Plan, material: Material, order: Sequence[str], target: str
) -> dict[str, object]:
    """Return all that the results depend on."""
    raw = {key: project.raw.get(key) for key in ("k", "seed", "chunker", "pipeline", "retriever", "measure")}
    return {
        "form": _FORM,
        "assay": __version__,
        "project": raw,
        "corpus": material.corpus.digest,
        "golden": material.golden.digest,
        "target": target,
        "queries": digest(list(order)),
        "plan": plan.plain,
    }
