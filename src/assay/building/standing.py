"""From appended judgements to what is known of each place: who said what, and which grade counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.model.labels import Decision, Judgement, Standing, settling


def standings(judgements: Iterable[Judgement], decisions: Iterable[Decision] = ()) -> tuple[Standing, ...]:
    """Return what is known of each place of each query, sorted by query and place.

    Of each labeller the latest grade counts; ``None`` takes it away. People come before judges. Where people
    disagree there is no grade until somebody settles it; what was settled stands, also as "no grade".

    Args:
        judgements: those that stand (nothing taken back), in the order in which they were appended.
        decisions: those that stand.

    >>> ada = Judgement(query_id="q1", doc_id="a.md", start=0, end=9, grade=1.0, by="ada")
    >>> bob = Judgement(query_id="q1", doc_id="a.md", start=0, end=9, grade=0.0, by="bob")
    >>> (one,) = standings([ada, bob])
    >>> one.grade, one.conflict, dict(one.people)
    (None, True, {'ada': 1.0, 'bob': 0.0})
    """
    settled = {one.subject: one for one in decisions if one.verdict == "settled"}
    latest: dict[tuple[str, str], dict[tuple[str, str], float | None]] = {}
    for row in judgements:
        latest.setdefault((row.query_id, row.place), {})[row.origin, row.by] = row.grade
    return tuple(
        _standing(query_id, place, grades, settled.get(settling(query_id, place)))
        for (query_id, place), grades in sorted(latest.items())
    )


def _standing(
    query_id: str, place: str, grades: Mapping[tuple[str, str], float | None], settled: Decision | None
) -> Standing:
    given = {key: grade for key, grade in grades.items() if grade is not None}
    people = {by: grade for (origin, by), grade in given.items() if origin == "person"}
    judges = {by: grade for (origin, by), grade in given.items() if origin == "judge"}
    said = set(people.values() or judges.values())
    grade = said.pop() if len(said) == 1 else None
    return Standing(
        query_id=query_id,
        place=place,
        grade=grade if settled is None else settled.grade,
        people=people,
        judges=judges,
        settled_by=None if settled is None else settled.by,
    )
