"""Holding a parsed JSON record against its form: every fault at once, each with what mends it.

msgspec stops at the first thing that is wrong, and people mend a file one error at a time then. So the
record is walked field by field, and msgspec judges each value on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast, get_args, get_origin

import msgspec

from assay.model.errors import nearest
from assay.store.golden_form import AnchorRow, Cell, PlaceRow, ProvenanceRow
from assay.store.jsonl import RepeatedKeys, WrittenFloat, id_text

_NESTED: Mapping[str, type[msgspec.Struct]] = {"provenance": ProvenanceRow}
_NESTED_LISTS: Mapping[str, type[msgspec.Struct]] = {"anchors": AnchorRow, "alternatives": PlaceRow}
_ENTRIES: Mapping[str, object] = {"relevant": float, "meta": Cell}
_IDS = frozenset({"id", "doc", "meta"})

_MEANT: Mapping[str, tuple[str, ...]] = {
    "query": ("text", "question", "q", "query_text", "user_input"),
    "id": ("_id", "qid", "query_id", "question_id"),
    "kind": ("type", "category", "query_type"),
    "relevant": ("labels", "qrels", "relevant_docs", "expected", "gold", "ground_truth"),
    "anchors": ("anchor", "evidence", "references", "contexts", "quotes"),
    "doc": ("doc_id", "document", "document_id", "file", "path"),
    "quote": ("text", "content", "phrase", "passage"),
    "answerable": ("unanswerable", "is_impossible"),
    "meta": ("metadata", "tags"),
}
"""What other tools call our keys."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one record, and what mends it."""

    what: str
    fix: str | None = None


def clean_record(record: object, form: type[msgspec.Struct]) -> tuple[dict[str, object], list[Problem]]:
    """Return the record with ids as text, ready for ``msgspec.convert``, and all that is wrong with it.

    Only a record without problems may be converted.
    """
    problems: list[Problem] = []
    return _clean(record, form, "", problems), problems


def _clean(
    record: object, form: type[msgspec.Struct], path: str, problems: list[Problem]
) -> dict[str, object]:
    if not isinstance(record, dict):
        problems.append(Problem(f"{path or 'the record'} is {_kind_of(record)}, not an object"))
        return {}
    given = cast("dict[str, object]", record)
    fields = _fields(form)
    head = f"{path}." if path else ""
    problems.extend(_repeated(given, head))
    problems.extend(_unknown(given, tuple(fields), head))
    problems.extend(
        Problem(f"{head}{name} is missing")
        for name, info in fields.items()
        if info.required and name not in given and not _misnamed(name, given)
    )
    return {
        name: _clean_value(value, fields[name], head + name, problems)
        for name, value in given.items()
        if name in fields
    }


def _clean_value(
    value: object, info: msgspec.structs.FieldInfo, path: str, problems: list[Problem]
) -> object:
    if info.name in _NESTED and isinstance(value, dict):
        return _clean(cast("object", value), _NESTED[info.name], path, problems)
    if info.name in _NESTED_LISTS and isinstance(value, list):
        form = _NESTED_LISTS[info.name]
        elements = cast("list[object]", value)
        return [
            _clean(element, form, f"{path}[{place}]", problems)
            for place, element in enumerate(elements, start=1)
        ]
    if info.name in _ENTRIES and isinstance(value, dict):
        entries = cast("dict[str, object]", value)
        return {
            key: _judge(_plain(entry, info.name), _ENTRIES[info.name], f"{path}[{key!r}]", problems)
            for key, entry in entries.items()
        }
    return _judge(_plain(value, info.name), info.type, path, problems)


def _judge(value: object, form: object, path: str, problems: list[Problem]) -> object:
    try:
        msgspec.convert(value, form)
    except msgspec.ValidationError as error:
        choices = _choices(form)
        what = f"expected one of {', '.join(map(repr, choices))}" if choices else _reason(error)
        problems.append(Problem(f"{path}: {what}, not {_kind_of(value)}"))
    return value


def _plain(value: object, name: str) -> object:
    """Return ids and cells as the text of their spelling; leave other values as they are."""
    if name in _IDS:
        text = id_text(value)
        return value if text is None else text
    if isinstance(value, list):
        return [_plain(item, "id") for item in cast("list[object]", value)]
    return float(value) if isinstance(value, WrittenFloat) else value


def _repeated(record: Mapping[str, object], head: str) -> Iterator[Problem]:
    if isinstance(record, RepeatedKeys):
        for key in record.repeated:
            yield Problem(f"key {head + key!r} stands more than once", "keep one of them")
    labels = record.get("relevant")
    if isinstance(labels, RepeatedKeys):
        for key in labels.repeated:
            yield Problem(f"{head}relevant names {key!r} more than once", "keep one grade for it")


def _unknown(given: Mapping[str, object], known: Sequence[str], head: str) -> Iterator[Problem]:
    for key in given:
        if key not in known:
            meant = next((name for name in known if key in _MEANT.get(name, ())), None)
            near = meant or nearest(key, known)
            fix = f"did you mean {near!r}?" if near else f"known keys: {', '.join(known)}"
            yield Problem(f"unknown key {head + key!r}", fix)


def _misnamed(name: str, given: Mapping[str, object]) -> bool:
    """Whether a missing key is there under another name, which is a fault already."""
    return any(other in given for other in _MEANT.get(name, ()))


def _reason(error: msgspec.ValidationError) -> str:
    return str(error).split(" - at ")[0].replace("Expected", "expected").split(", got")[0]


def _choices(form: object) -> list[object]:
    """Return the values that a field of fixed words may hold; none for any other field."""
    if get_origin(form) is Literal:
        return list(get_args(form))
    return [choice for part in get_args(form) if not isinstance(part, str) for choice in _choices(part)]


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{value}".lower()
    if isinstance(value, str | int | float):
        text = repr(value)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return "a list" if isinstance(value, list) else "an object"


_SHOWN = 40


@cache
def _fields(form: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {info.name: info for info in msgspec.structs.fields(form)}
