"""What a file says of each query, to group results by: a golden set, JSONL, CSV, TSV, Parquet or Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import msgspec

from assay.model.errors import Fault, InputError
from assay.store.rankings.columns import QUERY, find
from assay.store.rankings.lines import numbered_lines
from assay.store.rankings.records import id_text
from assay.store.rankings.sources import form_of
from assay.store.rankings.tables import scanned
from assay.store.tables import read_table

_KEYS = (*QUERY, "id", "_id")


def read_query_columns(path: Path) -> dict[str, dict[str, str]]:
    """Return query id -> column -> value; objects inside a row (``meta``) give columns of their own.

    Raises:
        InputError: the file is missing or broken, has no id, or says two things of one query.
    """
    form = form_of(path)
    if form in {"jsonl", "json"}:
        rows = _json_rows(path)
    elif form in {"parquet", "arrow"}:
        rows = list(enumerate(scanned(path).collect().to_dicts(), start=1))
    else:
        rows = [(line, cast("dict[str, object]", row)) for line, row in read_table(path).rows]
    said: dict[str, dict[str, str]] = {}
    faults: list[Fault] = []
    for line, row in rows:
        key = find(list(row), _KEYS)
        query = None if key is None else id_text(row[key])
        if key is None or not query:
            faults.append(
                Fault(where=f"{path}:{line}", what="no query id", fix=f"name it {_KEYS[0]!r} or 'id'")
            )
            continue
        columns = _texts({name: value for name, value in row.items() if name != key})
        if said.setdefault(query, columns) != columns:
            what = f"query {query!r} stands twice and differs"
            faults.append(Fault(where=f"{path}:{line}", what=what, fix="keep one of the two rows"))
    if faults:
        raise InputError(faults)
    return said


def _json_rows(path: Path) -> list[tuple[int, dict[str, object]]]:
    rows: list[tuple[int, dict[str, object]]] = []
    faults: list[Fault] = []
    for line, raw in numbered_lines(path):
        try:
            row = cast("object", msgspec.json.decode(raw))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            faults.append(
                Fault(
                    where=f"{path}:{line}",
                    what=f"not JSON: {error}",
                    fix="mend or remove the line; every line is one JSON object",
                )
            )
            continue
        if isinstance(row, dict):
            rows.append((line, cast("dict[str, object]", row)))
        else:
            faults.append(
                Fault(
                    where=f"{path}:{line}",
                    what="not an object",
                    fix="mend or remove the line; every line is one JSON object",
                )
            )
    if faults:
        raise InputError(faults)
    return rows


def _texts(row: Mapping[str, object]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found.update(_texts(cast("dict[str, object]", value)))
        elif isinstance(value, bool):
            found[name] = "true" if value else "false"
        elif isinstance(value, str | int | float):
            found[name] = str(value)
    return found
