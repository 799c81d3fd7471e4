"""JSONL: one hit a line, or one query a line with its list; judgements likewise.

Run:  ``{"query": "q1", "doc": "d1", "score": 0.5}``, ``{"id": "q1", "ranked": ["d1", "d2"]}``,
``{"query": "q1", "hits": [{"doc": "d1", "score": 0.5}]}``.
Qrels: ``{"query": "q1", "doc": "d1", "grade": 1}``, ``{"id": "q1", "relevant": ["d1"]}`` or
``{"id": "q1", "relevant": {"d1": 2}}``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from assay.store.rankings.columns import DOC, GRADE, QUERY, SCORE, find
from assay.store.rankings.lines import numbered_lines
from assay.store.rankings.rows import Rows, excerpt, is_number

_LISTS = ("hits", "ranked", "results", "docs", "documents", "retrieved")
_RELEVANT = ("relevant", "qrels", "labels", "judgements", "judgments", "grades")


def read_records(path: Path, rows: Rows, *, judgements: bool) -> dict[str, dict[str, str]]:
    """Read a JSONL file; return what else it says of each query (text values only)."""
    decode = msgspec.json.Decoder().decode
    meta: dict[str, dict[str, str]] = {}
    lists: dict[str, int] = {}
    for number, line in numbered_lines(path):
        try:
            record = decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            rows.fault(number, f"not JSON: {error}")
            continue
        if not isinstance(record, dict):
            rows.fault(number, f"not an object: {excerpt(line.decode())}")
            continue
        fields = cast("dict[str, object]", record)
        if any(isinstance(value, float) for key, value in fields.items() if key.casefold() in _ID_KEYS):
            fields = _exact(line)
        query = _take(rows, number, fields, judgements=judgements, meta=meta)
        first = number if query is None else lists.setdefault(query, number)
        if first != number:
            rows.fault(number, f"query {query!r} has a list in line {first} already", "one line a query")
    return meta


_ID_KEYS = frozenset((*QUERY, *DOC, "id"))


def id_text(value: object) -> str | None:
    """Return an id as text: numbers as they are written; None when it cannot be an id.

    >>> id_text(7), id_text("007"), id_text(None), id_text(True)
    ('7', '007', None, None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(value)


def _exact(line: bytes) -> dict[str, object]:
    """Read a record again, ids that are fractions as their text (``7.0`` stays ``7.0``)."""
    exact = cast("dict[str, object]", json.loads(line, parse_float=str))
    plain = cast("dict[str, object]", json.loads(line))
    return {key: exact[key] if key.casefold() in _ID_KEYS else value for key, value in plain.items()}


def _take(
    rows: Rows, line: int, record: dict[str, object], *, judgements: bool, meta: dict[str, dict[str, str]]
) -> str | None:
    """Take one record; return its query when the record is that query's whole list."""
    names = list(record)
    doc_key = find(names, DOC)
    lists = find(names, _RELEVANT if judgements else _LISTS)
    query_key = find(names, QUERY) or find(names, ("id",))
    number_key = find(names, GRADE if judgements else SCORE)
    query = None if query_key is None else id_text(record[query_key])
    if query is None:
        has = f"{query_key} is {record[query_key]!r}" if query_key else f"its keys are {', '.join(names)}"
        rows.fault(line, f"no query id ({has})", "name it 'query', a text")
        return None
    used = {query_key, doc_key, lists, number_key}
    _remember(meta.setdefault(query, {}), record, used)
    if doc_key is not None and not (lists and isinstance(record[lists], list | dict)):
        take_hit(rows, line, query, record[doc_key], record.get(number_key or ""), judgements=judgements)
    elif lists is not None:
        take_list(rows, line, query, record[lists], judgements=judgements)
        return query
    else:
        wanted = "'doc' or 'relevant'" if judgements else "'doc' or 'hits'"
        rows.fault(line, f"nothing is said of a document (keys: {', '.join(names)})", f"add {wanted}")
    return None


def take_list(rows: Rows, line: int, query: str, value: object, *, judgements: bool) -> None:
    """Take one query's list: ids best first, pairs, objects, or an object of document and number."""
    if isinstance(value, Mapping):
        for doc, number in cast("Mapping[str, object]", value).items():
            take_hit(rows, line, query, doc, number, judgements=judgements)
        return
    if not isinstance(value, list):
        rows.fault(line, f"query {query!r}: a list or an object belongs here, not {value!r}")
        return
    for item in cast("list[object]", value):
        doc, number = _parts(item, judgements=judgements)
        take_hit(rows, line, query, doc, number, judgements=judgements)


def _parts(item: object, *, judgements: bool) -> tuple[object, object]:
    """Return document and number of one item: an id, a pair, or an object."""
    if isinstance(item, dict):
        fields = cast("dict[str, object]", item)
        doc = find(list(fields), (*DOC, "id"))
        number = find(list(fields), GRADE if judgements else SCORE)
        return (fields[doc] if doc else None), (fields[number] if number else None)
    if isinstance(item, Sequence) and not isinstance(item, str):
        pair = cast("Sequence[object]", item)
        return (pair[0], pair[1]) if len(pair) == 2 else (None, None)
    return item, None


def take_hit(rows: Rows, line: int, query: str, doc: object, number: object, *, judgements: bool) -> None:
    """Take one document of one query, and the number that is said of it."""
    text = id_text(doc)
    if text is None:
        rows.fault(line, f"query {query!r}: {doc!r} is no document id", "ids are texts")
        return
    if isinstance(number, str) and is_number(number):
        number = float(number)
    if number is None and judgements:
        number = 1.0
    wrong = number is not None and (isinstance(number, bool) or not isinstance(number, int | float))
    if wrong or (judgements and not math.isfinite(cast("float", number))):
        noun = "grade" if judgements else "score"
        rows.fault(line, f"query {query!r}, document {text!r}: the {noun} {number!r} is not a number")
        return
    rows.add(line, query, text, None if number is None else float(cast("float", number)))


def _remember(said: dict[str, str], record: dict[str, object], used: set[str | None]) -> None:
    for key, value in record.items():
        if key not in used and isinstance(value, str):
            said.setdefault(key, value)
