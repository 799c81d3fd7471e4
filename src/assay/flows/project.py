"""A project: what ``assay.toml`` says, read strictly.

Every table is checked before anything runs, and all faults come at once, each with the nearest known name.
The tables of the chunker, of the pipeline and of the gate are checked by the rooms that use them
(``wiring.py``): when something else is wrong too, and before a run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from assay.model.errors import ConfigError, Fault, InputError
from assay.model.settings import read_settings, unknown_key

FILE = "assay.toml"
HOME = ".assay"
"""Folder beside ``assay.toml`` for what Assay makes: ``runs``, ``cache``. It can be deleted at any time."""


class CorpusTable(msgspec.Struct, frozen=True, kw_only=True):
    """``[corpus]``: where the documents are."""

    path: str
    """A folder, a glob, a JSONL or a CSV file; relative to ``assay.toml``."""
    include: list[str] = msgspec.field(default_factory=list[str])
    """Globs below the folder; empty: every form that Assay reads."""
    exclude: list[str] = msgspec.field(default_factory=list[str])
    id: str | None = None
    """Column of the document's id in a JSONL or CSV file; None: the usual names are tried."""
    text: str | None = None
    title: str | None = None


class GoldenTable(msgspec.Struct, frozen=True, kw_only=True):
    """``[golden]``: the queries and their anchors."""

    path: str = "golden.jsonl"
    name: str | None = None
    """What reports call the set; None: the file's name without its ending."""
    kinds: list[str] = msgspec.field(default_factory=list[str])
    """The kinds that the set should have, in order of display."""


