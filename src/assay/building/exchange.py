"""Between the golden file and the label store: what changed in which of them since they last agreed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Side = Literal["file", "store", "conflict"]
"""``file``: only the file has changed. ``store``: only the store has. ``conflict``: both, not alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One query that is not alike in the file and in the store."""

    query_id: str
    side: Side
    base: str | None
    """Its line when both last agreed; None: it was in neither."""
    file: str | None
    """None: it is not in the file."""
    store: str | None


def changes(base: Mapping[str, str], file: Mapping[str, str], store: Mapping[str, str]) -> tuple[Change, ...]:
    """Return the queries that are not alike on both sides, sorted by id.

    Args:
        base: query id -> line, when file and store last agreed.
        file: the same now, in the file.
        store: the same now, in the store.

    >>> [(one.query_id, one.side) for one in changes({"q1": "a"}, {"q1": "b", "q2": "c"}, {"q1": "a"})]
    [('q1', 'file'), ('q2', 'file')]
    """
    found: list[Change] = []
    for query_id in sorted({*base, *file, *store}):
        was, there, here = base.get(query_id), file.get(query_id), store.get(query_id)
        if there == here:
            continue
        side: Side = "store" if there == was else "file" if here == was else "conflict"
        found.append(Change(query_id=query_id, side=side, base=was, file=there, store=here))
    return tuple(found)


def described(old: str | None, new: str | None) -> tuple[str, ...]:
    """Say field by field what is different in a line; a line that came or went is one sentence.

    >>> described('{"id": "q1", "query": "Who?"}', '{"id": "q1", "query": "Why?"}')
    ('query: "Who?" -> "Why?"',)
    """
    if old is None or new is None:
        return ("new",) if old is None else ("removed",)
    before, after = json.loads(old), json.loads(new)
    return tuple(
        f"{key}: {_shown(before, key)} -> {_shown(after, key)}"
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    )


def _shown(row: Mapping[str, object], key: str) -> str:
    return json.dumps(row[key], ensure_ascii=False) if key in row else "nothing"
