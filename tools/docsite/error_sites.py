"""Finds every error that a user can meet, with its text and its fix, by reading the source.

An error that a user can meet is a text of Assay's own, given to one of Assay's own exceptions or to a `Fault`.
What is left out by that rule is no error of a user: exceptions of Python (`ValueError`, `AssertionError`), which
say that the program is wrong; exceptions without a text, which are signals between two functions; and those
whose name begins with an underscore, which never leave their module.

A function that makes an error of a sentence which its caller gives is as good as an exception: then each caller that
gives one is a place of its own. The page of errors and the tests that make every error read this one list.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from docsite.error_texts import (
    NOTHING,
    Function,
    Hole,
    Module,
    Scope,
    Text,
    bound,
    filled,
    function_of,
    has_words,
    is_sentence,
    modules,
    parameters_in,
    read,
    shown,
    told,
)

_DEEP = 5
"""So many functions stand between a text and the error at most."""
ROOT_CLASS = "AssayError"
SAYS_WHAT_IS_RIGHT = re.compile(r"\b(must|should|takes?)\b.*\bnot\b|\b(is|are) expected\b|; it is ")
"""A sentence that says what is right is its own fix: 'k must be at least 1, not 0', 'expected int; it is 0.5'."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a call ends in its file: no two calls end at the same sign."""

    file: str
    """Below the package: ``store/golden.py``."""
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One error, or one fault of several, as it is made in one place."""

    file: str
    line: int
    kind: str
    """Name of the exception, or ``Fault``."""
    where: str | None
    """The place that it names, where that is kept apart."""
    what: str
    """The message; what depends on the case is ``…``."""
    fix: str | None
    always_fixed: bool
    """Whether the fix is told in every case."""
    places: frozenset[Place]
    """The calls that all run when this error is made."""

    @property
    def room(self) -> str:
        return self.file.split("/", maxsplit=1)[0].removesuffix(".py")

    @property
    def told(self) -> str:
        """The message with the place that it begins with."""
        return f"{self.where}: {self.what}" if self.where else self.what

    @property
    def is_reason(self) -> bool:
        """Whether it stands inside of another error, which has the place and the fix."""
        return self.kind != "Fault" and not in_tree(self.kind)

    @property
    def says_how(self) -> bool:
        """Whether the fix is given, or the sentence says what is right."""
        return self.always_fixed or SAYS_WHAT_IS_RIGHT.search(self.what) is not None


@cache
def error_classes() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the exceptions that Assay defines: name -> (module, names of the classes that it is one of)."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for module in modules().values():
        for node in ast.walk(module.tree):
            if (
                isinstance(node, ast.ClassDef)
                and node.name.endswith("Error")
                and not node.name.startswith("_")
            ):
                bases = tuple(base.id for base in node.bases if isinstance(base, ast.Name))
                found[node.name] = (module.name, bases)
    return found


def in_tree(name: str) -> bool:
    """Say whether an exception is one of the tree that carries exit codes and fixes.

    >>> in_tree("ConfigError"), in_tree("ValueError")
    (True, False)
    """
    if name == ROOT_CLASS:
        return True
    _, bases = error_classes().get(name, ("", ()))
    return any(in_tree(base) for base in bases)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """An error as one call makes it; its texts may have holes that a caller fills."""

    module: Module
    call: ast.Call
    kind: str
    where: Text | None
    what: Text
    fix: Text | None
    places: frozenset[Place]

    @property
    def parameters(self) -> frozenset[str]:
        return parameters_in(self.what) | parameters_in(self.fix or ())


@cache
def error_sites() -> tuple[Site, ...]:
    """Return every site, file by file."""
    calls = [(scope, call) for module in modules().values() for scope, call in _calls(module)]
    callers: dict[str, list[tuple[Scope, ast.Call, Function]]] = defaultdict(list)
    for scope, call in calls:
        target = function_of(call.func, scope)
        if target is not None and target[0] != _function_name(scope):
            callers[target[0]].append((scope, call, target[1]))
    ends: list[_Made] = []
    for scope, call in calls:
        if (one := _constructed(scope, call)) is not None:
            here, untold = _told_by_callers(one, _function_name(scope), callers)
            ends += [*here, one] if untold and is_sentence(one.what) else here or [one]
    sites = [site for one in ends for site in _site(one)]
    return tuple(sorted(sites, key=lambda site: (site.file, site.line, site.what)))


def _function_name(scope: Scope) -> str:
    if not scope.functions:
        return scope.module.name
    inner = scope.functions[-1].name
    name = f"{scope.owner}.{inner}" if scope.owner and len(scope.functions) == 1 else inner
    return f"{scope.module.name}:{name}"


def _calls(module: Module) -> Iterator[tuple[Scope, ast.Call]]:
    waiting: list[tuple[Scope, ast.AST]] = [(Scope(module), module.tree)]
    while waiting:
        scope, node = waiting.pop()
        if isinstance(node, ast.Call):
            yield scope, node
        if isinstance(node, Function):
            scope = Scope(module, (*scope.functions, node), scope.owner)
        elif isinstance(node, ast.ClassDef):
            scope = Scope(module, (), node.name)
        waiting += [(scope, child) for child in ast.iter_child_nodes(node)]


def _constructed(scope: Scope, call: ast.Call) -> _Made | None:
    if not isinstance(call.func, ast.Name) or scope.owner == ROOT_CLASS:
        return None
    kind = call.func.id
    named = {one.arg: one.value for one in call.keywords if one.arg is not None}
    if kind == "Fault":
        what = named.get("what")
    elif kind in error_classes():
        what = call.args[0] if call.args else None
    else:
        return None
    if what is None:
        return None
    text, where = read(what, scope), named.get("where")
    if not has_words(text) and not parameters_in(text) and _passes_on(kind, what):
        return None
    fix = read(named["fix"], scope) if "fix" in named else ()
    own = _of_class(kind)
    if own is not None:
        function, made, always = own
        given = {
            name: _plain(read(value, scope)) for name, value in bound(function, call, method=True).items()
        }
        # Which feature it is, or which server, makes no other error.
        text = filled(made, given | {function.args.args[1].arg: _plain(text)})
        fix = fix or filled(always, given)
    return _Made(
        module=scope.module,
        call=call,
        kind=kind,
        where=None if where is None else read(where, scope),
        what=text,
        fix=fix or None,
        places=frozenset({_place(scope.module, call)}),
    )


def _passes_on(kind: str, what: ast.expr) -> bool:
    """Say whether a text, or faults, that were made elsewhere are handed on as they are."""
    match what:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return True
        case ast.List() | ast.Tuple() | ast.ListComp() | ast.GeneratorExp():
            return True
        case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name(id="self"))):
            return kind != "Fault"
        case _:
            return False


@cache
def _of_class(kind: str) -> tuple[Function, Text, Text] | None:
    """Return how an exception makes its text and its fix of what it is given, where it has a way of its own."""
    module = modules()[error_classes()[kind][0]] if kind in error_classes() else None
    if module is None or kind == ROOT_CLASS or f"{kind}.__init__" not in module.defined:
        return None
    function, owner = module.defined[f"{kind}.__init__"]
    scope = Scope(module, (function,), owner)
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__" and node.args:
            named = {one.arg: one.value for one in node.keywords}
            return function, read(node.args[0], scope), read(named["fix"], scope) if "fix" in named else ()
    return None


def _told_by_callers(
    one: _Made, function: str, callers: Mapping[str, Sequence[tuple[Scope, ast.Call, Function]]]
) -> tuple[list[_Made], bool]:
    """Return the errors of callers that give a sentence, and whether another gives none."""
    if not one.parameters or len(one.places) > _DEEP:
        return [], True
    found: list[_Made] = []
    untold = False
    for scope, call, called in callers.get(function, ()):
        method = isinstance(call.func, ast.Attribute)
        given = {name: read(value, scope) for name, value in bound(called, call, method=method).items()}
        texts = [given[name] for name in parameters_in(one.what) if name in given]
        sentence = any(is_sentence(text) for text in texts)
        if not sentence and not any(parameters_in(text) for text in texts):
            untold = True
            continue
        here = replace(
            one,
            module=scope.module,
            call=call,
            what=filled(one.what, given),
            fix=None if one.fix is None else filled(one.fix, given) or None,
            places=one.places | {_place(scope.module, call)},
        )
        further, unsaid = _told_by_callers(here, _function_name(scope), callers)
        found += further or ([here] if sentence else [])
        untold = untold or (unsaid and not sentence)
    return found, untold


def _plain(text: Text) -> Text:
    """Return a text whose holes are nobody's: which feature it is makes no other error."""
    return tuple(part if isinstance(part, str) else Hole(part.label) for part in text)


def _place(module: Module, call: ast.Call) -> Place:
    assert call.end_lineno is not None and call.end_col_offset is not None  # noqa: PT018
    return Place(module.file, call.end_lineno, call.end_col_offset)


def _site(one: _Made) -> Iterator[Site]:
    fix = told(one.fix or ())
    yield Site(
        file=one.module.file,
        line=one.call.lineno,
        kind=one.kind,
        where=None if one.where is None else shown(one.where),
        what=" ".join(shown(one.what).split()),
        fix=shown(fix) if fix else None,
        always_fixed=bool(fix) and NOTHING not in (one.fix or ()),
        places=one.places,
    )
