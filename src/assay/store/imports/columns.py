"""A golden set in columns: CSV, TSV, JSON lines or a JSON list, whatever its columns are called."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from assay.model.errors import Fault, InputError, nearest
from assay.model.golden import Anchor, GoldenSet, Provenance, Query
from assay.model.ids import id_key
from assay.model.notices import Notice
from assay.store.imports.form import Form, Imported, Option, Options, counted
from assay.store.jsonl import id_text, records_of
from assay.store.tables import read_table

_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "_id", "qid", "query_id", "question_id"),
    "query": ("query", "question", "user_input", "input", "prompt", "text"),
    "kind": ("kind", "type", "category", "query_type", "question_type"),
    "doc": ("doc", "doc_id", "document", "document_id", "corpus_id", "source", "file", "filename", "path"),
    "quote": ("quote", "anchor", "evidence", "passage", "context", "reference", "relevant_text"),
    "start": ("start", "start_index", "answer_start"),
    "end": ("end", "end_index"),
    "grade": ("grade", "relevance", "score"),
    "relevant": ("relevant", "relevant_ids", "relevant_docs", "relevant_doc_ids", "doc_ids", "labels"),
}
"""What others call our columns, the likeliest first."""

_FILES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_SEPARATORS = re.compile(r"\s*[;|\n]\s*")


@dataclass(slots=True)
class _Draft:
    """One query as its rows are met."""

    id: str
    text: str
    line: int
    kind: str = ""
    anchors: list[Anchor] = field(default_factory=list[Anchor])
    labels: dict[str, float] = field(default_factory=dict[str, float])


def _detect(path: Path) -> bool:
    if not path.is_file() or not path.name.removesuffix(".gz").endswith(_FILES):
        return False
    try:
        rows = _rows(path)
    except InputError:
        return False
    return bool(rows) and len(rows[0][1]) > 1 and any(name in rows[0][1] for name in _NAMES["query"])


def _parse(path: Path, options: Options) -> Imported:
    rows = _rows(path)
    chosen = _choose(rows, options, path)
    drafts: dict[str, _Draft] = {}
    faults: list[Fault] = []
    for line, row in rows:
        _take(row, line, chosen, drafts, faults, str(path))
    if faults:
        raise InputError(faults)
    source = path.name
    golden = GoldenSet(
        name=path.name.split(".")[0],
        queries=tuple(
            Query(
                id=draft.id,
                text=draft.text,
                kind=draft.kind or "unspecified",
                anchors=tuple(draft.anchors),
                labels=draft.labels,
                provenance=Provenance(origin="imported", source=source),
            )
            for draft in drafts.values()
        ),
    )
    columns = ", ".join(f"{name} = {column}" for name, column in chosen.items())
    notice = Notice(code="columns", text=f"columns were read as: {columns}")
    return Imported(golden=golden, notices=(notice,), counts=counted(golden, rows=len(rows)))


def _rows(path: Path) -> list[tuple[int, Mapping[str, object]]]:
    name = path.name.removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return [(line, cast("Mapping[str, object]", row)) for line, row in read_table(path).rows]
    return [(line, record) for line, record in records_of(path)]


def _choose(rows: Sequence[tuple[int, Mapping[str, object]]], options: Options, path: Path) -> dict[str, str]:
    """Return which column is which: as the user says, else by its usual name."""
    columns = list(dict.fromkeys(key for _, row in rows for key in row))
    chosen: dict[str, str] = {}
    faults: list[Fault] = []
    for role, usual in _NAMES.items():
        column = options[role]
        if column:
            absent = sum(_cell(row, column) is None for _, row in rows)
            if absent == len(rows):
                near = nearest(column, columns)
                fix = f"did you mean {near!r}?" if near else f"it has: {', '.join(columns)}"
                what = f"field {column!r} (for {role}) is absent on all {len(rows)} rows"
                faults.append(Fault(where=str(path), what=what, fix=fix))
            chosen[role] = column
        else:
            found = next((name for name in usual if name in columns and name not in chosen.values()), None)
            if found is not None:
                chosen[role] = found
    if not rows:
        faults.append(
            Fault(where=str(path), what="holds no row", fix="write one question a row, below a line of names")
        )
    elif "query" not in chosen and "id" not in chosen:
        what = f"no column looks like the question (it has: {', '.join(columns)})"
        faults.append(Fault(where=str(path), what=what, fix="name it: query=COLUMN"))
    if faults:
        raise InputError(faults)
    return chosen


def _take(
    row: Mapping[str, object],
    line: int,
    chosen: Mapping[str, str],
    drafts: dict[str, _Draft],
    faults: list[Fault],
    path: str,
) -> None:
    """Add a row to its query: rows of one id (or of one question, without ids) are one query."""
    cells = {role: _text(_cell(row, column)) for role, column in chosen.items()}
    where = f"{path}:{line}"
    text = cells.get("query", "").strip()
    key = id_key(cells.get("id", "").strip()) if "id" in chosen else text
    if not key:
        faults.append(
            Fault(
                where=where,
                what=f"{'id' if 'id' in chosen else 'query'} is empty",
                fix="fill it in, or remove the row",
            )
        )
        return
    draft = drafts.get(key)
    if draft is None:
        query_id = key if "id" in chosen else f"q{len(drafts) + 1:03}"
        draft = drafts[key] = _Draft(id=query_id, text=text, line=line, kind=cells.get("kind", "").strip())
    elif draft.text != text:
        faults.append(
            Fault(
                where=where,
                what=f"query id {key!r} has another question here than in rows {draft.line} and {line}",
                fix="give each question an id of its own",
            )
        )
        return
    try:
        _label(draft, cells, _cell(row, chosen["relevant"]) if "relevant" in chosen else None)
    except ValueError as error:
        faults.append(
            Fault(
                where=where,
                what=f"query {draft.id!r}: {error}",
                fix="mend the cell, or name another column: assay import table --help",
            )
        )


def _label(draft: _Draft, cells: Mapping[str, str], relevant: object) -> None:
    grade = _number(cells, "grade", 1.0)
    doc_id = id_key(cells.get("doc", "").strip())
    quote = cells.get("quote", "")
    if quote.strip():
        start, end = _position(cells, "start"), _position(cells, "end")
        if start is not None and end is None:
            end = start + len(quote)
        name = f"a{len(draft.anchors) + 1}"
        draft.anchors.append(Anchor(id=name, doc_id=doc_id, quote=quote, start=start, end=end, grade=grade))
    elif doc_id:
        draft.labels[doc_id] = max(grade, draft.labels.get(doc_id, grade))
    for label, value in _labels(relevant):
        draft.labels[id_key(label)] = value


def _labels(cell: object) -> Iterator[tuple[str, float]]:
    """Yield ids and grades of a cell: a mapping, a list, JSON text of either, or ids parted by ; or |."""
    if isinstance(cell, str) and cell.strip()[:1] in {"[", "{"}:
        try:
            cell = json.loads(cell)
        except ValueError as error:
            raise ValueError(f"relevant is no JSON: {error}") from error
    if isinstance(cell, str):
        cell = [part for part in _SEPARATORS.split(cell.strip()) if part]
    if isinstance(cell, Mapping):
        for name, grade in cast("Mapping[str, object]", cell).items():
            if isinstance(grade, bool) or not isinstance(grade, int | float):
                raise ValueError(  # noqa: TRY004 - it is the file that is wrong, not the call
                    f"relevant: the grade of {name!r} is {grade!r}, not a number"
                )
            yield name, float(grade)
    elif cell is not None:
        for item in cast("list[object]", cell) if isinstance(cell, list) else [cell]:
            name = id_text(item)
            if name is None:
                raise ValueError(f"relevant: {item!r} is no id")
            yield name, 1.0


def _cell(row: Mapping[str, object], column: str) -> object:
    """Return a cell, by its column's name or by a path with dots (``meta.file_id``); None when absent."""
    if column in row:
        return row[column]
    first, dot, rest = column.partition(".")
    inner = row.get(first)
    return _cell(cast("Mapping[str, object]", inner), rest) if dot and isinstance(inner, Mapping) else None


def _text(cell: object) -> str:
    return "" if cell is None else id_text(cell) or ""


def _position(cells: Mapping[str, str], role: str) -> int | None:
    text = cells.get(role, "").strip()
    if not text:
        return None
    if not text.isdecimal():
        raise ValueError(f"{role} is {text!r}, not an offset")
    return int(text)


def _number(cells: Mapping[str, str], role: str, default: float) -> float:
    text = cells.get(role, "").strip()
    if not text:
        return default
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{role} is {text!r}, not a number") from None


FORM = Form(
    name="columns",
    about="A golden set in columns: CSV, TSV, JSON lines or a JSON list, with any names of columns.",
    detect=_detect,
    parse=_parse,
    options={
        role: Option(about=f"the column of the {role} ({', '.join(usual[:3])}, ... are known)")
        for role, usual in _NAMES.items()
    },
)