class MeasureTable(msgspec.Struct, frozen=True, kw_only=True):
    """``[measure]``: what is counted and at which cut."""

    names: list[str] = msgspec.field(default_factory=lambda: ["recall", "precision", "hit", "MRR", "nDCG"])
    """Measures; one without a cut of its own is cut at k."""
    unit: Literal["chunk", "anchor", "document"] = "chunk"
    """What is counted in the headline."""
    k_by_kind: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Kind -> k, where it differs: a look-up needs 2, a synthesis 10."""
    budgets: list[int] = msgspec.field(default_factory=lambda: [1000, 2000, 4000])
    """Tokens of prompt within which recall is told."""


TABLES = (
    "corpus",
    "golden",
    "chunker",
    "pipeline",
    "retriever",
    "measure",
    "gate",
    "diagnosis",
    "judge",
    "labels",
    "draft",
    "log",
)
"""The tables of ``assay.toml``; ``name``, ``k`` and ``seed`` stand above them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A folder with an ``assay.toml``."""

    folder: Path
    name: str
    k: int = 10
    """How many chunks the prompt gets."""
    seed: int = 0
    corpus: CorpusTable
    golden: GoldenTable
    measure: MeasureTable
    chunker: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pipeline: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The reference pipeline's settings, as plain values."""
    retriever: Mapping[str, Any] | None = None
    """Somebody's own retriever in place of the reference pipeline."""
    gate: Mapping[str, Any] = field(default_factory=dict[str, Any])
    diagnosis: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The whole file as plain values, to turn one knob of it."""

    @property
    def home(self) -> Path:
        return self.folder / HOME

    @property
    def golden_path(self) -> Path:
        return self.folder / self.golden.path

    @property
    def corpus_path(self) -> Path:
        return self.folder / self.corpus.path

    def with_settings(self, changes: Mapping[str, Any]) -> Project:
        """Return the project with some settings changed: ``{"chunker.max_chars": 400}``.

        Raises:
            ConfigError: a setting does not exist or does not take that value.
        """
        raw = deepcopy(dict(self.raw))
        for path, value in changes.items():
            table: dict[str, Any] = raw
            *tables, key = path.split(".")
            for name in tables:
                inner = table.get(name)
                # `reranker = "lexical"` is short for a table with that name, `retriever = "m:f"` for a call.
                short = "call" if name == "retriever" else "name"
                table[name] = inner if isinstance(inner, dict) else {} if inner is None else {short: inner}
                table = table[name]
            table[key] = value
        return project_of(raw, folder=self.folder, where="settings")


def check_project(project: object) -> None:
    """Refuse what is no project: a path is the usual mistake in a notebook.

    Raises:
        InputError: it is none.
    """
    if not isinstance(project, Project):
        fix = f"load_project({str(project)!r})" if isinstance(project, str | Path) else "load_project(FOLDER)"
        raise InputError(f"project is {project!r}, which is no Project", fix=fix)


def load_project(path: str | Path = ".") -> Project:
    """Read the project of a folder, or of an ``assay.toml`` named as it is.

    Raises:
        ConfigError: there is no such file, or it has faults; all of them are listed.
    """
    file = Path(path)
    if file.is_dir():
        file = file / FILE
    if not file.is_file():
        what = "is a folder, not a file" if file.is_dir() else "there is no such file"
        raise ConfigError(Fault(where=str(file), what=what, fix="assay init FOLDER writes one"))
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        fix = "mend that place; assay init writes a file to compare with"
        raise ConfigError(Fault(where=str(file), what=f"this is not TOML: {error}", fix=fix)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            Fault(where=str(file), what=f"this is not TOML: {error}", fix="save the file as UTF-8")
        ) from error
    return project_of(raw, folder=file.parent, where=file.name)


def project_of(raw: Mapping[str, Any], *, folder: Path, where: str = FILE) -> Project:
    """Make a project of plain values.

    Raises:
        ConfigError: the values have faults; all of them are listed.
    """
    faults: list[Fault] = []
    known = ["name", "k", "seed", *TABLES]
    faults += [unknown_key(key, known, where) for key in raw if key not in known]
    for key in TABLES:
        value = raw.get(key, {})
        if not isinstance(value, dict) and not (key == "retriever" and isinstance(value, str)):
            faults.append(Fault(where=f"{where} {key}", what=f"should be a table, not {value!r}"))
    for key, kind, example in (("name", str, '"docs"'), ("k", int, 10), ("seed", int, 0)):
        value = raw.get(key, kind())
        if not isinstance(value, kind) or isinstance(value, bool):
            what = f"should be {kind.__name__}, not {value!r}"
            faults.append(Fault(where=f"{where} {key}", what=what, fix=f"{key} = {example}, for one"))
        elif key == "k" and "k" in raw and raw["k"] < 1:
            faults.append(
                Fault(where=f"{where} k", what=f"should be at least 1, not {raw['k']}", fix="k = 10")
            )
    tables = {
        key: cast("dict[str, Any]", raw.get(key, {})) for key in TABLES if isinstance(raw.get(key, {}), dict)
    }
    if "k" in tables.get("pipeline", {}):
        fix = f"k = {tables['pipeline']['k']!r} as a line of its own above the first table"
        faults.append(Fault(where=f"{where} [pipeline] k", what="k stands above the tables", fix=fix))
    # A table that is none, or whose name is misspelled, has its fault already.
    corpus, more = read_settings(CorpusTable, tables.get("corpus", {}), f"{where} [corpus]")
    faults += more if "corpus" in tables and ("corpus" in raw or not faults) else ()
    golden, more = read_settings(GoldenTable, tables.get("golden", {}), f"{where} [golden]")
    faults += more
    measure, more = read_settings(MeasureTable, tables.get("measure", {}), f"{where} [measure]")
    faults += more
    if faults or corpus is None or golden is None or measure is None:
        from assay.flows.wiring import wiring_faults  # noqa: PLC0415 - only on the way to an error

        raise ConfigError([*faults, *wiring_faults(raw, where=where)])
    retriever = raw.get("retriever")
    return Project(
        folder=folder,
        name=raw.get("name", folder.resolve().name),
        k=raw.get("k", 10),
        seed=raw.get("seed", 0),
        corpus=corpus,
        golden=golden,
        measure=measure,
        chunker=raw.get("chunker", {}),
        pipeline=raw.get("pipeline", {}),
        retriever={"call": retriever} if isinstance(retriever, str) else retriever,
        gate=raw.get("gate", {}),
        diagnosis=raw.get("diagnosis", {}),
        raw=dict(raw),
    )
