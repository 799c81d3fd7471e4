"""The parts that published JSON Schemas are made of: every object is closed, and a dataclass describes itself."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from assay.model.notices import Notice
from docsite.words import field_docs

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
MEAN: Schema = {"type": ["number", "null"]}
FLAG: Schema = {"type": "boolean"}
ANY: Schema = {}
PLAIN: Schema = {"type": "object"}


def maybe(schema: Schema) -> Schema:
    """Return the schema with null allowed."""
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def listed(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def table(schema: Schema) -> Schema:
    """Return the schema of an object whose keys are names."""
    return {"type": "object", "additionalProperties": schema}


def closed(keys: Mapping[str, tuple[Schema, str]], *, optional: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object with these keys and no others."""
    return {
        "type": "object",
        "properties": {
            key: {**schema, "description": told} if told else schema for key, (schema, told) in keys.items()
        },
        "required": [key for key in keys if key not in optional],
        "additionalProperties": False,
    }


def noun(kind: type, **changes: Schema) -> Schema:
    """Return the closed schema of a dataclass or structure as it is printed; all of its fields are there.

    Args:
        kind: the class.
        changes: field -> the schema of what is printed in its place.
    """
    hints, docs = get_type_hints(kind, include_extras=True), field_docs(kind)
    keys = {
        name: (changes.get(name) or schema_of(hints[name]), docs.get(name, "")) for name in _names_of(kind)
    }
    return closed(keys)


def row(kind: type[msgspec.Struct]) -> Schema:
    """Return the closed schema of a structure that is read: what has a default may be left out."""
    optional = tuple(one.encode_name for one in msgspec.structs.fields(kind) if not one.required)
    schema = noun(kind)
    return {**schema, "required": [name for name in schema["required"] if name not in optional]}


def _names_of(kind: type) -> tuple[str, ...]:
    if issubclass(kind, msgspec.Struct):
        return tuple(one.encode_name for one in msgspec.structs.fields(kind))
    plain = cast("Any", kind)  # a dataclass, which no type says
    assert is_dataclass(plain)
    return tuple(field.name for field in fields(plain))


def schema_of(kind: Any) -> Schema:  # noqa: ANN401, PLR0911 - any annotation; one line a form
    """Return the schema of an annotation; dataclasses inside stand where they are named.

    >>> schema_of(tuple[str, ...])
    {'type': 'array', 'items': {'type': 'string'}}
    """
    origin, inner = get_origin(kind), get_args(kind)
    if hasattr(kind, "__metadata__"):
        return schema_of(inner[0])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return _any_of(inner)
    if origin is tuple and inner[-1] is not ...:
        parts = [schema_of(one) for one in inner]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "items": False}
    if origin is not None and issubclass(origin, Mapping):
        return table(schema_of(inner[1]))
    if origin is not None:
        return listed(schema_of(inner[0]))
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    return noun(kind)


def _any_of(kinds: tuple[Any, ...]) -> Schema:
    known = [one for one in kinds if one is not type(None)]
    schema = schema_of(known[0]) if len(known) == 1 else {"anyOf": [schema_of(one) for one in known]}
    if set(known) == {int, float}:
        schema = dict(NUMBER)
    return maybe(schema) if type(None) in kinds else schema


_PLAIN: Mapping[Any, Schema] = {
    str: TEXT,
    int: WHOLE,
    float: NUMBER,
    bool: FLAG,
    object: ANY,
    Any: ANY,
    datetime: {"type": "string", "format": "date-time"},
}
NOTICES = (listed(noun(Notice)), "Things worth saying that are no errors.")
AVERAGES = table(MEAN)
GROUP = {"type": "object", "properties": {"n": COUNT}, "required": ["n"], "additionalProperties": MEAN}
