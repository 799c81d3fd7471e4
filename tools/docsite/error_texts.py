"""Reads the texts of errors out of the source: what is written there, and what depends on the case."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "assay"
HOLE = "…"
_DEEP = 6
"""So many names are followed until a text is reached."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Hole:
    """A part that depends on the case."""

    label: str | None = None
    """What the source calls it."""
    parameter: str | None = None
    """Which parameter it is, for a caller to fill."""


Text = tuple[str | Hole, ...]
"""Parts, in their order."""
UNKNOWN: Text = (Hole(),)
NOTHING = Hole("nothing")
"""A part that says that there may be no text at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A module, and the functions and class that a piece of source stands in."""

    module: Module
    functions: tuple[Function, ...] = ()
    owner: str | None = None

    @property
    def parameters(self) -> frozenset[str]:
        if not self.functions:
            return frozenset()
        given = self.functions[-1].args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        return frozenset(one.arg for one in every)


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """One file of the package."""

    name: str
    """``assay.store.golden``."""
    file: str
    """Below the package: ``store/golden.py``."""
    tree: ast.Module
    defined: Mapping[str, tuple[Function, str | None]] = field(
        default_factory=dict[str, "tuple[Function, str | None]"]
    )
    """``name``, or ``Class.name``: the function, and its class."""
    imported: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Name here: (module, name there)."""


@cache
def modules() -> Mapping[str, Module]:
    """Return every module of the package by its name."""
    return {module.name: module for module in map(_module, sorted(SOURCE.rglob("*.py")))}


def function_of(called: ast.expr, scope: Scope) -> tuple[str, Function, Scope] | None:
    """Return the function of the package that a call calls: its full name, itself, and where it stands."""
    match called:
        case ast.Name(id=name):
            module = scope.module
            if name in module.imported:
                home, name = module.imported[name]
                if home not in modules():
                    return None
                module = modules()[home]
            if name in module.imported and name not in module.defined:  # a public face
                home, name = module.imported[name]
                module = modules().get(home, module)
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr) if scope.owner:
            module, name = scope.module, f"{scope.owner}.{attr}"
        case _:
            return None
    if name not in module.defined:
        return None
    function, owner = module.defined[name]
    return f"{module.name}:{name}", function, Scope(module, (function,), owner)


def bound(function: Function, call: ast.Call, *, method: bool) -> dict[str, ast.expr]:
    """Return parameter -> what a call puts there, with the defaults that it leaves."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    found: dict[str, ast.expr] = dict(zip(names[::-1], given.defaults[::-1], strict=False))
    found |= {
        one.arg: value
        for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if value is not None
    }
    found |= dict(zip(names[1:] if method else names, call.args, strict=False))
    return found | {one.arg: one.value for one in call.keywords if one.arg is not None}


def read(node: ast.expr, scope: Scope, deep: int = _DEEP) -> Text:  # noqa: C901, PLR0911, PLR0912 - one case a form
    """Return the text that an expression makes."""
    match node:
        case ast.Constant(value=str(text)):
            return (text,)
        case ast.Constant(value=None):
            return (NOTHING,)
        case ast.JoinedStr(values=parts):
            return _joined(read(part, scope, deep) for part in parts)
        case ast.FormattedValue(value=value):
            return read(value, scope, deep)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined((read(left, scope, deep), read(right, scope, deep)))
        case ast.IfExp(body=one, orelse=other):
            return either([read(one, scope, deep), read(other, scope, deep)])
        case ast.BoolOp(op=ast.Or(), values=[*values, last]):
            first = [told(read(value, scope, deep)) for value in values]
            return either([*first, read(last, scope, deep)])
        case ast.Name(id=name) if deep:
            return _named(name, scope, deep, node.lineno)
        case ast.Call(func=ast.Name(id="len")):
            return (Hole("number"),)
        case ast.Call(func=ast.Name(id="str" | "repr" | "sorted" | "listed" | "list"), args=[given, *_]) if (
            deep
        ):
            return read(given, scope, deep - 1)
        case ast.Call(func=ast.Attribute(attr="join"), args=[given]) if deep:
            return read(given, scope, deep - 1)
        case ast.Dict(values=values):
            return either([read(value, scope, deep) for value in values])
        case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[_, other]) if deep:
            return either([read(other, scope, deep), read(table, scope, deep)])
        case ast.Call() if deep:
            return _returned(node, scope, deep)
        case ast.Attribute(attr=label):
            return (Hole("type" if label == "__name__" else label.strip("_")),)
        case _:
            return UNKNOWN


def either(texts: Sequence[Text]) -> Text:
    """Return several texts, of which one is told: those with words, divided by strokes."""
    worded = list(dict.fromkeys(text for text in texts if has_words(text)))
    if not worded:
        return next(
            (text for text in texts if any(isinstance(part, Hole) and part.parameter for part in text)),
            UNKNOWN,
        )
    parts: list[str | Hole] = []
    for text in worded:
        parts += [" / ", *told(text)] if parts else told(text)
    return (*parts, NOTHING) if any(NOTHING in text for text in texts) else tuple(parts)


def told(text: Text) -> Text:
    """Return a text without the mark that it may not be there."""
    return tuple(part for part in text if part != NOTHING)


