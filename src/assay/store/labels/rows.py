"""Nouns as rows, and back. A column has the name of its field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

import msgspec

from assay.model.golden import Anchor, Query
from assay.model.labels import Candidate, Decision, Draft, Edit, Judgement, Look, Pool, Reply
from assay.store.golden_form import QueryRow
from assay.store.golden_rows import query_of, query_row

Logged = Judgement | Draft | Decision | Edit | Look | Reply
"""What is one row of one table."""
Noun = TypeVar("Noun", Judgement, Draft, Decision, Edit, Look, Reply)


def as_row(noun: Logged, at: str) -> dict[str, Any]:
    """Return the row of a noun; ``seq`` is the database's, ``at`` the store's unless the noun has its own."""
    row = {field.name: getattr(noun, field.name) for field in fields(noun) if field.name != "seq"}
    row["at"] = noun.at or at
    if isinstance(noun, Draft | Decision | Edit):
        row["query"] = None if noun.query is None else query_json(noun.query)
    if isinstance(noun, Edit):
        row["anchor"] = None if noun.anchor is None else anchor_json(noun.anchor)
    for name in ("evidence", "facts"):
        if name in row:
            row[name] = dict(row[name])
    if "notes" in row:
        row["notes"] = list(row["notes"])
    return row


def noun_of(kind: type[Noun], row: Mapping[str, Any]) -> Noun:
    """Return the noun of a row."""
    values = dict(row)
    if values.get("query") is not None:
        values["query"] = query_from(values["query"])
    if values.get("anchor") is not None:
        values["anchor"] = anchor_from(values["anchor"])
    if "notes" in values:
        values["notes"] = tuple(values["notes"])
    return kind(**values)


def pool_row(pool: Pool, at: str) -> dict[str, Any]:
    """Return the row of a pool, without its candidates."""
    row = {field.name: getattr(pool, field.name) for field in fields(pool)}
    del row["seq"], row["candidates"]
    return {**row, "at": pool.at or at, "sources": list(pool.sources)}


def candidate_rows(pool: Pool) -> list[dict[str, Any]]:
    """Return the rows of a pool's candidates, in the order in which they are shown."""
    return [
        {
            "pool_id": pool.id,
            "position": position,
            "doc_id": one.doc_id,
            "start": one.start,
            "end": one.end,
            "text": one.text,
            "ranks": dict(one.ranks),
        }
        for position, one in enumerate(pool.candidates, start=1)
    ]


def pool_of(row: Mapping[str, Any], candidates: list[Mapping[str, Any]]) -> Pool:
    """Return the pool of a row and of its candidates' rows."""
    shown = tuple(
        Candidate(
            doc_id=one["doc_id"], start=one["start"], end=one["end"], text=one["text"], ranks=one["ranks"]
        )
        for one in candidates
    )
    values = dict(row)
    values["sources"] = tuple(values["sources"])
    return Pool(candidates=shown, **values)


def query_json(query: Query) -> dict[str, Any]:
    """Return a query as the object that its line of ``golden.jsonl`` holds."""
    return msgspec.to_builtins(query_row(query))


def query_from(value: object) -> Query:
    """Return the query of such an object."""
    return query_of(msgspec.convert(value, QueryRow))[0]


def anchor_json(anchor: Anchor) -> dict[str, Any]:
    """Return an anchor as the object that its line of ``golden.jsonl`` holds, its id included."""
    (row,) = query_json(Query(id="of an anchor", text="of an anchor", anchors=(anchor,)))["anchors"]
    return {**row, "id": anchor.id}


def anchor_from(value: Mapping[str, Any]) -> Anchor:
    """Return the anchor of such an object; an empty id stays empty."""
    (anchor,) = query_from({"id": "of an anchor", "query": "of an anchor", "anchors": [value]}).anchors
    return replace(anchor, id=value["id"])
