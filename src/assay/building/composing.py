"""The golden set as the label store says it is: edited queries, and the grades of places, together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.model.golden import Provenance, Query
from assay.model.judges import judges_of
from assay.model.labels import Decision, Pool, Standing
from assay.model.notices import Notice, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The set, and what was left out of it."""

    queries: tuple[Query, ...]
    """Sorted by id."""
    conflicts: tuple[Standing, ...]
    """Places about which people disagree; they are in no label until somebody settles them."""
    unlicensed: tuple[Standing, ...]
    """Places that would be labels, but for the licence that their judge lacks."""
    notices: tuple[Notice, ...]


def compose(
    queries: Sequence[Query],
    *,
    pools: Iterable[Pool] = (),
    standings: Sequence[Standing] = (),
    decisions: Iterable[Decision] = (),
    licensed: Collection[str] | None = None,
) -> Composed:
    """Put the set together.

    A query with anchors keeps them: they say more precisely what the grades of its candidates say. A query
    without takes the grades as labels by place. A query that was only pooled enters once it is labelled, or
    once somebody has said that the corpus holds no answer.

    Args:
        queries: the queries as edited.
        pools: where queries that were only pooled come from.
        standings: what is known of each place.
        decisions: those that stand, for queries without an answer.
        licensed: the judges whose labels count; None: all of them, licensed or not.
    """
    by_query: dict[str, list[Standing]] = defaultdict(list)
    for one in standings:
        by_query[one.query_id].append(one)
    made = {query.id: query for query in queries}
    unanswerable = {one.subject for one in decisions if one.verdict == "unanswerable"}
    for pool in pools:
        graded = any(_counts(one, licensed) for one in by_query[pool.query_id])
        if pool.query_id not in made and (graded or pool.query_id in unanswerable):
            made[pool.query_id] = _pooled(pool, answerable=graded or pool.query_id not in unanswerable)
    beside: list[str] = []
    for query_id, query in made.items():
        rows = by_query[query_id]
        if query.anchors:
            beside += [query_id] if any(one.grade and one.grade > 0 for one in rows) else []
        elif rows:
            made[query_id] = _labelled(query, rows, licensed)
    conflicts = tuple(one for one in standings if one.conflict)
    unlicensed = tuple(
        one
        for one in standings
        if one.automatic
        and not _counts(one, licensed)
        and not (one.query_id in made and made[one.query_id].anchors)
    )
    return Composed(
        queries=tuple(made[query_id] for query_id in sorted(made)),
        conflicts=conflicts,
        unlicensed=unlicensed,
        notices=tuple(_notices(conflicts, unlicensed, beside)),
    )


def _pooled(pool: Pool, *, answerable: bool) -> Query:
    return Query(
        id=pool.query_id,
        text=pool.query,
        kind=pool.kind,
        answerable=answerable,
        provenance=Provenance(origin="log", source=pool.name),
    )


def _labelled(query: Query, rows: Sequence[Standing], licensed: Collection[str] | None) -> Query:
    labels = dict(query.labels)
    people: set[str] = set(judges_of(query.provenance.verified_by))
    judges: set[str] = set()
    for one in rows:
        grade = _grade(one, licensed)
        if one.settled_by is not None and grade is None:
            labels.pop(one.place, None)
        if grade is None:
            continue
        labels[one.place] = grade
        if one.automatic:
            judges |= {name for name in one.judges if licensed is None or name in licensed}
        else:
            people |= {one.settled_by} if one.settled_by is not None else set(one.people)
    provenance = replace(
        query.provenance,
        verified_by=", ".join(sorted(people)) or None,
        judged_by=", ".join(sorted(judges)) or None,
    )
    relevant = any(grade > 0 for grade in labels.values())
    return replace(query, labels=labels, provenance=provenance, answerable=query.answerable or relevant)


def _grade(one: Standing, licensed: Collection[str] | None) -> float | None:
    if not one.automatic or licensed is None:
        return one.grade
    said: Mapping[str, float] = {name: grade for name, grade in one.judges.items() if name in licensed}
    grades = set(said.values())
    return grades.pop() if len(grades) == 1 else None


def _counts(one: Standing, licensed: Collection[str] | None) -> bool:
    return _grade(one, licensed) is not None


def _notices(
    conflicts: Sequence[Standing], unlicensed: Sequence[Standing], beside: Sequence[str]
) -> Iterable[Notice]:
    if conflicts:
        places = tuple(f"{one.query_id} {one.place}" for one in conflicts)
        text = (
            f"{len(places)} places are in dispute, and in no label until they are settled: {listed(places)}"
        )
        yield Notice(code="label-conflicts", text=text, ids=places)
    if unlicensed:
        judges = sorted({name for one in unlicensed for name in one.judges})
        text = (
            f"{len(unlicensed)} labels of judges without a licence were left out ({listed(judges)}): "
            "assay judge report says what is missing"
        )
        yield Notice(code="unvalidated-judge", text=text, ids=tuple(judges))
    if beside:
        text = f"{len(beside)} queries have anchors, which count in place of their labels: {listed(beside)}"
        yield Notice(code="anchors-before-labels", text=text, ids=tuple(beside))
