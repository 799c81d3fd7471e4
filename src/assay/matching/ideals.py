"""The best list that a set of chunks allows, when one chunk can earn several items."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)

MOST_EXACT = 10
"""Items that hang together, up to which every way to place them is looked at."""


def best_placing(
    grades: Mapping[Item, float], coverers: Collection[Sequence[Item]], alone: Sequence[float] = ()
) -> list[list[float]]:
    """Return the grades that each rank of the best list earns, best rank first.

    At every cut the list earns at least as much (in linear gain) as any list of the coverers could, so that
    no ratio to it exceeds 1; where one list is the best at every cut, which is nearly always, it is that
    list. Items that hang together by more than ``MOST_EXACT`` are placed greedily.

    Args:
        grades: item -> grade; items with a grade of 0 or less, or without a coverer, are left out.
        coverers: what each chunk covers.
        alone: grades of further items, each of which takes a rank of its own.

    >>> best_placing({"a": 1.0, "b": 1.0, "c": 1.0}, [["a"], ["a", "b"], ["b", "c"]])
    [[1.0, 1.0], [1.0]]
    """
    sets: set[frozenset[Item]] = {
        frozenset(item for item in covered if grades[item] > 0) for covered in coverers
    } - {frozenset[Item]()}
    placed: list[list[float]]
    if all(len(covered) == 1 for covered in sets):
        placed = [[grades[item]] for covered in sets for item in covered]
    else:
        order = {item: at for at, item in enumerate(grades)}
        placed = []
        for group in _components(sorted((sorted(order[item] for item in covered)) for covered in sets)):
            placed += _placed([*grades.values()], group)
    placed += [[grade] for grade in alone if grade > 0]
    return sorted(placed, key=lambda earned: (-sum(earned), [-grade for grade in earned]))


def _components(sets: list[list[int]]) -> list[list[frozenset[int]]]:
    """Group sets that share items, directly or through others."""
    groups: list[tuple[set[int], list[frozenset[int]]]] = []
    for covered in map(frozenset, sets):
        joined: tuple[set[int], list[frozenset[int]]] = (set(covered), [covered])
        apart: list[tuple[set[int], list[frozenset[int]]]] = []
        for group in groups:
            if group[0] & covered:
                joined = (joined[0] | group[0], group[1] + joined[1])
            else:
                apart.append(group)
        groups = [*apart, joined]
    return [members for _, members in groups]


def _placed(grades: Sequence[float], sets: list[frozenset[int]]) -> list[list[float]]:
    largest = [covered for covered in sets if not any(covered < other for other in sets)]
    everything: frozenset[int] = frozenset[int]().union(*largest)
    states = {frozenset[int]()}
    earned = frozenset[int]()

    def preference(state: frozenset[int]) -> tuple[float, int, list[int]]:
        # Among sets of one gain: one that goes on from what the ranks before have earned.
        return -sum(grades[item] for item in sorted(state)), -len(state & earned), sorted(state)

    placed: list[list[float]] = []
    while earned != everything:
        states = {state | covered for state in states for covered in largest}
        best = min(states, key=preference)
        if len(everything) > MOST_EXACT:
            states = {best}
        placed.append(sorted((grades[item] for item in best - earned), reverse=True))
        earned |= best
    return [one for one in placed if one]
