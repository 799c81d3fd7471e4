"""Reading OpenTelemetry spans with OpenInference attributes, exported as JSON.

The forms in which they are found on disks: OTLP JSON (``resourceSpans``; attributes as key and typed value),
lists of spans with flattened attributes (``retrieval.documents.0.document.id``), with nested ones, and rows
of a table of spans (``attributes.retrieval.documents``).

Source: OpenInference, Semantic conventions; OpenTelemetry, OTLP 1.x in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

RETRIEVER, RERANKER = "RETRIEVER", "RERANKER"
_HOLDERS = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span, whatever form it came in."""

    name: str
    id: str
    parent: str | None
    trace: str
    kind: str
    """In capitals; empty where nothing says it."""
    start_ns: int
    end_ns: int
    error: str | None
    attributes: Mapping[str, object]
    """Nested."""


def is_span_record(record: object) -> bool:
    """Whether a record is a span, a batch of them, or a page of them."""
    table = as_table(record)
    keys = set(table)
    page = table.get("data")
    if isinstance(page, list):  # a page of an API
        return any(map(is_span_record, cast("list[object]", page)))
    return bool(
        keys & {"resourceSpans", "resource_spans", "scopeSpans", "attributes", "span_kind", "spans"}
        or any(key.startswith("attributes.") for key in keys)
    )


def spans_of(records: Sequence[object]) -> list[Span]:
    """Return the spans of records in any of the forms, ordered by the time of their start."""
    found = [_span(record) for record in _flat(records)]
    return sorted(found, key=lambda span: span.start_ns)


def _flat(records: Sequence[object]) -> Iterator[Mapping[str, object]]:
    for record in records:
        one = as_table(record)
        inner = [one[key] for key in _HOLDERS if isinstance(one.get(key), list)]
        if inner:
            for more in inner:
                yield from _flat(cast("list[object]", more))
        elif one:
            yield one


def _span(record: Mapping[str, object]) -> Span:
    ids = as_table(record.get("context"))
    attributes = _attributes(record)
    kind = value_at(attributes, "openinference", "span", "kind") or record.get("span_kind") or ""
    if not kind and value_at(attributes, "gen_ai", "operation", "name") == "retrieval":
        kind = RETRIEVER
    return Span(
        name=str(record.get("name") or "retriever"),
        id=str(_first(record, ids, "spanId", "span_id", "context.span_id") or ""),
        parent=_text_or_none(_first(record, {}, "parentSpanId", "parent_span_id", "parent_id", "parentId")),
        trace=str(_first(record, ids, "traceId", "trace_id", "context.trace_id") or ""),
        kind=str(kind).rsplit(".", 1)[-1].upper(),
        start_ns=_nanoseconds(_first(record, {}, "startTimeUnixNano", "start_time_unix_nano", "start_time")),
        end_ns=_nanoseconds(_first(record, {}, "endTimeUnixNano", "end_time_unix_nano", "end_time")),
        error=_error(record),
        attributes=attributes,
    )


def _first(record: Mapping[str, object], more: Mapping[str, object], *names: str) -> object:
    return next((held[name] for held in (record, more) for name in names if held.get(name)), None)


def _text_or_none(value: object) -> str | None:
    return None if value in (None, "") else str(value)


def _nanoseconds(value: object) -> int:
    if isinstance(value, int | float):
        # Tables of spans are exported in milliseconds, OTLP counts nanoseconds.
        return int(value) if value > 1e15 else int(value * 1e6)
    if isinstance(value, str):
        if value.isdigit():
            return _nanoseconds(int(value))
        try:
            return int(datetime.fromisoformat(value).timestamp() * 1e9)
        except ValueError:
            return 0
    return 0


def _error(record: Mapping[str, object]) -> str | None:
    held = as_table(record.get("status"))
    code = str(held.get("code") or held.get("status_code") or record.get("status_code") or "")
    if code.upper().removeprefix("STATUS_CODE_") not in ("ERROR", "2"):
        return None
    return str(held.get("message") or record.get("status_message") or "the span says that it failed")


def _attributes(record: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes of a span, nested, whatever form they came in."""
    nested: dict[str, object] = {}
    given = record.get("attributes")
    if isinstance(given, str):
        given = read_json_text(given)
    if isinstance(given, list):  # OTLP: [{"key": ..., "value": {"stringValue": ...}}]
        for pair in map(as_table, cast("list[object]", given)):
            put(nested, str(pair.get("key", "")), _otlp_value(pair.get("value")))
    for key, value in as_table(cast("object", given)).items():
        put(nested, key, value)
    for key, value in record.items():
        if key.startswith("attributes.") and value is not None:
            put(nested, key.removeprefix("attributes."), value)
    return nested


def put(nested: dict[str, object], path: str, value: object) -> None:
    """Put a value at a dotted path; a mapping is put key by key."""
    if isinstance(value, Mapping):
        for key, more in as_table(cast("object", value)).items():
            put(nested, f"{path}.{key}", more)
        return
    *tables, last = path.split(".")
    at = nested
    for name in tables:
        inner = at.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        at = cast("dict[str, object]", inner)
    at[last] = value


def _otlp_value(value: object) -> object:
    """Return a typed value plain: OTLP writes whole numbers as text, and lists as tables of values."""
    for key, held in as_table(value).items():
        match key.lower().replace("_", ""):
            case "intvalue":
                return int(str(held))
            case "arrayvalue":
                return [_otlp_value(one) for one in cast("list[object]", as_table(held).get("values") or [])]
            case "kvlistvalue":
                pairs = map(as_table, cast("list[object]", as_table(held).get("values") or []))
                return {str(pair.get("key")): _otlp_value(pair.get("value")) for pair in pairs}
            case _:
                return held
    return None


def value_at(nested: object, *path: str) -> object:
    """Return what stands at a path; None where nothing does."""
    for name in path:
        nested = as_table(nested).get(name)
    return nested


def as_table(value: object) -> Mapping[str, object]:
    """Return a mapping as one of text keys; anything else as an empty one."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): held for key, held in cast("Mapping[object, object]", value).items()}


def read_json_text(text: str) -> object:
    """Return the value of JSON text; None where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None
