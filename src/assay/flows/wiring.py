"""The tables of ``assay.toml`` that rooms read, checked together before anything runs.

Rooms: corpus (the chunker), retrieval (the pipeline), measures, comparison (the gates). Each raises what is
wrong with its own table; here the faults of all of them become one error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assay.corpus import Chunker, make_chunker
from assay.flows.scoring import headline_measures
from assay.model.errors import ConfigError, Fault, InputError

DEFAULT_CHUNKER = "paragraphs"


def wired(raw: Mapping[str, Any], *, where: str = "assay.toml") -> Chunker:
    """Check the tables of a project and return its chunker.

    Raises:
        ConfigError: a setting of any of the tables is wrong; all faults of all tables are listed.
        MissingExtraError: that alone is wrong: a chunker needs a package that is not there.
    """
    chunker, errors = _checked(raw, where)
    if len(errors) == 1:
        raise errors[0]
    if errors or chunker is None:
        raise ConfigError(fault for error in errors for fault in error.faults)
    return chunker


def wiring_faults(raw: Mapping[str, Any], *, where: str = "assay.toml") -> list[Fault]:
    """Return all that is wrong in those tables; a table that is none is passed over.

    >>> for fault in wiring_faults({"chunker": {"max_char": 9}, "gate": {"recal@10": ">= 0.7"}}):
    ...     print(fault)
    assay.toml [chunker]: no setting is called 'max_char'
      fix: did you mean 'max_chars'?
    assay.toml [gate] 'recal@10': unknown measure 'recal@10'
      fix: did you mean recall@10? measures: ...
    """
    return [fault for error in _checked(raw, where)[1] for fault in error.faults]


def _checked(raw: Mapping[str, Any], where: str) -> tuple[Chunker | None, list[InputError]]:
    chunker: Chunker | None = None
    errors: list[InputError] = []
    try:
        chunker = _chunker(_table(raw, "chunker"), where)
    except InputError as error:
        errors.append(error)
    for check in (_pipeline, _measures, _gates):
        try:
            check(raw, where)
        except InputError as error:
            errors.append(error)
    return chunker, errors


def _chunker(table: Mapping[str, Any], where: str) -> Chunker:
    settings = dict(table)
    name = settings.pop("name", DEFAULT_CHUNKER)
    return make_chunker(str(name), settings, where=f"{where} [chunker]")


def _pipeline(raw: Mapping[str, Any], where: str) -> None:
    if raw.get("retriever") is not None:
        return  # somebody's own stands in its place
    from assay.retrieval.settings import read_pipeline  # noqa: PLC0415 - those who bring their own need none

    table = {key: value for key, value in _table(raw, "pipeline").items() if key != "k"}
    read_pipeline({**table, "k": _k(raw)}, where=f"{where} [pipeline]")


def _measures(raw: Mapping[str, Any], where: str) -> None:
    names = _table(raw, "measure").get("names")
    if not isinstance(names, list):
        return
    try:
        headline_measures([name for name in cast("list[object]", names) if isinstance(name, str)], _k(raw))
    except InputError as error:
        raise ConfigError(
            Fault(where=f"{where} [measure] names", what=fault.what, fix=fault.fix) for fault in error.faults
        ) from error


def _gates(raw: Mapping[str, Any], where: str) -> None:
    rules = {key: rule for key, rule in _table(raw, "gate").items() if key != "baseline"}
    if rules:
        from assay.comparison.gate_grammar import parse_gates  # noqa: PLC0415 - only where there are gates

        parse_gates(rules, where=f"{where} [gate]")


def _table(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = raw.get(key)
    return cast("Mapping[str, Any]", table) if isinstance(table, Mapping) else {}


def _k(raw: Mapping[str, Any]) -> int:
    k = raw.get("k", 10)
    return k if isinstance(k, int) and k >= 1 else 10
