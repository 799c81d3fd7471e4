r"""``[diagnosis]`` in ``assay.toml``: kinds and fixes of a team's own.

::

    [diagnosis.kinds.old-version]
    fix = "newest-first"
    when = { lost_at = ["final cut"], query_matches = 'v\d' }   # all conditions have to hold

    [diagnosis.kinds.wrong-tenant]
    fix = "query-rewrite"
    when = "my_rules:wrong_tenant"          # a function of the case: True, or a sentence of evidence

    [diagnosis.fixes.newest-first]
    set = { "pipeline.fusion.weights.fulltext" = 3.0 }          # or a list of them: a grid

Kinds of a team are asked before Assay's own, in the order of the file. A fix under one of Assay's own names
adds to what is tried for it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import msgspec

from assay.diagnosis.cases import Case
from assay.diagnosis.rules import RULES, Proposed, Rule
from assay.model.errors import ConfigError, Fault, nearest
from assay.model.findings import FIXES, KINDS, Evidence, LostAt
from assay.model.settings import read_settings, unknown_key


class When(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on a case; all of those that are given have to hold."""

    lost_at: list[LostAt] = msgspec.field(default_factory=list[LostAt])
    """Any of these places."""
    query_kind: list[str] = msgspec.field(default_factory=list[str])
    """Any of these kinds of query."""
    query_matches: str | None = None
    """A regular expression that is found in the query."""
    document: str | None = None
    """A glob that the id of the chunk's document matches."""
    shared_at_most: int | None = None
    """Content words that query and chunk share."""
    shared_at_least: int | None = None
    best_rank_at_most: int | None = None
    """Of the chunk in the first-stage lists; a chunk that is in none of them has no rank."""
    best_rank_at_least: int | None = None


