"""``assay judge report``: a judge held against people, before its labels count.

Rooms: store (labels, ``judges.jsonl``), building (standing, parts, figures, the sample for people), stats.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.building.judge_figures import (
    Compared,
    corrected,
    figures_of,
    least_for,
    people_agreement,
    rates_over,
)
from assay.building.judge_sample import choose_for_people
from assay.building.standing import standings
from assay.flows.golden_labels import login_name, project_labels
from assay.flows.judge_licence import judge_records, licensed_judges
from assay.flows.judge_run import part_of_query
from assay.flows.judge_settings import JudgeTable, judge_table
from assay.flows.project import Project
from assay.model.errors import InputError, nearest
from assay.model.judges import PARTS, Corrected, JudgeRecord, JudgeReport, Part, ToVerify
from assay.model.labels import Candidate, Judgement, Look, Pool, Standing
from assay.model.notices import Notice, listed
from assay.stats.rates import JudgeRates
from assay.store.judges import FILE as JUDGES
from assay.store.judges import save_judge

if TYPE_CHECKING:
    from assay.store.labels.store import LabelStore, Snapshot

LOOK = "judge-test"
"""What looks at the test part are called in the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A judge's labels beside people's."""

    judge: str
    model: str
    judged: Mapping[tuple[str, str], float]
    people: Mapping[tuple[str, str], Standing]
    kind_of: Mapping[str, str]
    rows: Mapping[Part, Sequence[Compared]]


def report_judge(
    project: Project,
    *,
    judge: str | None = None,
    test: bool = False,
    ask: int = 0,
    measured: tuple[int, int] | None = None,
    by: str | None = None,
) -> JudgeReport:
    """Hold a judge against people, on the dev part of their labels, or on the test part.

    To look at the test part is recorded, in the store and in ``judges.jsonl`` beside the golden set: the same
    judge over the same labels is the same look. A judge whose two lower bounds reach the bar there is
    licensed.

    Args:
        project: the project.
        judge: the judge's name, or the beginning of one; None: the one that judged last.
        test: look at the test part.
        ask: put so many places before people next, as a pool.
        measured: a share that this judge measured (how many of how many), to be corrected for its errors.
        by: who looks; the login name by default.

    Raises:
        ConfigError: a setting is wrong.
        InputError: there is no such judge, or the measured share is none.
        StoreError: the label store cannot be read or written.
    """
    table = judge_table(project)
    if measured is not None and not 0 <= measured[0] <= measured[1] > 0:
        raise InputError(f"{measured[0]} of {measured[1]} is not a share", fix="--found 61 --of 80")
    with project_labels(project) as store:
        snapshot = store.snapshot()
        held = _held(project, table, snapshot, judge)
        part: Part = "test" if test else "dev"
        rows = held.rows[part]
        rates = rates_over(rows, relevant_from=table.relevant_from)
        notices: list[Notice] = []
        if test:
            notices += _look(project, store, held, rates, by or login_name())
        verify, pool = _for_people(project, table, store, snapshot, held, ask)
        refused = Counter(row.reason for row in store.replies(job=f"judge {held.judge}", status="refused"))
        looks = len(store.looks(what=LOOK))
    seed = project.seed
    return JudgeReport(
        judge=held.judge,
        model=held.model,
        part=part,
        bar=table.bar,
        relevant_from=table.relevant_from,
        figures=figures_of(rows, relevant_from=table.relevant_from, seed=seed),
        passes=rates.licensed(table.bar),
        licensed=held.judge in licensed_judges(project),
        least=least_for(table.bar),
        looks=looks,
        corrected=tuple(_corrected(table, held, rates, measured, seed)),
        people=people_agreement(held.people.values(), relevant_from=table.relevant_from, seed=seed),
        labelled={one: len(held.rows[one]) for one in PARTS},
        judged=len(held.judged),
        refused=dict(sorted(refused.items())),
        verify=verify,
        pool=pool,
        seed=seed,
        notices=(*notices, *_remarks(held)),
    )


def _held(project: Project, table: JudgeTable, held: Snapshot, wanted: str | None) -> _Held:
    by_judge = [row for row in held.judgements if row.origin == "judge"]
    name = _named(by_judge, wanted)
    own = [row for row in by_judge if row.by == name]
    judged = {(row.query_id, row.place): row.grade for row in own if row.grade is not None}
    people = {
        (one.query_id, one.place): one
        for one in standings((row for row in held.judgements if row.origin == "person"), held.decisions)
    }
    kind_of = {pool.query_id: pool.kind for pool in held.pools}
    kind_of |= {query.id: query.kind for query in held.queries}
    rows: dict[Part, list[Compared]] = {part: [] for part in PARTS}
    for (query_id, place), grade in sorted(judged.items()):
        standing = people.get((query_id, place))
        if standing is None or standing.grade is None:
            continue
        rows[part_of_query(project, table, query_id)].append(
            Compared(
                query_id=query_id,
                place=place,
                kind=kind_of.get(query_id, "unspecified"),
                people=standing.grade,
                judge=grade,
            )
        )
    return _Held(
        judge=name, model=own[-1].model or name, judged=judged, people=people, kind_of=kind_of, rows=rows
    )


def _named(rows: Sequence[Judgement], wanted: str | None) -> str:
    names = list(dict.fromkeys(row.by for row in reversed(rows)))
    if not names:
        raise InputError("no judge has graded anything yet", fix="assay judge run")
    if wanted is None:
        return names[0]
    found = [name for name in names if name == wanted] or [name for name in names if name.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{wanted!r} could be {listed(found)}", fix="write more of the name")
    near = nearest(wanted, names)
    fix = f"did you mean {near!r}?" if near else f"known are {listed(names)}"
    raise InputError(f"there is no judge {wanted!r}", fix=fix)


def _look(project: Project, store: LabelStore, held: _Held, rates: JudgeRates, by: str) -> list[Notice]:
    """Record a look at the test part, and say how many there have been."""
    rows = held.rows["test"]
    seen = [[row.query_id, row.place, row.people, row.judge] for row in rows]
    digest = hashlib.sha256(json.dumps([held.judge, seen]).encode()).hexdigest()[:16]
    earlier = store.looks(what=LOOK)
    same = any(one.of == digest for one in earlier)
    tpr, tnr = rates.true_positive, rates.true_negative
    counts = {
        "positives": tpr.n,
        "true_positives": tpr.hits,
        "negatives": tnr.n,
        "true_negatives": tnr.hits,
    }
    if not same and rows:
        store.add_look(Look(what=LOOK, of=digest, by=by, facts={"judge": held.judge, **counts}))
    known = judge_records(project).get(held.judge)
    if rows and (known is None or known.labels != digest):
        record = JudgeRecord(
            judge=held.judge,
            model=held.model,
            labels=digest,
            looks=len(earlier) + (not same),
            by=by,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            **counts,
        )
        save_judge(project.golden_path.with_name(JUDGES), record)
    others = len(earlier) - same
    if not others:
        return []
    times = "once" if others == 1 else f"{others} times"
    text = (
        f"the test part had been looked at {times} before: what was changed after a look is no longer tested "
        "by it; label new queries for a fresh test"
    )
    return [Notice(code="test-looks", text=text)]


def _corrected(
    table: JudgeTable, held: _Held, rates: JudgeRates, measured: tuple[int, int] | None, seed: int
) -> list[Corrected]:
    yes = sum(grade >= table.relevant_from for grade in held.judged.values())
    found = [corrected("judged places that are relevant", yes, len(held.judged), rates, seed=seed)]
    if measured is not None:
        found.append(corrected("the measured recall", *measured, rates, seed=seed))
    return found


def _for_people(
    project: Project,
    table: JudgeTable,
    store: LabelStore,
    snapshot: Snapshot,
    held: _Held,
    count: int,
) -> tuple[tuple[ToVerify, ...], str | None]:
    """Choose what people should look at next, and put it into a pool of its own."""
    if count < 1:
        return (), None
    waiting = {
        (pool.query_id, candidate.place)
        for pool in snapshot.pools
        if pool.name.startswith("verify ")
        for candidate in pool.candidates
    }
    open_ = [
        row
        for row in snapshot.judgements
        if row.origin == "judge"
        and (row.query_id, row.place) in held.judged
        and (row.query_id, row.place) not in held.people
        and (row.query_id, row.place) not in waiting
    ]
    chosen = choose_for_people(
        open_, held.kind_of, count=count, relevant_from=table.relevant_from, seed=project.seed
    )
    shown = {
        (pool.query_id, candidate.place): (pool, candidate)
        for pool in snapshot.pools
        for candidate in pool.candidates
    }
    by_query: dict[str, list[Candidate]] = defaultdict(list)
    pools: dict[str, Pool] = {}
    for one in chosen:
        pool, candidate = shown[one.query_id, one.place]
        pools[one.query_id] = pool
        by_query[one.query_id].append(replace(candidate, ranks={}))
    name = f"verify {held.judge} {len(waiting) + 1}"
    store.add_pools(
        [
            Pool(
                id=hashlib.sha256(f"{name}|{query_id}".encode()).hexdigest()[:32],
                name=name,
                query_id=query_id,
                query=pools[query_id].query,
                kind=pools[query_id].kind,
                candidates=tuple(sorted(candidates, key=lambda one: _shuffled(project.seed, one.place))),
                seed=project.seed,
                by=held.judge,
            )
            for query_id, candidates in sorted(by_query.items())
        ]
    )
    return chosen, name if chosen else None


def _shuffled(seed: int, place: str) -> str:
    """A place in an order that says nothing of why it is shown."""
    return hashlib.sha256(f"{seed}|{place}".encode("utf-8", "surrogatepass")).hexdigest()


def _remarks(held: _Held) -> list[Notice]:
    conflicts = tuple(f"{one.query_id} {one.place}" for one in held.people.values() if one.conflict)
    if not conflicts:
        return []
    text = f"{len(conflicts)} places are in dispute among people, and left out: {listed(conflicts)}"
    return [Notice(code="label-conflicts", text=text, ids=conflicts)]
