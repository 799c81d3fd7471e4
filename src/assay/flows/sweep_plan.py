"""What a sweep tries: knobs, read from ``sweep.toml`` or ``--vary``, and the configurations they make."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec
import numpy as np
from msgspec import Meta

from assay.flows.project import Project
from assay.flows.sweep_names import CHUNKER, LISTS, LISTS_VALUES, full_name, lists_change
from assay.flows.wiring import DEFAULT_CHUNKER
from assay.model.errors import ConfigError, Fault, InputError, nearest
from assay.model.settings import read_settings
from assay.model.sweep import Configuration, Knob, Method

MOST = 5_000
"""Configurations that a grid may have; a larger one is drawn from (``method = "random"``)."""
_MODELS = ("pipeline.embedder", "pipeline.reranker", "pipeline.rewrite", "pipeline.fusion")


class HalvingTable(msgspec.Struct, frozen=True, kw_only=True):
    """``[halving]``: how a field of configurations is thinned out."""

    keep: Annotated[float, Meta(gt=0, lt=1)] = 1 / 3
    """The part that stays after each round."""
    fewest: Annotated[int, Meta(ge=1)] = 50
    """Queries of the first round, at least; fewer only where there are no more."""


class SweepTable(msgspec.Struct, frozen=True, kw_only=True):
    """``sweep.toml``."""

    knobs: dict[str, Any]
    """Name of a setting -> its values; or a name of your own -> label -> settings."""
    method: Literal["grid", "random", "halving"] = "grid"
    samples: Annotated[int, Meta(ge=1)] | None = None
    """How many configurations are drawn: ``random`` needs it, ``halving`` may have it."""
    seed: int = 0
    measure: str | None = None
    """The column that decides. None: recall of anchors within the middle one of the project's token budgets
    where the chunker is varied, else the project's first measure, in anchors."""
    split: Literal["dev", "all"] | None = None
    """The queries that it tunes on. None: those marked ``dev`` where there are any, else all."""
    timed: Annotated[int, Meta(ge=0)] = 25
    """Queries whose time is taken one by one, for the latencies; 0: none."""
    halving: HalvingTable = HalvingTable()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A sweep before it runs."""

    knobs: tuple[Knob, ...]
    configurations: tuple[Configuration, ...]
    table: SweepTable

    @property
    def method(self) -> Method:
        return self.table.method

    def varies(self, head: str) -> bool:
        """Tell whether any knob changes a setting whose path begins so."""
        return any(
            path == head or path.startswith(f"{head}.")
            for knob in self.knobs
            for change in knob.changes
            for path in change
        )

    @property
    def plain(self) -> dict[str, Any]:
        """All that decides what comes out, as plain values."""
        return {
            "knobs": [
                [knob.name, list(knob.labels), [dict(one) for one in knob.changes]] for knob in self.knobs
            ],
            "numbers": [one.number for one in self.configurations],
            "table": {
                key: value
                for key, value in msgspec.to_builtins(self.table).items()
                if key not in {"knobs", "timed"}
            },
        }


def read_plan(project: Project, values: Mapping[str, Any], *, where: str = "sweep.toml") -> Plan:
    """Make a plan of plain values, as ``sweep.toml`` holds them.

    Raises:
        ConfigError: a key, a value or the name of a setting is wrong; all faults are listed.
    """
    table, faults = read_settings(SweepTable, values, where)
    if table is None:
        raise ConfigError(faults)
    knobs: list[Knob] = []
    for name, said in table.knobs.items():
        try:
            knobs.append(_knob(project, name, said, f"{where} [knobs] {name}"))
        except InputError as error:
            faults += error.faults
    names = [knob.name for knob in knobs]
    faults += [
        Fault(
            where=f"{where} [knobs] {name}", what="stands twice, under two spellings", fix="keep one of them"
        )
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if not table.knobs:
        faults.append(
            Fault(
                where=where,
                what="nothing is varied",
                fix="--vary chunker.max_chars=400,800 or a [knobs] table",
            )
        )
    if table.method == "random" and table.samples is None:
        faults.append(Fault(where=where, what="random needs samples", fix="samples = 40, or --samples 40"))
    if faults:
        raise ConfigError(faults)
    return Plan(knobs=tuple(knobs), configurations=tuple(_configurations(knobs, table, where)), table=table)


def load_plan(project: Project, file: Path | None, vary: Sequence[str] = (), **said: object) -> Plan:
    """Read a plan from a file, from ``name=value,value`` texts, or from both: the texts win over the file.

    Raises:
        ConfigError: there is no such file, or something in it is wrong; all faults are listed.
    """
    values: dict[str, Any] = {}
    if file is not None:
        if not file.is_file():
            raise ConfigError(
                Fault(where=str(file), what="there is no such file", fix="or use --vary NAME=A,B")
            )
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(
                Fault(
                    where=str(file),
                    what=f"this is not TOML: {error}",
                    fix="mend the line that is named; texts stand in quotes",
                )
            ) from error
    knobs: dict[str, Any] = dict(values.get("knobs", {})) if isinstance(values.get("knobs", {}), dict) else {}
    knobs |= dict(_varied(text) for text in vary)
    if knobs or "knobs" not in values:
        values["knobs"] = knobs
    values |= {key: value for key, value in said.items() if value is not None}
    return read_plan(project, values, where="--vary" if file is None else file.name)


def _varied(text: str) -> tuple[str, list[object]]:
    name, mark, values = text.partition("=")
    if not mark or not name.strip() or not values.strip():
        raise ConfigError(
            Fault(
                where=f"--vary {text}", what="is written name=value,value", fix="--vary pipeline.pool=20,50"
            )
        )
    try:
        whole = tomllib.loads(f"value = [{values}]")["value"]
    except tomllib.TOMLDecodeError:
        whole = [_value(one.strip()) for one in values.split(",")]
    return name.strip(), whole


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _knob(project: Project, name: str, said: object, where: str) -> Knob:
    if isinstance(said, Mapping):
        return _own_knob(project, name, cast("Mapping[str, object]", said), where)
    if not isinstance(said, list) or not said:
        raise ConfigError(Fault(where=where, what=f"should be a list of values, not {said!r}"))
    values = cast("list[object]", said)
    path = full_name(project, name, where)
    labels = [_label(value) for value in values]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ConfigError(Fault(where=where, what=f"{twice[0]} stands there twice", fix="keep one of them"))
    changes = [_change(project, path, value, where) for value in values]
    return Knob(name=path.removeprefix("pipeline."), labels=tuple(labels), changes=tuple(changes))


def _own_knob(project: Project, name: str, said: Mapping[str, object], where: str) -> Knob:
    changes: list[dict[str, object]] = []
    for label, settings in said.items():
        if not isinstance(settings, Mapping):
            raise ConfigError(
                Fault(where=f"{where} {label}", what="should be a table of settings", fix=f"{label} = {{}}")
            )
        change: dict[str, object] = {}
        for key, value in cast("Mapping[str, object]", settings).items():
            change |= _change(project, full_name(project, key, f"{where} {label}"), value, f"{where} {label}")
        changes.append(change)
    if not changes:
        raise ConfigError(Fault(where=where, what="has no values", fix="name two or more values to vary"))
    return Knob(name=name, labels=tuple(said), changes=tuple(changes))


def _change(project: Project, path: str, value: object, where: str) -> dict[str, object]:
    """Return what a value of a setting changes. A chunker or model that is there keeps its own settings."""
    if path == LISTS:
        if value not in LISTS_VALUES:
            close = nearest(str(value), list(LISTS_VALUES))
            raise ConfigError(
                Fault(
                    where=where,
                    what=f"there are no lists {value!r}",
                    fix=f"did you mean {close!r}?" if close else f"known are {', '.join(LISTS_VALUES)}",
                )
            )
        return lists_change(project, str(value))
    if path == CHUNKER:
        return _model_change(path, value, project.chunker.get("name", DEFAULT_CHUNKER))
    if path in _MODELS and isinstance(value, str):
        said: object = project.pipeline.get(path.removeprefix("pipeline."))
        held = cast("Mapping[str, object]", said).get("name") if isinstance(said, Mapping) else said
        return _model_change(path, value, held)
    return {path: value}


def _model_change(path: str, value: object, held: object) -> dict[str, object]:
    if isinstance(value, Mapping):
        return {path: dict(cast("Mapping[str, object]", value))}
    return {} if value == held else {path: {"name": value}}


def _label(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        table = dict(cast("Mapping[str, object]", value))
        head = [str(table.pop("name"))] if "name" in table else []
        return " ".join([*head, *(f"{key}={_label(one)}" for key, one in table.items())])
    return str(value)


def _configurations(knobs: Sequence[Knob], table: SweepTable, where: str) -> Iterator[Configuration]:
    sizes = [len(knob.labels) for knob in knobs]
    total = prod(sizes)
    drawn = table.samples is not None and table.method != "grid" and table.samples < total
    if not drawn and total > MOST:
        raise ConfigError(
            Fault(
                where=where,
                what=f"the knobs make {total:,} configurations, more than {MOST:,}",
                fix='method = "random" and samples = 200',
            )
        )
    if not drawn:
        for number, places in enumerate(product(*map(range, sizes)), start=1):
            yield _configuration(knobs, places, number)
        return
    assert table.samples is not None
    for number in sorted(_some(total, table.samples, table.seed)):
        yield _configuration(knobs, tuple(int(at) for at in np.unravel_index(number, sizes)), number + 1)


def _some(total: int, count: int, seed: int) -> list[int]:
    rng = np.random.default_rng(seed)
    if total <= 1_000_000:
        return [int(one) for one in rng.choice(total, size=count, replace=False)]
    found: set[int] = set()
    while len(found) < count:
        found.add(int(rng.integers(total)))
    return list(found)


def _configuration(knobs: Sequence[Knob], places: tuple[int, ...], number: int) -> Configuration:
    changes: dict[str, object] = {}
    for knob, place in zip(knobs, places, strict=True):
        for path, value in knob.changes[place].items():
            # A whole table goes before settings inside it, in whatever order the knobs stand.
            inner = [held for held in changes if held.startswith(f"{path}.")]
            kept = {held: changes.pop(held) for held in inner}
            changes[path] = deepcopy(value)
            changes |= kept
    labels = {knob.name: knob.labels[place] for knob, place in zip(knobs, places, strict=True)}
    return Configuration(number=number, labels=labels, changes=changes)
