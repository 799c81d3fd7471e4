"""From appended edits to the golden set as it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from assay.model.golden import Anchor, Query
from assay.model.labels import Edit


class Undoable(Protocol):
    """A row that may take back another."""

    @property
    def id(self) -> str: ...

    @property
    def undoes(self) -> str | None: ...


def undone(rows: Sequence[Undoable]) -> frozenset[str]:
    """Return the ids of the rows that are taken back; to take back an undoing brings its row back.

    Args:
        rows: in the order in which they were appended.
    """
    gone: set[str] = set()
    for row in reversed(rows):
        if row.undoes is not None and row.id not in gone:
            gone.add(row.undoes)
    return frozenset(gone)


def fold_edits(edits: Iterable[Edit]) -> dict[str, Query]:
    """Return query id -> the query as it stands after all edits, sorted by id.

    >>> asked = Query(id="q1", text="Who?")
    >>> one = Edit(id="1", query_id="q1", action="put", by="ada", query=asked)
    >>> list(fold_edits([one, Edit(id="2", query_id="q1", action="undo", by="ada", undoes="1")]))
    []
    """
    rows = list(edits)
    gone = undone(rows)
    queries: dict[str, Query] = {}
    for edit in rows:
        if edit.id in gone:
            continue
        if edit.action == "put" and edit.query is not None:
            queries[edit.query_id] = edit.query
        elif edit.action == "remove":
            queries.pop(edit.query_id, None)
        elif edit.action == "anchor" and edit.anchor is not None and edit.query_id in queries:
            queries[edit.query_id] = with_anchor(queries[edit.query_id], edit.anchor)
    return dict(sorted(queries.items()))


def with_anchor(query: Query, anchor: Anchor) -> Query:
    """Return the query with one anchor more; a phrase that it has already takes the new grade.

    A query that was said to have no answer has one now.
    """
    place = (anchor.doc_id, anchor.quote, anchor.start, anchor.end)
    same = [old.id for old in query.anchors if (old.doc_id, old.quote, old.start, old.end) == place]
    if same:
        kept = tuple(replace(old, grade=anchor.grade) if old.id == same[0] else old for old in query.anchors)
        return replace(query, anchors=kept)
    names = {old.id for old in query.anchors}
    new = anchor if anchor.id and anchor.id not in names else replace(anchor, id=free_id(names))
    return replace(query, anchors=(*query.anchors, new), answerable=True)


def free_id(names: Iterable[str]) -> str:
    """Return the first of ``a1``, ``a2``, ... that is not taken.

    >>> free_id(["a1", "a3"])
    'a2'
    """
    taken = set(names)
    return next(name for at in range(1, len(taken) + 2) if (name := f"a{at}") not in taken)
