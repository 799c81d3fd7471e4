"""Documents in the records of JSONL, JSON and CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import msgspec

from assay.model.cells import wide_cells
from assay.model.documents import Document
from assay.model.errors import Fault, in_line_order, nearest
from assay.model.notices import Notice

_ID_NAMES = (
    "id",
    "_id",
    "doc_id",
    "docid",
    "document_id",
    "docno",
    "pid",
    "passage_id",
    "path",
    "url",
    "link",
)
_TEXT_NAMES = ("text", "contents", "content", "body", "page_content", "passage", "document", "article")
_TITLE_NAMES = ("title", "heading", "name", "headline", "chunk_heading")
_LINE_LIMIT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column holds what; None: found by the names that the field uses."""

    id: str | None = None
    text: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The documents of one file, all that is wrong with it, and what is worth saying."""

    documents: tuple[Document, ...] = ()
    faults: tuple[Fault, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    cells: Mapping[str, str | None]
    """Column -> text; None where the value is null or no plain value."""


def read_records(text: str, *, name: str, suffix: str, columns: Columns) -> Records:
    r"""Return the documents of a JSONL, JSON, CSV or TSV file.

    A record without an id column is named by its file and line. Columns that are not id, text or title
    become metadata, where they hold a plain value.

    >>> lines = '{"_id": 7, "text": "Seven."}\n\n'
    >>> read_records(lines, name="a.jsonl", suffix=".jsonl", columns=Columns()).documents
    (Document(id='7', text='Seven.', title=None, meta={}),)
    """
    faults: list[Fault] = []
    if suffix in {".csv", ".tsv"}:
        rows = list(_csv_rows(text, name, "\t" if suffix == ".tsv" else None, faults))
    elif suffix == ".json":
        rows = _json_rows(text, name, faults)
    else:
        rows = list(_jsonl_rows(text, name, faults))
    if not rows:
        if not faults:
            faults.append(
                Fault(where=name, what="holds no record", fix="write one record a line, each with a text")
            )
        return Records(faults=tuple(faults))
    chosen = _choose(rows, name, columns, faults)
    if chosen is None:
        return Records(faults=tuple(faults))
    documents = tuple(_documents(rows, name, chosen, faults))
    notices: tuple[Notice, ...] = ()
    if chosen.id is None:
        notices = (
            Notice(
                code="ids-by-line",
                text=f"{name} has no id column: its {len(rows)} record(s) are named by their line "
                f"({name}:{rows[0].line}); name the column if there is one",
            ),
        )
    return Records(documents=documents, faults=tuple(in_line_order(faults)), notices=notices)


def _jsonl_rows(text: str, name: str, faults: list[Fault]) -> Iterator[_Row]:
    # Only LF ends a record: JSON strings may hold U+2028 and its like as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            faults.append(
                Fault(
                    where=f"{name}:{number}",
                    what=f"not a JSON object: {error}",
                    fix="mend or remove the line; every line is one JSON object",
                )
            )
            continue
        yield _Row(line=number, cells={key: _plain(raw) for key, raw in record.items()})


def _json_rows(text: str, name: str, faults: list[Fault]) -> list[_Row]:
    try:
        records = msgspec.json.decode(text, type=list[dict[str, msgspec.Raw]])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        faults.append(
            Fault(
                where=name, what=f"not a JSON list of objects: {error}", fix="one list of records, or JSONL"
            )
        )
        return []
    return [
        _Row(line=place, cells={key: _plain(raw) for key, raw in record.items()})
        for place, record in enumerate(records, start=1)
    ]


def _plain(raw: msgspec.Raw) -> str | None:
    """Return the text of a string, a number (as it is written), or a boolean; None for the rest."""
    data = bytes(raw).strip()
    first = data[:1]
    if first == b'"':
        return msgspec.json.decode(data, type=str)
    return None if first in {b"{", b"[", b"n"} else data.decode("ascii")


def _csv_rows(text: str, name: str, delimiter: str | None, faults: list[Fault]) -> Iterator[_Row]:
    with wide_cells():
        yield from _csv_cells(text, name, delimiter or _delimiter(text), faults)


def _csv_cells(text: str, name: str, delimiter: str, faults: list[Fault]) -> Iterator[_Row]:
    # newline="" leaves the line ends inside quoted cells as they are.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            begins, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                faults.extend(_header_faults(header, name))
            elif len(cells) != len(header):
                what = f"{len(cells)} cells, but the header names {len(header)}"
                faults.append(Fault(where=f"{name}:{begins}", what=what, fix="quote cells that hold a comma"))
            else:
                yield _Row(line=begins, cells=dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        faults.append(
            Fault(
                where=f"{name}:{line}",
                what=f"not readable as CSV: {error}",
                fix='close every quote, and quote cells that hold one as ""',
            )
        )


def _header_faults(header: Sequence[str], name: str) -> list[Fault]:
    repeated = sorted({cell for cell in header if header.count(cell) > 1})
    fix = "give every column a name of its own"
    return [
        Fault(where=f"{name}:1", what=f"the header names {cell!r} more than once", fix=fix)
        for cell in repeated
    ]


def _delimiter(text: str) -> str:
    """Return the mark that parts the cells of the header line: a comma, semicolon or tab."""
    header = text.lstrip("\r\n").split("\n", 1)[0]
    return max(",;\t", key=header.count)


def _choose(rows: Sequence[_Row], name: str, columns: Columns, faults: list[Fault]) -> Columns | None:
    """Return the columns that this file has, or None (with the faults) when the text has none."""
    names = list(dict.fromkeys(key for row in rows for key in row.cells))
    wrong = [
        Fault(
            where=name,
            what=f"no column is called {wanted!r} (for the {role})",
            fix=f"did you mean {like!r}?"
            if (like := nearest(wanted, names))
            else f"it has: {', '.join(names)}",
        )
        for role, wanted in (("id", columns.id), ("text", columns.text), ("title", columns.title))
        if wanted is not None and wanted not in names
    ]
    faults.extend(wrong)
    text = columns.text or _by_name(names, _TEXT_NAMES)
    if text is None:
        faults.append(
            Fault(
                where=name,
                what=f"no column looks like the text of a document (it has: {', '.join(names)})",
                fix="name it (text = ...)",
            )
        )
    if wrong or text is None:
        return None
    taken = {text}
    found_id = columns.id or _by_name([one for one in names if one not in taken], _ID_NAMES)
    taken.add(found_id or "")
    title = columns.title or _by_name([one for one in names if one not in taken], _TITLE_NAMES)
    return Columns(id=found_id, text=text, title=title)


def _by_name(names: Sequence[str], usual: Sequence[str]) -> str | None:
    folded = {name.strip().casefold(): name for name in reversed(names)}
    return next((folded[name] for name in usual if name in folded), None)


def _documents(rows: Sequence[_Row], name: str, columns: Columns, faults: list[Fault]) -> Iterator[Document]:
    seen: dict[str, int] = {}
    text_name = cast("str", columns.text)
    for row in rows:
        where = f"{name}:{row.line}"
        text = row.cells.get(text_name)
        doc_id = row.cells.get(columns.id) if columns.id is not None else where
        if text is None:
            faults.append(
                Fault(
                    where=where,
                    what=f"column {text_name!r} holds no text",
                    fix="write the text of the document there, or remove the record",
                )
            )
        if doc_id is None or not doc_id.strip():
            faults.append(
                Fault(where=where, what=f"column {columns.id!r} holds no id", fix="give every document an id")
            )
        elif doc_id in seen:
            what = f"the id {doc_id!r} stands already in line {seen[doc_id]}"
            faults.append(Fault(where=where, what=what, fix="ids must be unique; rename one"))
        elif text is not None:
            seen[doc_id] = row.line
            title = row.cells.get(columns.title) if columns.title is not None else None
            yield Document(
                id=doc_id, text=text, title=(title or "").strip() or None, meta=_meta(row, columns)
            )


def _meta(row: _Row, columns: Columns) -> dict[str, str]:
    taken = {columns.id, columns.text, columns.title}
    return {key: value for key, value in row.cells.items() if value and key and key not in taken}
