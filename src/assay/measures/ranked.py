"""Reading the arguments of the textbook functions: one ranked list, and what is relevant."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

from assay.model.errors import InputError

Relevant: TypeAlias = "Collection[str] | Mapping[str, float]"
"""A set (or any collection; repeats fold) of relevant ids, or ids with grades."""


def grades_of(relevant: Relevant) -> dict[str, float]:
    """Return id -> grade; 1.0 for each id of a plain collection, however often it is named.

    Raises:
        InputError: it is one string, or a grade is not a finite number.

    >>> grades_of(["a", "a", "b"])
    {'a': 1.0, 'b': 1.0}
    """
    if isinstance(relevant, str):
        raise InputError(
            f"relevant is one string ({relevant!r}), so that its letters would be the ids",
            fix=f"write {{{relevant!r}}}",
        )
    if not isinstance(cast("object", relevant), Iterable):
        raise InputError(f"relevant must be ids, or ids with grades, not {relevant!r}")
    if not isinstance(relevant, Mapping):
        return dict.fromkeys(relevant, 1.0)
    mapping = cast("Mapping[str, float]", relevant)
    broken = [f"{item!r} has {grade!r}" for item, grade in mapping.items() if not _is_finite(grade)]
    if broken:
        raise InputError(f"a grade must be a finite number, not: {', '.join(broken)}")
    return {item: float(grade) for item, grade in mapping.items()}


def _is_finite(grade: object) -> bool:
    try:
        return math.isfinite(cast("float", grade))
    except TypeError:
        return False


def wanted(relevant: Relevant, rel: float | None = None) -> frozenset[str]:
    """Return the ids that count as relevant: grade above 0, and at least ``rel`` where it is given.

    Raises:
        InputError: as ``grades_of``; ``rel`` is not above 0.

    >>> sorted(wanted({"a": 2, "b": 1, "c": 0}, rel=2))
    ['a']
    """
    if rel is not None and not rel > 0:
        raise InputError(f"rel must be above 0, not {rel}", fix="grades of 0 and below are never relevant")
    least = 0.0 if rel is None else rel
    return frozenset(item for item, grade in grades_of(relevant).items() if grade > 0 and grade >= least)


def top(ranked: Sequence[str], k: int | None) -> Sequence[str]:
    """Return the first ``k`` items, or all of them when ``k`` is None.

    Raises:
        InputError: the list is one string, or ``k`` is not a whole number of at least 1.
    """
    if isinstance(ranked, str):
        raise InputError(f"ranked is one string ({ranked!r}), not a list of ids", fix=f"write [{ranked!r}]")
    if not hasattr(ranked, "__getitem__"):
        raise InputError(f"ranked must be a list of ids, not {ranked!r}")
    if k is None:
        return ranked
    check_k(k)
    return ranked[:k]


def check_k(k: object) -> None:
    """Refuse a cut that is not a whole number of at least 1.

    Raises:
        InputError: it is not.
    """
    if isinstance(k, bool) or not isinstance(k, int):
        raise InputError(f"k must be a whole number, not {k!r}")
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}")


def met(ranked: Sequence[str], grades: Mapping[str, float], k: int | None = None) -> list[tuple[int, float]]:
    """Return rank and grade of each judged item in the list, at its first rank only.

    A repeat keeps its slot and earns nothing.

    >>> met(["x", "a", "a", "b"], {"a": 2.0, "b": 0.0})
    [(2, 2.0), (4, 0.0)]
    """
    rows: list[tuple[int, float]] = []
    seen: set[str] = set()
    for rank, item in enumerate(top(ranked, k), start=1):
        if item in grades and item not in seen:
            seen.add(item)
            rows.append((rank, grades[item]))
    return rows


def met_ranks(ranked: Sequence[str], items: Collection[str], k: int | None = None) -> list[int]:
    """Return the first rank of each of the items that the list holds, ascending.

    >>> met_ranks(["x", "a", "a", "b"], {"a", "b"})
    [2, 4]
    """
    return [rank for rank, _ in met(ranked, dict.fromkeys(items, 1.0), k)]