class KindTable(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of a team's own."""

    fix: str
    when: dict[str, Any] | str
    about: str = ""
    """What the kind means; it stands in the evidence."""


class FixTable(msgspec.Struct, frozen=True, kw_only=True):
    """One fix of a team's own: what ``--try`` turns for it."""

    set: list[dict[str, Any]] | dict[str, Any]
    """Setting -> value, or several of these to be tried in turn."""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisSettings:
    """What ``[diagnosis]`` says."""

    rules: tuple[Rule, ...] = RULES
    """The team's own first."""
    kinds: tuple[str, ...] = KINDS
    """All kinds that a person can choose from."""
    fix_of: Mapping[str, str]
    """The fix that each kind of the team's own names."""
    fixes: Mapping[str, tuple[Mapping[str, Any], ...]]
    """Fix of the team's own -> the changes to try."""


def read_diagnosis(
    values: Mapping[str, Any], *, folder: Path | None = None, where: str = "assay.toml [diagnosis]"
) -> DiagnosisSettings:
    """Read the table.

    Args:
        values: the table as it was read.
        folder: where modules of the project are found.
        where: how faults name the table.

    Raises:
        ConfigError: it has faults; all of them are listed.

    >>> own = read_diagnosis({"kinds": {"typo": {"fix": "query-rewrite", "when": {"shared_at_most": 0}}}})
    >>> own.kinds[0], len(own.rules)
    ('typo', 8)
    """
    faults = [unknown_key(key, ["kinds", "fixes"], where) for key in values if key not in ("kinds", "fixes")]
    fixes: dict[str, tuple[Mapping[str, Any], ...]] = {}
    for name, raw in _tables(values, "fixes", where, faults).items():
        fixes[name] = _changes(name, raw, f"{where[:-1]}.fixes.{name}]", faults)
    known_fixes = [*FIXES, *(name for name in fixes if name not in FIXES)]
    rules: list[Rule] = []
    fix_of: dict[str, str] = {}
    for name, raw in _tables(values, "kinds", where, faults).items():
        place = f"{where[:-1]}.kinds.{name}]"
        table, more = read_settings(KindTable, raw, place)
        faults += more
        if table is None:
            continue
        if table.fix not in known_fixes:
            close = nearest(table.fix, known_fixes)
            fix = f"did you mean {close!r}?" if close else f"add [diagnosis.fixes.{table.fix}]"
            faults.append(Fault(where=f"{place} fix", what=f"there is no fix {table.fix!r}", fix=fix))
        fix_of[name] = table.fix
        holds = _condition(table.when, f"{place} when", folder, faults)
        rules.append(_own_rule(name, table, holds))
    if faults:
        raise ConfigError(faults)
    return DiagnosisSettings(
        rules=(*rules, *RULES),
        kinds=tuple(dict.fromkeys([*fix_of, *KINDS])),
        fix_of=fix_of,
        fixes=fixes,
    )


Condition = Callable[[Case], object]


def _never(case: Case) -> bool:
    del case
    return False


def _own_rule(name: str, table: KindTable, holds: Condition) -> Rule:
    def rule(case: Case) -> Proposed | None:
        said = holds(case)
        if not said:
            return None
        if isinstance(said, Evidence):
            return Proposed(kind=name, fix=table.fix, evidence=said)
        sentence = said if isinstance(said, str) else table.about or f"The conditions of {name!r} hold."
        facts = {"shared": case.spelled(case.shared), "list_ranks": dict(case.list_ranks)}
        return Proposed(kind=name, fix=table.fix, evidence=Evidence(sentence=sentence, facts=facts))

    return rule


def _tables(
    values: Mapping[str, Any], key: str, where: str, faults: list[Fault]
) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    tables = values.get(key, {})
    if not isinstance(tables, Mapping):
        faults.append(Fault(where=f"{where} {key}", what=f"should be a table, not {tables!r}"))
        return found
    for name, raw in cast("Mapping[str, Any]", tables).items():
        if isinstance(raw, Mapping):
            found[name] = cast("Mapping[str, Any]", raw)
        else:
            faults.append(Fault(where=f"{where} {key}.{name}", what=f"should be a table, not {raw!r}"))
    return found


def _changes(
    name: str, raw: Mapping[str, Any], place: str, faults: list[Fault]
) -> tuple[Mapping[str, Any], ...]:
    table, more = read_settings(FixTable, raw, place)
    faults += more
    if table is None:
        return ()
    changes = table.set if isinstance(table.set, list) else [table.set]
    for change in changes:
        for key in change:
            if "." not in key and key not in ("k", "retriever"):
                what = f"{key!r} is no setting"
                fix = f'write its whole path in quotes: "{key}.something" = ...'
                faults.append(Fault(where=f"{place} set", what=what, fix=fix))
    if not any(changes):
        faults.append(
            Fault(
                where=f"{place} set",
                what=f"fix {name!r} changes nothing",
                fix='set = { "pipeline.pool" = 100 }',
            )
        )
    return tuple(changes)


def _condition(when: dict[str, Any] | str, place: str, folder: Path | None, faults: list[Fault]) -> Condition:
    if isinstance(when, str):
        return _function(when, place, folder, faults)
    conditions, more = read_settings(When, when, place)
    faults += more
    if conditions is None:
        return _never
    if not when:
        what = "no condition is given: the kind would fit every miss"
        faults.append(
            Fault(where=place, what=what, fix=f"known conditions are {', '.join(When.__struct_fields__)}")
        )
    pattern = None
    if conditions.query_matches is not None:
        try:
            pattern = re.compile(conditions.query_matches)
        except re.error as error:
            faults.append(
                Fault(
                    where=f"{place} query_matches",
                    what=f"no regular expression: {error}",
                    fix=r"write one that Python reads, in single quotes: 'error \d+'",
                )
            )
    return lambda case: _all_hold(conditions, pattern, case)


def _all_hold(when: When, pattern: re.Pattern[str] | None, case: Case) -> bool:
    best = case.best_list_rank
    return (
        (not when.lost_at or case.loss.lost_at in when.lost_at)
        and (not when.query_kind or case.query.kind in when.query_kind)
        and (pattern is None or pattern.search(case.query.text) is not None)
        and (
            when.document is None
            or (case.passage is not None and fnmatchcase(case.passage.doc_id, when.document))
        )
        and (when.shared_at_most is None or len(case.shared) <= when.shared_at_most)
        and (when.shared_at_least is None or len(case.shared) >= when.shared_at_least)
        and (when.best_rank_at_most is None or (best is not None and best <= when.best_rank_at_most))
        and (when.best_rank_at_least is None or best is None or best >= when.best_rank_at_least)
    )


def _function(name: str, place: str, folder: Path | None, faults: list[Fault]) -> Condition:
    """Load ``module:function``; modules beside ``assay.toml`` are found."""
    module, mark, function = name.partition(":")
    if not mark or not module or not function:
        faults.append(Fault(where=place, what=f"{name!r} names no function", fix='when = "module:function"'))
        return _never
    beside = str(folder.resolve()) if folder is not None else None
    if beside is not None and beside not in sys.path:
        sys.path.insert(0, beside)
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        faults.append(
            Fault(
                where=place,
                what=f"{name!r} cannot be loaded: {error}",
                fix=f"python -c 'import {module}' shows why; it stands beside assay.toml or is installed",
            )
        )
        return _never
    if not callable(found):
        faults.append(Fault(where=place, what=f"{name!r} is no function", fix="def applies(case) -> bool"))
        return _never
    return cast("Condition", found)
