"""The Python API, from signatures and docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import griffe

import assay
from docsite.words import MARK, cell, plain

SOURCE = Path(__file__).resolve().parents[2] / "src"
ROOMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "nouns": (
        "The nouns",
        (
            "assay.model.documents",
            "assay.model.golden",
            "assay.model.runs",
            "assay.model.relevance",
            "assay.model.scores",
            "assay.model.summary",
            "assay.model.findings",
            "assay.model.comparison",
            "assay.model.notices",
            "assay.model.errors",
        ),
    ),
    "measures": (
        "Measures",
        (
            "assay.measures.spec",
            "assay.measures.family",
            "assay.measures.batch",
            "assay.measures.worked",
            "assay.measures.spans",
            "assay.measures.ties",
        ),
    ),
    "matching": (
        "Matching and documents",
        ("assay.matching", "assay.corpus", "assay.corpus.chunkers.chunker"),
    ),
    "commands": (
        "What the commands do",
        (
            "assay.flows.project",
            "assay.flows.evaluate",
            "assay.flows.explain",
            "assay.flows.diagnose",
            "assay.flows.compare",
            "assay.flows.gate",
            "assay.flows.score",
            "assay.flows.convert",
            "assay.flows.fuse",
            "assay.flows.sweep",
            "assay.flows.report",
            "assay.flows.spark",
        ),
    ),
    "statistics": (
        "Statistics and comparison",
        (
            "assay.stats.signs",
            "assay.stats.bootstrap",
            "assay.stats.multiple",
            "assay.stats.power",
            "assay.stats.agreement",
            "assay.stats.rates",
            "assay.comparison.paired",
            "assay.comparison.matrix",
        ),
    ),
    "connectors": (
        "Connectors and their test kit",
        ("assay.connectors.protocol", "assay.connectors.collector", "assay.connectors.conformance"),
    ),
    "files": (
        "Files",
        ("assay.store.golden", "assay.store.runs", "assay.store.findings", "assay.store.traces"),
    ),
}
"""Page -> its title and the modules on it."""


def pages() -> dict[str, str]:
    """Return the pages: the public names of ``assay``, and one a room."""
    loaded = griffe.load("assay", search_paths=[SOURCE], docstring_parser="google")
    assert isinstance(loaded, griffe.Module)
    found = {"reference/api/index.md": _top(loaded)}
    for name, (title, modules) in ROOMS.items():
        parts = [MARK, f"# {title}\n"]
        for module in modules:
            parts += _module(loaded[module.removeprefix("assay.")])
        found[f"reference/api/{name}.md"] = "\n".join(parts)
    return found


def _top(loaded: griffe.Module) -> str:
    parts = [MARK, "# `import assay`\n", _INTRODUCTION]
    for name in assay.__all__:
        if not name.startswith("__"):
            parts += _member(_home(loaded, name), level=2, name=f"assay.{name}")
    return "\n".join(parts)


def _home(loaded: griffe.Module, name: str) -> griffe.Object:
    """Return where a public name is defined."""
    module = assay._HOMES[name]  # noqa: SLF001 - the table of public names
    home = loaded[module.removeprefix("assay.")]
    found = home.members.get(name, home)
    target = found.final_target if isinstance(found, griffe.Alias) else found
    assert isinstance(target, griffe.Object), (name, type(target))
    return target


def _module(module: Any) -> Iterator[str]:  # noqa: ANN401 - griffe's object or alias
    yield f"## `{module.path}`\n"
    yield _sections(module, plain(module.docstring.value if module.docstring else ""))
    public = getattr(import_module(module.path), "__all__", None)
    for name, found in module.members.items():
        if name.startswith("_") or (public is not None and name not in public):
            continue
        if found.is_alias and public is None:
            continue
        member = found.final_target if found.is_alias else found
        if member.docstring is None or member.is_module or (member.is_attribute and not member.docstring):
            continue
        yield from _member(member, level=3)


def _member(member: Any, *, level: int, name: str | None = None) -> Iterator[str]:  # noqa: ANN401
    yield f"{'#' * level} `{name or member.name}`\n"
    if member.is_function or member.is_class:
        yield f"```python\n{_signature(member)}\n```\n".replace("```python", "```{ .python .signature }")
    yield _sections(member, "")
    if member.is_class:
        yield from _fields(member)
        for inner in member.members.values():
            if inner.is_function and not inner.name.startswith("_") and inner.docstring:
                yield f"{'#' * (level + 1)} `{member.name}.{inner.name}`\n"
                yield f"```{{ .python .signature }}\n{_signature(inner)}\n```\n"
                yield _sections(inner, "")


def _fields(member: Any) -> Iterator[str]:  # noqa: ANN401
    rows = [
        f"| `{one.name}` | `{cell(one.annotation or '')}` | {cell(plain(one.docstring.value if one.docstring else ''))} |"
        for one in member.members.values()
        if one.is_attribute and not one.name.startswith("_") and one.annotation is not None
    ]
    if rows:
        yield "\n".join(["| field | type | meaning |", "|---|---|---|", *rows]) + "\n"


def _signature(member: Any) -> str:  # noqa: ANN401
    if member.is_class:
        bases = ", ".join(str(base) for base in member.bases)
        return f"class {member.name}({bases})" if bases else f"class {member.name}"
    parts: list[str] = []
    keyword_only = False
    for one in member.parameters:
        if one.name in ("self", "cls"):
            continue
        if one.kind is griffe.ParameterKind.keyword_only and not keyword_only:
            keyword_only = True
            parts.append("*")
        mark = {"variadic positional": "*", "variadic keyword": "**"}.get(str(one.kind.value), "")
        keyword_only = keyword_only or mark == "*"
        text = mark + one.name + (f": {one.annotation}" if one.annotation is not None else "")
        parts.append(text if one.default is None or mark else f"{text} = {one.default}")
    returns = f" -> {member.returns}" if member.returns is not None else ""
    line = f"{member.name}({', '.join(parts)}){returns}"
    if len(line) <= 100:
        return line
    inner = "".join(f"    {part},\n" for part in parts)
    return f"{member.name}(\n{inner}){returns}"


def _sections(member: Any, fallback: str) -> str:  # noqa: ANN401
    if member.docstring is None:
        return fallback
    parts: list[str] = []
    for section in member.docstring.parse("google", warnings=False):
        kind = section.kind.value
        if kind == "text":
            parts.append(plain(section.value))
        elif kind in ("parameters", "raises", "returns", "attributes", "yields"):
            parts.append(f"**{kind.capitalize()}**\n")
            parts.append(
                "\n".join(f"- {_item(one, kind)}: {cell(plain(one.description))}" for one in section.value)
            )
        elif kind == "examples":
            for form, text in section.value:
                parts.append(plain(text) if form.value == "text" else f"```pycon\n{text}\n```")
        elif kind == "admonition":
            parts.append(plain(section.value.description))
    return _coded("\n\n".join(parts)) + "\n"


def _item(one: Any, kind: str) -> str:  # noqa: ANN401
    named = getattr(one, "name", "") if kind in ("parameters", "attributes") else one.annotation
    return f"`{named}`" if named else "the result"


def _coded(text: str) -> str:
    """Put examples that griffe left in the text into blocks of their own."""
    return (
        re.sub(
            r"(?m)(?:^>>> .*\n?(?:^(?!\n)(?!>>> ).+\n?)*)+",
            lambda match: f"\n```pycon\n{match[0].rstrip()}\n```\n",
            text,
        )
        if "```pycon" not in text
        else text
    )


_INTRODUCTION = """
Loaded when they are first used: `import assay` costs nothing. Everything else is found by its room; nothing that
begins with an underscore is public.
"""
