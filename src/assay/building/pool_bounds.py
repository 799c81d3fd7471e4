"""What unjudged hits could still change: best and worst case of each retriever, and the labels that decide.

How the next labels are chosen. For two retrievers A and B the difference of a measure is a sum over queries,
and a query that turns out to have nothing relevant adds nothing to it. For every query the largest and the
smallest difference are found that any grading of its unjudged places allows. When the sum of the smallest
is above 0, A wins whatever the labels say; when the sum of the largest is below 0, B does; else the pair is
open. For each open pair with the leader, the swing of an unjudged place is by how much the difference of its
query changes with its grade, when the other unjudged places are not relevant, or when all of them are,
whichever is more. Places are asked for by the sum of their swings over the open pairs; a place that swings
nothing (it stands at the same rank in both lists) is never asked for. Equal swings come in an order that the
seed shuffled, so that nothing of a rank shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from assay.building.pool_items import PooledQuery
from assay.building.pools import shuffled
from assay.model.errors import InputError

Relevant = frozenset[int]
MEASURES = ("hit", "recall", "precision", "MRR")
_SPELLED = re.compile(r"(?P<name>\w+)@(?P<k>\d+)\Z")
_EPSILON = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolMeasure:
    """A measure over pooled places: ``hit@k``, ``recall@k``, ``precision@k``, ``MRR@k``.

    A place counts once, at its best rank. ``recall`` divides by all places that are known to be relevant,
    found or not.
    """

    name: str
    k: int

    def __str__(self) -> str:
        return f"{self.name}@{self.k}"

    def value(self, ranked: Sequence[int], relevant: Relevant) -> float:
        """Return the value of one list; 0.0 when nothing is relevant (such a query adds to no difference)."""
        ranks = [rank for rank, item in enumerate(ranked[: self.k], start=1) if item in relevant]
        if not ranks:
            return 0.0
        match self.name:
            case "hit":
                return 1.0
            case "precision":
                return len(ranks) / self.k
            case "MRR":
                return 1.0 / ranks[0]
            case _:
                return len(ranks) / len(relevant)


def pool_measure(spelling: str) -> PoolMeasure:
    """Read a measure.

    Raises:
        InputError: it is none of those that are bounded here.

    >>> pool_measure("recall@10")
    PoolMeasure(name='recall', k=10)
    """
    found = _SPELLED.match(spelling)
    names = {name.casefold(): name for name in (*MEASURES,)} | {"rr": "MRR"}
    name = names.get(found["name"].casefold()) if found else None
    if found is None or name is None or int(found["k"]) < 1:
        raise InputError(
            f"{spelling!r} cannot be bounded over a pool",
            fix=f"one of {', '.join(MEASURES)}, as in recall@10",
        )
    return PoolMeasure(name=name, k=int(found["k"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverBounds:
    """What is known of one retriever, and what could be."""

    name: str
    judged: float | None
    """Share of the places in its top k that are judged (judged@k), over all queries; None without any."""
    unjudged: int
    """Places in its top k that nobody has judged."""
    measured: float | None
    """The mean over queries with something relevant known, where an unjudged hit earns nothing; None: there
    is no such query."""
    worst: float | None
    """The mean if every grade that is missing spoke against it."""
    best: float | None
    """The mean if every grade that is missing spoke for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLabel:
    """One place whose grade could change who wins."""

    query_id: str
    place: str
    swing: float
    """By how much it moves the mean difference of the open pairs together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolVerdict:
    """Who leads, what is open, and which labels to give next."""

    measure: str
    retrievers: tuple[RetrieverBounds, ...]
    """The highest measured value first."""
    queries: int
    """Queries with something relevant known: those that are measured."""
    open_queries: int
    """Queries with nothing relevant known and unjudged places: unknown, in no mean, and asked for."""
    leader: str | None
    """None without a retriever."""
    open_against: tuple[str, ...]
    """Retrievers that the missing grades could still put before the leader; empty: the winner stands."""
    next_labels: tuple[NextLabel, ...]


def bound_retrievers(
    queries: Sequence[PooledQuery],
    measure: PoolMeasure,
    *,
    most: int = 50,
    seed: int = 0,
) -> PoolVerdict:
    """Return what the labels say so far, what they leave open, and which to give next.

    Args:
        queries: the pool.
        measure: what is compared.
        most: how many labels are asked for.
        seed: shuffles labels of equal swing.
    """
    names = list(dict.fromkeys(chain.from_iterable(query.lists for query in queries)))
    known = [query for query in queries if query.known]
    bounds = [_bounds(name, queries, known, measure) for name in names]
    bounds.sort(key=lambda one: (-(one.measured or 0.0), names.index(one.name)))
    leader = bounds[0].name if bounds else None
    others = [one.name for one in bounds[1:]]
    open_against = [name for name in others if leader and _is_open(queries, leader, name, measure)]
    return PoolVerdict(
        measure=str(measure),
        retrievers=tuple(bounds),
        queries=len(known),
        open_queries=sum(not query.known and bool(query.unjudged) for query in queries),
        leader=leader,
        open_against=tuple(open_against),
        next_labels=tuple(_next_labels(queries, leader, open_against, measure, seed)[:most])
        if leader
        else (),
    )


def _bounds(
    name: str, queries: Sequence[PooledQuery], known: Sequence[PooledQuery], measure: PoolMeasure
) -> RetrieverBounds:
    shown = [(query, at) for query in queries for at in query.lists.get(name, ())[: measure.k]]
    unjudged = sum(query.items[at].grade is None for query, at in shown)

    def mean(relevant: Callable[[PooledQuery], Relevant]) -> float | None:
        values = [measure.value(query.lists.get(name, ()), relevant(query)) for query in known]
        return sum(values) / len(values) if values else None

    def own(query: PooledQuery) -> Relevant:
        return query.unjudged.intersection(query.lists.get(name, ())[: measure.k])

    return RetrieverBounds(
        name=name,
        judged=1.0 - unjudged / len(shown) if shown else None,
        unjudged=unjudged,
        measured=mean(relevant_in),
        worst=mean(lambda query: relevant_in(query) | (query.unjudged - own(query))),
        best=mean(lambda query: relevant_in(query) | own(query)),
    )


def relevant_in(query: PooledQuery) -> Relevant:
    """Return the places that are known to be relevant."""
    return frozenset(at for at, item in enumerate(query.items) if item.grade is not None and item.grade > 0)


def _is_open(queries: Iterable[PooledQuery], leader: str, other: str, measure: PoolMeasure) -> bool:
    """Return whether some grading of what is unjudged puts the other level with the leader or before it."""
    lowest = sum(difference_range(query, leader, other, measure)[0] for query in queries)
    return lowest <= _EPSILON and any(
        difference_range(query, leader, other, measure)[0]
        < difference_range(query, leader, other, measure)[1]
        for query in queries
    )


def difference_range(query: PooledQuery, one: str, other: str, measure: PoolMeasure) -> tuple[float, float]:
    """Return the smallest and the largest difference (one minus other) that any grading allows.

    Exact. For ``hit`` and ``MRR`` the largest has at most one further relevant place, since a second can only
    help the other; for ``precision`` it has all that only the first holds. For ``recall`` it depends only on
    how many places of each sort (in the first list, in the second, in both or neither) are relevant, and it
    is monotonous in each, so that none or all of each sort are tried.
    """
    return -_largest(query, other, one, measure), _largest(query, one, other, measure)


def _largest(query: PooledQuery, one: str, other: str, measure: PoolMeasure) -> float:
    first, second = query.lists.get(one, ()), query.lists.get(other, ())
    top, under = frozenset(first[: measure.k]), frozenset(second[: measure.k])
    known, unjudged = relevant_in(query), query.unjudged
    only = unjudged & (top - under)
    tried: list[Relevant] = [known]
    if measure.name in {"hit", "MRR"}:
        tried += [known | {at} for at in unjudged & top]
    elif measure.name == "precision":
        tried.append(known | only)
    else:
        rest = unjudged - (top ^ under)
        tried += [known | only, known | rest, known | only | rest]
    return max(measure.value(first, relevant) - measure.value(second, relevant) for relevant in tried)


def _next_labels(
    queries: Sequence[PooledQuery], leader: str, open_against: Sequence[str], measure: PoolMeasure, seed: int
) -> list[NextLabel]:
    found: list[tuple[float, int, int, NextLabel]] = []
    for number, query in enumerate(queries):
        order = shuffled(len(query.items), seed, query.query_id)
        for at in query.unjudged:
            swing = sum(_swing(query, at, leader, other, measure) for other in open_against)
            if swing > _EPSILON:
                label = NextLabel(
                    query_id=query.query_id, place=query.items[at].place, swing=swing / max(1, len(queries))
                )
                found.append((-round(swing, 9), number, order.index(at), label))
    return [label for *_, label in sorted(found, key=lambda row: row[:3])]


def _swing(query: PooledQuery, at: int, leader: str, other: str, measure: PoolMeasure) -> float:
    """Return by how much one grade changes a difference, the more of: the rest is not relevant, or all is."""
    known, rest = relevant_in(query), query.unjudged - {at}
    first, second = query.lists.get(leader, ()), query.lists.get(other, ())

    def difference(relevant: Relevant) -> float:
        return measure.value(first, relevant) - measure.value(second, relevant)

    return max(
        abs(difference(known | extra | {at}) - difference(known | extra))
        for extra in (frozenset[int](), rest)
    )
