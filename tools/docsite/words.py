"""How generated pages write what they find: escaped cells, plain types, the docstrings of fields."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any, Literal, get_args, get_origin

import msgspec

MARK = "<!-- generated: tools/docsite -->\n\n"
"""Stands at the top of every generated page."""


def cell(text: object) -> str:
    """Write a text as one cell of a Markdown table."""
    return " ".join(str(text).replace("|", "\\|").split())


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(cell(one) for one in row) + " |" for row in rows)]) + "\n"


def plain(docstring: str | None) -> str:
    """Return a docstring as Markdown: double backticks are code, an indented block stays one."""
    text = inspect.cleandoc(docstring or "")
    text = re.sub(r"(?<!`)``(?!`)", "`", text)
    return re.sub(r"(?m)::$", ":", text)


def field_docs(kind: type) -> dict[str, str]:
    """Return field -> the docstring below it, for a class and what it inherits."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if one.__module__.startswith("assay."):
            found |= _own_docs(one)
    return found


def _own_docs(kind: type) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for before, after in zip(definition.body, definition.body[1:], strict=False):
        if (
            isinstance(before, ast.AnnAssign)
            and isinstance(before.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            found[before.target.id] = plain(after.value.value)
    return found


def type_text(kind: Any) -> str:  # noqa: ANN401, PLR0911 - any annotation; one line a form
    """Write a type for people: ``whole number, 1 or more``.

    >>> type_text(Literal["a", "b"]), type_text(int | None)
    ('"a", "b"', 'whole number')
    """
    if hasattr(kind, "__metadata__"):
        return type_text(get_args(kind)[0]) + _limits(kind.__metadata__)
    if get_origin(kind) is Literal:
        return ", ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in get_args(kind))
    plain_names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    if kind in plain_names:
        return plain_names[kind]
    parts = [one for one in get_args(kind) if one is not type(None)]
    origin = get_origin(kind)
    if origin in (list, tuple, frozenset, set):
        return f"list of {type_text(parts[0])}"
    if origin is dict or "Mapping" in str(origin):
        return f"table of {type_text(parts[1])}"
    if parts:
        return " or ".join(dict.fromkeys(type_text(one) for one in parts))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return "table"
    return "any value"


def _limits(metadata: tuple[Any, ...]) -> str:
    told: list[str] = []
    for meta in metadata:
        low, high = getattr(meta, "ge", None), getattr(meta, "le", None)
        above, below = getattr(meta, "gt", None), getattr(meta, "lt", None)
        if low is not None and high is not None:
            told.append(f"{low} to {high}")
        elif low is not None:
            told.append(f"{low} or more")
        elif above is not None:
            told.append(f"above {above}")
        if below is not None:
            told.append(f"below {below}")
    return "".join(f", {one}" for one in told)


def value_text(value: object) -> str:
    """Write a default as TOML would; nothing for one that is worked out.

    >>> value_text(True), value_text("rrf"), value_text(None)
    ('`true`', '`"rrf"`', '')
    """
    if value is None or isinstance(value, msgspec.Struct):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, dict | frozenset):
        return "`{}`" if not value else f"`{value}`"
    return f"`{msgspec.json.encode(value).decode()}`"
