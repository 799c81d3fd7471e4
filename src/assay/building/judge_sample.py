"""Which of a judge's labels people should look at: those that tell most, of every kind, and some at random.

Half of a sample is chosen where judges disagree or are unsure, since there a look changes most. The other
half is drawn at random, so that the rates are not those of hard cases alone. Kinds of query, and what the
judge calls relevant and not, take turns: a rate needs both classes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.model.judges import ToVerify
from assay.model.labels import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    query_id: str
    place: str
    kind: str
    yes: bool
    disagree: bool
    sure: float
    """The least that a judge was sure."""


def choose_for_people(
    judged: Iterable[Judgement],
    kind_of: Mapping[str, str],
    *,
    count: int,
    relevant_from: float,
    seed: int = 0,
) -> tuple[ToVerify, ...]:
    """Return the places that people should look at next.

    Args:
        judged: judges' judgements of places that no person has graded, the latest of each judge last.
        kind_of: query id -> its kind.
        count: how many.
        relevant_from: the lowest grade that is called relevant.
        seed: of the half that is drawn at random.
    """
    cases = _cases(judged, kind_of, relevant_from)
    rng = np.random.default_rng(seed)
    order: list[int] = rng.permutation(len(cases)).tolist()
    drawn = [cases[at] for at in order]
    telling = sorted(drawn, key=lambda one: (not one.disagree, one.sure))
    hard = _in_turn([one for one in telling if one.disagree or one.sure < 1.0], (count + 1) // 2)
    taken = {(one.query_id, one.place) for one in hard}
    rest = [one for one in drawn if (one.query_id, one.place) not in taken]
    chosen = [(one, _why(one)) for one in hard]
    chosen += [(one, "at random") for one in _in_turn(rest, count - len(hard))]
    return tuple(
        ToVerify(query_id=one.query_id, place=one.place, kind=one.kind, reason=why) for one, why in chosen
    )


def _cases(judged: Iterable[Judgement], kind_of: Mapping[str, str], relevant_from: float) -> list[_Case]:
    latest: dict[tuple[str, str], dict[str, Judgement]] = defaultdict(dict)
    for row in judged:
        if row.grade is not None:
            latest[row.query_id, row.place][row.by] = row
    cases: list[_Case] = []
    for (query_id, place), rows in sorted(latest.items()):
        votes = [row.grade is not None and row.grade >= relevant_from for row in rows.values()]
        cases.append(
            _Case(
                query_id=query_id,
                place=place,
                kind=kind_of.get(query_id, "unspecified"),
                yes=sum(votes) * 2 > len(votes),
                disagree=len(set(votes)) > 1,
                sure=min(1.0 if row.margin is None else row.margin for row in rows.values()),
            )
        )
    return cases


def _in_turn(cases: Sequence[_Case], count: int) -> list[_Case]:
    """Return the first so many, the groups of kind and class in turn."""
    groups: dict[tuple[str, bool], list[_Case]] = defaultdict(list)
    for case in cases:
        groups[case.kind, case.yes].append(case)
    queues = [groups[key] for key in sorted(groups)]
    chosen: list[_Case] = []
    turn = 0
    while len(chosen) < count and any(turn < len(queue) for queue in queues):
        chosen += [queue[turn] for queue in queues if turn < len(queue)][: count - len(chosen)]
        turn += 1
    return chosen


def _why(case: _Case) -> str:
    return "judges disagree" if case.disagree else f"unsure ({case.sure:.2f})"