def filled(text: Text, given: Mapping[str, Text]) -> Text:
    """Return a text with what a caller puts in its holes."""
    return _joined(
        given.get(part.parameter, UNKNOWN) if isinstance(part, Hole) and part.parameter else (part,)
        for part in text
    )


def has_words(text: Text) -> bool:
    """Say whether something is written there, and not only signs between holes."""
    return any(isinstance(part, str) and any(sign.isalpha() for sign in part) for part in text)


def is_sentence(text: Text) -> bool:
    """Say whether three words or more are written there: names of settings and fields are fewer."""
    return sum(len(re.findall(r"[^\W\d_]{2,}", part)) for part in text if isinstance(part, str)) >= 3


def parameters_in(text: Text) -> frozenset[str]:
    """Return the parameters that a text takes."""
    return frozenset(part.parameter for part in text if isinstance(part, Hole) and part.parameter)


def shown(text: Text) -> str:
    """Return the text as the page writes it: a part that depends on the case is ``‹its name›``, or ``…``."""
    return "".join(
        part if isinstance(part, str) else f"‹{part.label}›" if part.label else HOLE for part in told(text)
    )


def _joined(texts: Iterator[Text] | Sequence[Text]) -> Text:
    return tuple(part for text in texts for part in text)


def _named(name: str, scope: Scope, deep: int, line: int | None = None) -> Text:
    for depth in range(len(scope.functions), -1, -1):
        inner = Scope(scope.module, scope.functions[:depth], scope.owner)
        body = inner.functions[-1].body if depth else inner.module.tree.body
        near = line if depth == len(scope.functions) > 0 else None
        values = list(_assigned(name, body)) if near is None else _assigned_before(name, body, near)
        texts = [read(value, inner, deep - 1) for value in values]
        if texts and any(has_words(text) for text in texts):
            return either(texts)
        if name in inner.parameters:
            return (Hole(name, name if depth == len(scope.functions) else None),)
        if texts:
            return (
                texts[0] if len(texts) == 1 and len(texts[0]) == 1 and texts[0] != UNKNOWN else (Hole(name),)
            )
    if name in scope.module.imported:
        home, there = scope.module.imported[name]
        if home in modules():
            text = _named(there, Scope(modules()[home]), deep - 1)
            return text if has_words(text) else (Hole(name),)
    return (Hole(name),)


def _assigned_before(name: str, block: Sequence[ast.stmt], line: int) -> list[ast.expr]:
    """Return what a name stands for in a line: the last that was assigned, in every branch that leads there."""
    for place, statement in enumerate(block):
        if not statement.lineno <= line <= (statement.end_lineno or 0):
            continue
        for inner in _blocks(statement):
            if found := _assigned_before(name, inner, line):
                return found
        for before in reversed(block[:place]):
            if found := list(_assigned(name, [before])):
                return found
        return list(_walrus(name, statement))
    return []


def _walrus(name: str, statement: ast.stmt) -> Iterator[ast.expr]:
    for node in ast.walk(statement):
        if isinstance(node, ast.NamedExpr) and node.target.id == name:
            yield node.value


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, (ast.ExceptHandler, ast.match_case)):
            yield part.body
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])


def _assigned(name: str, body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    for node in _within(body):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _value_for(name, target, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield from _value_for(name, target, value)
            case ast.NamedExpr(target=target, value=value):
                yield from _value_for(name, target, value)
            case ast.AugAssign(target=ast.Name(id=same), value=value) if same == name:
                yield value
            case _:
                pass


def _value_for(name: str, target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    match target, value:
        case ast.Name(id=same), _ if same == name:
            yield value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one, part in zip(targets, values, strict=True):
                yield from _value_for(name, one, part)
        case _:
            pass


def _within(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what stands in a body, but not in the functions and classes inside it."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*Function.__args__, ast.ClassDef, ast.Lambda)):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _returned(call: ast.Call, scope: Scope, deep: int) -> Text:
    """Return what a function of the package returns, where that is a text."""
    target = function_of(call.func, scope)
    if target is None:
        return UNKNOWN
    _, function, there = target
    texts = [
        read(node.value, there, deep - 1)
        for node in _within(function.body)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    method = isinstance(call.func, ast.Attribute)
    given = {
        name: read(value, scope, deep - 1) for name, value in bound(function, call, method=method).items()
    }
    text = either([filled(text, given) for text in texts])
    return text if has_words(text) else UNKNOWN


def _module(path: Path) -> Module:
    file = path.relative_to(SOURCE).as_posix()
    name = ".".join(
        ("assay", *file.removesuffix(".py").removesuffix("__init__").strip("/").split("/"))
    ).strip(".")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined: dict[str, tuple[Function, str | None]] = {}
    for node in tree.body:
        if isinstance(node, Function):
            defined[node.name] = (node, None)
        elif isinstance(node, ast.ClassDef):
            defined |= {
                f"{node.name}.{one.name}": (one, node.name) for one in node.body if isinstance(one, Function)
            }
    imported: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            imported |= {one.asname or one.name: (node.module, one.name) for one in node.names}
    return Module(name, file, tree, defined, imported)
