"""Changing settings in the text of a TOML file: its other lines, comments and order stay as they are."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, cast

_HEADER = re.compile(r"^\s*\[(?!\[)\s*(?P<path>[^\]]+?)\s*\]\s*(#.*)?$")
_KEY = re.compile(r"^\s*(?P<key>[A-Za-z0-9_.-]+)\s*=\s*(?P<value>.*)$")
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def changed_toml(text: str, changes: Mapping[str, Any]) -> str | None:
    r"""Return the text with settings changed, or None when its form is beyond this editor.

    What comes out is read again, and says exactly what was asked for.

    Args:
        text: a TOML document.
        changes: dotted path -> value; a mapping replaces what stands there.

    >>> print(changed_toml("[pipeline]\npool = 50  # rows\n", {"pipeline.pool": 100, "chunker.size": 8}))
    [pipeline]
    pool = 100  # rows
    <BLANKLINE>
    [chunker]
    size = 8
    <BLANKLINE>
    """
    lines = text.splitlines()
    for path, value in changes.items():
        _set(lines, path.split("."), value)
    made = "\n".join(lines) + "\n"
    try:
        told = tomllib.loads(made)
    except tomllib.TOMLDecodeError:
        return None
    return made if told == _wanted(tomllib.loads(text), changes) else None


def toml_diff(before: str, after: str, name: str) -> str:
    """Return the unified diff of two texts of one file; empty when they are the same."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        fromfile=f"a/{name}",
        tofile=f"b/{name}",
        n=2,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _wanted(raw: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    wanted = deepcopy(raw)
    for path, value in changes.items():
        table: dict[str, Any] = wanted
        *tables, key = path.split(".")
        for name in tables:
            inner = table.get(name)
            table[name] = inner if isinstance(inner, dict) else {} if inner is None else {"name": inner}
            table = table[name]
        table[key] = value
    return wanted


def _set(lines: list[str], path: list[str], value: object) -> None:
    """Put a value at a path: in the place of its line, else in the deepest table that is there."""
    tables = _tables(lines)
    if _inside(tables, path) is not None:  # the whole table is replaced: its lines go first
        _drop(lines, path)
        tables = _tables(lines)
    for depth in range(len(path) - 1, -1, -1):
        span = tables.get(tuple(path[:depth]))
        if span is None:
            continue
        for at in range(*span):
            found = _KEY.match(lines[at])
            if found is None:
                continue
            here = found["key"].split(".")
            if here == path[depth:]:
                lines[at] = f"{'.'.join(here)} = {_written(value)}{_comment(found['value'])}"
                return
            if path[depth : depth + len(here)] == here:  # a short form: `reranker = "lexical"`
                short = found["value"].strip()
                lines[at : at + 1] = [
                    f"{found['key']}.name = {short}",
                    f"{'.'.join(path[depth:])} = {_written(value)}",
                ]
                return
    depth = max((depth for depth in range(len(path)) if tuple(path[:depth]) in tables and depth), default=0)
    if depth == 0 and len(path) > 1:
        lines += ["", f"[{path[0]}]", f"{'.'.join(path[1:])} = {_written(value)}"]
        return
    start, end = tables[tuple(path[:depth])]
    while end > start and not lines[end - 1].strip():
        end -= 1
    lines.insert(end, f"{'.'.join(path[depth:])} = {_written(value)}")


def _tables(lines: list[str]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return table path -> its lines; the root is the empty path."""
    heads: list[tuple[tuple[str, ...], int]] = [((), 0)]
    for at, line in enumerate(lines):
        found = _HEADER.match(line)
        if found is not None:
            heads.append((tuple(part.strip(" \"'") for part in found["path"].split(".")), at + 1))
    tables: dict[tuple[str, ...], tuple[int, int]] = {}
    for place, (path, start) in enumerate(heads):
        end = heads[place + 1][1] - 1 if place + 1 < len(heads) else len(lines)
        tables.setdefault(path, (start, end))
    return tables


def _inside(tables: Mapping[tuple[str, ...], tuple[int, int]], path: list[str]) -> tuple[str, ...] | None:
    return next((name for name in tables if name[: len(path)] == tuple(path)), None)


def _drop(lines: list[str], path: list[str]) -> None:
    """Remove a table and those below it."""
    while True:
        tables = _tables(lines)
        name = _inside(tables, path)
        if name is None:
            return
        start, end = tables[name]
        del lines[start - 1 : end]


def _written(value: object) -> str:
    """Write a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return f"{{ {', '.join(f'{_key(key)} = {_written(held)}' for key, held in pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, cast('list[object]', value)))}]"
    raise ValueError(f"{value!r} cannot be written as TOML")


def _key(key: str) -> str:
    return key if _BARE.match(key) else json.dumps(key, ensure_ascii=False)


def _comment(rest: str) -> str:
    """Return the comment that follows a plain value, with the blanks before it."""
    found = re.match(r"""(?:"[^"]*"|'[^']*'|[^#"'\[{])*?(?P<comment>\s*#.*)$""", rest)
    return found["comment"] if found else ""
