"""The page of the published JSON Schemas: every key of every file and of every ``--json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from docsite.words import MARK, table

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schemas"


def pages() -> dict[str, str]:
    """Return the one page."""
    parts = [MARK, "# JSON Schemas\n\n", _INTRODUCTION]
    for path in sorted(FOLDER.glob("*.schema.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        parts.append(
            f"## {path.name}\n\n{schema.get('title', '')}. [The schema](../schemas/{path.name}).\n\n"
        )
        parts += list(_objects(schema))
    return {"reference/schemas.md": "".join(parts)}


def _objects(schema: Mapping[str, Any]) -> Iterator[str]:
    for choice in [schema, *schema.get("oneOf", ())]:
        if "properties" in choice:
            yield _object(choice)
    for name, inner in schema.get("$defs", {}).items():
        if "properties" in inner:
            yield f"### `{name}`\n\n{inner.get('description', '')}\n\n{_object(inner)}\n"


def _object(schema: Mapping[str, Any]) -> str:
    return table(["key", "value", "always there", "meaning"], list(_rows(schema, ""))) + "\n"


def _rows(schema: Mapping[str, Any], prefix: str) -> Iterator[list[str]]:
    """Yield a row a key; keys of objects inside follow their own, as ``stages.*.depth`` or ``misses[].kind``."""
    needed = set(schema.get("required", ()))
    for key, value in schema.get("properties", {}).items():
        told = value.get("description", "")
        yield [f"`{prefix}{key}`", _kind(value), "yes" if key in needed else "", told]
        yield from _inner(value, f"{prefix}{key}")


def _inner(value: Mapping[str, Any], place: str) -> Iterator[list[str]]:
    for one in [value, *value.get("anyOf", ())]:
        if isinstance(one.get("items"), dict):
            yield from _inner({"anyOf": [one["items"]]}, f"{place}[]")
        elif isinstance(one.get("additionalProperties"), dict) and one["additionalProperties"]:
            yield from _inner({"anyOf": [one["additionalProperties"]]}, f"{place}.*")
        if one is not value or "properties" in one:
            yield from _rows(one, f"{place}.")


def _kind(value: Mapping[str, Any]) -> str:  # noqa: PLR0911 - one line a form
    if "$ref" in value:
        return f"`{value['$ref'].rsplit('/', 1)[1]}`"
    if "anyOf" in value:
        return " or ".join(_kind(one) for one in value["anyOf"])
    if "enum" in value:
        return ", ".join(json.dumps(one) for one in value["enum"])
    if "const" in value:
        return json.dumps(value["const"])
    kind: Any = value.get("type", "any")
    if kind == "array" and isinstance(value.get("items"), dict):
        return f"list of {_kind(value['items'])}"
    if kind == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"table of {_kind(value['additionalProperties'])}"
    return " or ".join(map(str, cast("list[object]", kind))) if isinstance(kind, list) else str(kind)


_INTRODUCTION = """\
Draft 2020-12. Tests hold what the program writes against them. Undefined numbers are `null`, never 0. [File
forms](../schemas/README.md) says what the keys of the files mean.

"""
