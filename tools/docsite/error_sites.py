"""Finds every place where Assay raises an error for a user, with its message, by reading the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "assay"
ERRORS = frozenset({"InputError", "ConfigError", "StoreError", "RetrieverError"})
HOLE = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place where an error, or one fault of several, is made."""

    file: str
    """Path below the package: ``store/golden.py``."""
    line: int
    what: str
    """The message; what depends on the case is ``…``."""
    fix: str | None

    @property
    def room(self) -> str:
        return self.file.split("/", maxsplit=1)[0].removesuffix(".py")


def error_sites() -> list[Site]:
    """Return every site, file by file.

    A message that is put together elsewhere (a variable) is found where its text stands, if that is a fault too.
    """
    found: list[Site] = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = path.relative_to(SOURCE).as_posix()
        found += [site for node in ast.walk(tree) for site in _site(node, name)]
    return sorted(found, key=lambda site: (site.file, site.line))


def _site(node: ast.AST, file: str) -> Iterator[Site]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return
    called = node.func.id
    named = {one.arg: one.value for one in node.keywords if one.arg is not None}
    if called == "Fault":
        what = named.get("what")
    elif called in ERRORS:
        what = node.args[0] if node.args else None
        if isinstance(what, ast.Call):  # the fault inside is a site of its own
            return
    else:
        return
    text = None if what is None else _text(what)
    if text is not None and text.strip(f"{HOLE} :"):
        fix = _text(named["fix"]) if "fix" in named else None
        yield Site(file=file, line=node.lineno, what=text, fix=fix)


def _text(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            told = [part.value if isinstance(part, ast.Constant) else HOLE for part in parts]
            return "".join(map(str, told))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{_text(left) or HOLE}{_text(right) or HOLE}"
        case ast.IfExp(body=body, orelse=other):
            both = [one for one in (_text(body), _text(other)) if one]
            return " / ".join(both) or None
        case _:
            return None
