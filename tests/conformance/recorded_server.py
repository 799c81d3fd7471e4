"""A server of the tests that answers as engines were seen to answer: ``recorded/<engine>.json``.

A file holds the forms of an engine's requests (which names each may have), and entries: one call of a
connector, the requests it has to send, the answers in the engine's own form, and what has to be read from
them. Facts of an answer are swapped for those of the small corpus; its form is that of its source, where an
answer was ``seen``, or where its fields are ``described``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from conformance.stand_in import RefusedError, StandIn

FOLDER = Path(__file__).parent / "recorded"


@cache
def recorded(engine: str) -> dict[str, Any]:
    """Return what is recorded of an engine."""
    return json.loads((FOLDER / f"{engine}.json").read_text(encoding="utf-8"))


def engines() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


@dataclass(kw_only=True)
class Recorded(StandIn):
    """Answers the exchanges of one entry, in their order; any other request is refused and noted."""

    exchanges: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    wrong: list[str] = field(default_factory=list[str])

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        sent: dict[str, Any] = {"method": method, "path": path}
        if params:
            sent["params"] = params
        if body is not None:
            sent["body"] = body
        wanted = dict(self.exchanges[0]["request"]) if self.exchanges else {}
        if isinstance(wanted.get("body"), str) and not isinstance(body, str):
            wanted["body"] = json.loads(wanted["body"])  # one line of JSON is JSON
        if sent != wanted:
            self.wrong.append(f"sent {json.dumps(sent)}\nwanted {json.dumps(wanted)}")
            raise RefusedError("this was not recorded")
        exchange = self.exchanges.pop(0)
        return exchange["status"], exchange["response"]


def unknown_names(value: object, form: object, where: str = "") -> list[str]:
    """Return the names of a request that a form does not have: ``0`` is any value, ``*`` any name."""
    if form == 0 or not isinstance(value, Mapping | list):
        return []
    if isinstance(value, list) != isinstance(form, list):
        return []  # another way to say the same: a vector for a query's object
    if isinstance(form, list):
        (inner,) = cast("list[object]", form)
        parts = cast("list[object]", value)
        return [name for part in parts for name in unknown_names(part, inner, f"{where}[]")]
    names = cast("Mapping[str, object]", form)
    found: list[str] = []
    for name, part in cast("Mapping[str, object]", value).items():
        inner = names.get(name, names.get("*"))
        here = f"{where}.{name}"
        found += [here] if inner is None else unknown_names(part, inner, here)
    return found


def shape(value: object, where: str = "") -> set[str]:
    """Return the paths of the names in an answer; those of a chunk's own fields are left out."""
    if isinstance(value, list):
        return {path for part in cast("list[object]", value) for path in shape(part, f"{where}[]")}
    if not isinstance(value, Mapping):
        return set()
    found: set[str] = set()
    for name, part in cast("Mapping[str, object]", value).items():
        here = f"{where}.{name}"
        found.add(here)
        if name not in {
            "_source",
            "payload",
            "document",
            "properties",
            "vector",
            "config",
            "settings",
            "mappings",
        }:
            found |= shape(part, here)
    return found
