"""Which queries can be compared: those that every run has, in one order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import InputError
from assay.model.notices import Notice, listed
from assay.model.scores import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The queries that all tables have, and where each table keeps them."""

    query_ids: tuple[str, ...]
    """Sorted, so that the order of a file changes no figure."""
    places: tuple[NDArray[np.int64], ...]
    """For each table, the position of each of these queries."""
    only: tuple[tuple[str, ...], ...]
    """For each table, the queries that it has and not every other table, in its order."""
    by: str | None
    """The column to group by; None when there is none."""
    group_of: tuple[str | None, ...]
    """The group of each query, as the last table says; empty without a column."""
    groups: tuple[str, ...]
    """The groups, by first appearance in the last table."""
    notices: tuple[Notice, ...] = ()

    def mask(self, group: str) -> NDArray[np.bool_]:
        return np.array([other == group for other in self.group_of], dtype=np.bool_)


def pair_queries(tables: Sequence[ScoreTable], *, by: str | None) -> Pairing:
    """Return the queries that every table has.

    Raises:
        InputError: no query is in all of them.
    """
    position = [{query: place for place, query in enumerate(table.query_ids)} for table in tables]
    shared = sorted(set(position[0]).intersection(*position[1:]))
    if not shared:
        raise InputError(
            "the runs have no query in common",
            fix="compare runs of the same golden set; ids are compared as text",
        )
    common = set(shared)
    only = tuple(tuple(query for query in table.query_ids if query not in common) for table in tables)
    notices = list(_only_notices(only, len(shared)))
    column = by if by is not None and all(by in table.groups for table in tables) else None
    if by is not None and column is None:
        text = f"no figures by {by}: not every run has that column"
        notices.append(Notice(code="no-groups", text=text))
    places = tuple(np.array([at[query] for query in shared], dtype=np.int64) for at in position)
    group_of: tuple[str | None, ...] = ()
    groups: tuple[str, ...] = ()
    if column is not None:
        last = tables[-1].groups[column]
        group_of = _cells(tables[-1], places[-1], column)
        present = set(group_of)
        groups = tuple(dict.fromkeys(group for group in last if group is not None and group in present))
        notices += _regrouped(tables, places, column, shared)
    return Pairing(
        query_ids=tuple(shared),
        places=places,
        only=only,
        by=column,
        group_of=group_of,
        groups=groups,
        notices=tuple(notices),
    )


def _only_notices(only: Sequence[Sequence[str]], shared: int) -> list[Notice]:
    if not any(only):
        return []
    if len(only) == 2:
        parts = [
            f"{len(ids)} only in the {name} ({listed(ids)})"
            for name, ids in zip(("base", "candidate"), only, strict=True)
            if ids
        ]
        said = " and ".join(parts)
    else:
        left_out = sorted({query for ids in only for query in ids})
        said = f"{len(left_out)} not in every run ({listed(left_out)})"
    text = (
        f"the golden sets differ: {said}; figures are over the {shared} queries in common, "
        "and means over the whole sets cannot be compared"
    )
    return [Notice(code="golden-sets-differ", text=text, ids=tuple(query for ids in only for query in ids))]


def _regrouped(
    tables: Sequence[ScoreTable], places: Sequence[NDArray[np.int64]], column: str, shared: Sequence[str]
) -> list[Notice]:
    rows = [_cells(table, at, column) for table, at in zip(tables, places, strict=True)]
    changed = tuple(
        query for query, cells in zip(shared, zip(*rows, strict=True), strict=True) if len(set(cells)) > 1
    )
    if not changed:
        return []
    text = f"{len(changed)} changed their {column}; the last run's is used: {listed(changed)}"
    return [Notice(code="regrouped", text=text, ids=changed)]


def _cells(table: ScoreTable, places: NDArray[np.int64], column: str) -> tuple[str | None, ...]:
    cells = table.groups[column]
    chosen: list[int] = places.tolist()
    return tuple(cells[place] for place in chosen)
