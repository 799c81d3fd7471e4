"""Queries that people really asked, as logs have them: CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec

from assay.model.errors import Fault, InputError, nearest
from assay.store.jsonl import decode, read_raw

_LINE_FIX = "mend or remove the line; every line is one JSON object"

QUERY_NAMES = (
    "query",
    "question",
    "q",
    "text",
    "search_term",
    "search",
    "term",
    "keywords",
    "prompt",
    "input",
)
COUNT_NAMES = ("count", "counts", "n", "frequency", "freq", "searches", "hits", "impressions", "times")
SESSION_NAMES = ("session", "session_id", "sid", "user", "user_id", "visitor", "visitor_id")
CLICK_NAMES = ("clicked", "clicks", "click", "clicked_doc", "clicked_url", "doc", "doc_id", "document", "url")
_MARKS = ",;\t|"
_MOST_FAULTS = 50


class LogColumns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a log; None: the usual names are tried, in any letter case."""

    query: str | None = None
    count: str | None = None
    session: str | None = None
    clicks: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One row of a log."""

    text: str
    count: float = 1.0
    """How often it was asked."""
    session: str | None = None
    """Who asked, as the log names them; used to count people once, and never stored."""
    clicked: tuple[str, ...] = ()
    """What was opened among the results."""


def read_log(path: Path | str, columns: LogColumns | None = None) -> list[Logged]:
    """Return the rows of a log; rows without a query are left out.

    The form follows from the ending: ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``, ``.json``, ``.parquet``;
    text may be gzipped. Clicks are one id, a list, or ids parted by ``;`` or ``|``.

    Raises:
        InputError: the file is missing or wrong, or a column is not there; all faults are listed.
    """
    path = Path(path)
    rows, names = _rows(path)
    chosen = _chosen(columns or LogColumns(), names, str(path))
    found: list[Logged] = []
    faults: list[Fault] = []
    for number, row in rows:
        logged = _logged(row, chosen, f"{path}:{number}", faults)
        if logged is not None:
            found.append(logged)
    if faults:
        more = len(faults) - _MOST_FAULTS
        fix = "mend these first; the rest is told then"
        told = [Fault(where=str(path), what=f"and {more:,} faults more", fix=fix)] if more > 0 else []
        raise InputError([*faults[:_MOST_FAULTS], *told])
    if not found:
        raise InputError(Fault(where=str(path), what="holds no query", fix="one query a row"))
    return found


def _rows(path: Path) -> tuple[list[tuple[int, Mapping[str, Any]]], list[str]]:
    endings = [suffix.lower() for suffix in path.suffixes]
    ending = next((suffix for suffix in reversed(endings) if suffix != ".gz"), "")
    if ending == ".parquet":
        return _parquet_rows(path)
    text = decode(read_raw(path), str(path))
    if ending in {".jsonl", ".ndjson", ".json"}:
        rows = list(_json_rows(text, str(path)))
        return rows, list(dict.fromkeys(name for _, row in rows for name in row))
    if ending in {".csv", ".tsv", ".txt"}:
        return _csv_rows(text, path, ending)
    raise InputError(
        Fault(
            where=str(path), what=f"logs of the form {ending!r} cannot be read", fix="CSV, JSONL or Parquet"
        )
    )


def _csv_rows(text: str, path: Path, ending: str) -> tuple[list[tuple[int, Mapping[str, Any]]], list[str]]:
    head = text.split("\n", 1)[0]
    mark = "\t" if ending == ".tsv" else max(_MARKS, key=lambda sign: (head.count(sign), -_MARKS.index(sign)))
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark, restval="")
    try:
        rows: list[tuple[int, Mapping[str, Any]]] = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(
            Fault(
                where=f"{path}:{reader.line_num + 1}",  # the line that it stopped at is not counted yet
                what=f"not CSV: {error}",
                fix='close every quote, and quote cells that hold one as ""',
            )
        ) from error
    return rows, [name for name in reader.fieldnames or () if name]


def _json_rows(text: str, where: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if text.lstrip().startswith("["):
        try:
            values = json.loads(text)
        except ValueError as error:
            raise InputError(
                Fault(
                    where=where,
                    what=f"not JSON: {error}",
                    fix="mend the file; it is one list of JSON objects, or an object a line",
                )
            ) from error
        numbered = enumerate(cast("list[object]", values), start=1)
        yield from (
            (number, cast("Mapping[str, Any]", row)) for number, row in numbered if isinstance(row, dict)
        )
        return
    faults: list[Fault] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(Fault(where=f"{where}:{number}", what=f"not JSON: {error}", fix=_LINE_FIX))
            continue
        if isinstance(row, dict):
            yield number, cast("Mapping[str, Any]", row)
        else:
            faults.append(Fault(where=f"{where}:{number}", what="not a JSON object", fix=_LINE_FIX))
    if faults:
        raise InputError(faults[:_MOST_FAULTS])


def _parquet_rows(path: Path) -> tuple[list[tuple[int, Mapping[str, Any]]], list[str]]:
    import polars as pl  # noqa: PLC0415 - only for Parquet

    if not path.is_file():
        raise InputError(Fault(where=str(path), what="there is no such file", fix="name the file of the log"))
    try:
        table = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            Fault(
                where=str(path),
                what=f"not Parquet: {error}",
                fix="write it as Parquet again, or end its name in .csv or .jsonl if it is that",
            )
        ) from error
    return list(enumerate(table.iter_rows(named=True), start=1)), table.columns


def _chosen(columns: LogColumns, names: Sequence[str], where: str) -> LogColumns:
    folded = {name.strip().casefold(): name for name in reversed(names)}
    faults: list[Fault] = []
    found: dict[str, str | None] = {}
    for field, usual in _USUAL.items():
        wanted = getattr(columns, field)
        if wanted is not None and wanted not in names:
            near = nearest(wanted, list(names))
            fix = f"did you mean {near!r}?" if near else f"it has {', '.join(names)}"
            faults.append(Fault(where=where, what=f"there is no column {wanted!r}", fix=fix))
        found[field] = wanted or next((folded[name] for name in usual if name in folded), None)
    if found["query"] is None and not faults:
        if len(names) == 1:
            found["query"] = names[0]
        else:
            what = f"no column is known to hold the query; it has {', '.join(names)}"
            faults.append(Fault(where=where, what=what, fix="--query-column NAME"))
    if faults:
        raise InputError(faults)
    return LogColumns(**found)


_USUAL = {
    "query": QUERY_NAMES,
    "count": COUNT_NAMES,
    "session": SESSION_NAMES,
    "clicks": CLICK_NAMES,
}


def _logged(row: Mapping[str, Any], columns: LogColumns, where: str, faults: list[Fault]) -> Logged | None:
    text = row.get(columns.query or "")
    if text is None or not str(text).strip():
        return None
    count = 1.0
    value = row.get(columns.count) if columns.count else None
    if value not in {None, ""}:
        try:
            count = float(str(value).replace(",", "").strip())
        except ValueError:
            count = float("nan")
        if not 0 <= count < float("inf"):
            faults.append(
                Fault(
                    where=where,
                    what=f"the count {value!r} is no number of queries",
                    fix="write a number of 0 or more, or leave the cell empty for 1",
                )
            )
            return None
    session = row.get(columns.session) if columns.session else None
    return Logged(
        text=" ".join(str(text).split()),
        count=count,
        session=None if session in {None, ""} else str(session),
        clicked=_clicked(row.get(columns.clicks)) if columns.clicks else (),
    )


def _clicked(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple):
        return tuple(str(one) for one in cast("Sequence[object]", value) if one not in {None, ""})
    if not isinstance(value, str):
        return ()  # a number of clicks says nothing of what was clicked
    parts = value.replace("|", ";").split(";")
    return tuple(part.strip() for part in parts if part.strip() and not part.strip().isdigit())
