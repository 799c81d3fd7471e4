"""The settings that can be varied, by their full names and by short ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, cast

import msgspec

from assay.corpus.chunkers.registry import CHUNKERS
from assay.flows.project import Project
from assay.model.errors import ConfigError, Fault, nearest
from assay.retrieval.models.registry import EMBEDDERS, RERANKERS
from assay.retrieval.settings import PipelineSettings, describe

LISTS, CHUNKER = "lists", "chunker"
LISTS_VALUES = ("vector", "fulltext", "both")
"""``lists=vector,fulltext,both``: which first-stage lists there are."""
_OPEN = ("retriever.", "pipeline.", "chunker.")
"""Tables whose settings are taken as they are named: the rooms that read them say what is wrong."""


def known_settings() -> tuple[str, ...]:
    """Return every setting that can be varied, by its full name.

    >>> [name for name in known_settings() if name.endswith("k_rrf")]
    ['pipeline.fusion.k_rrf']
    """
    found = ["k", CHUNKER, LISTS]
    for kind in CHUNKERS.values():
        found += [f"chunker.{field.name}" for field in fields(kind.settings_type)]
    found += [f"pipeline.{path}" for path in _paths(describe(PipelineSettings()))]
    for stage, kinds in (("embedder", EMBEDDERS), ("reranker", RERANKERS)):
        for kind in kinds.values():
            found += [f"pipeline.{stage}.{field.name}" for field in msgspec.structs.fields(kind.settings)]
    return tuple(dict.fromkeys(found))


def full_name(project: Project, name: str, where: str) -> str:
    """Return the full name of a setting that may be named in short: ``reranker`` is ``pipeline.reranker``.

    Of several that end so, the one that stands nearest to the top is meant.

    Raises:
        ConfigError: no setting is called so, or several that stand equally near to the top.
    """
    known = known_settings()
    if name == "chunker.name":
        return CHUNKER
    if name in known or name.startswith(_OPEN) or (project.retriever is not None and name == "retriever"):
        return name
    ending = [path for path in known if path.endswith(f".{name}")]
    depth = min((path.count(".") for path in ending), default=0)
    nearest_ones = [path for path in ending if path.count(".") == depth]
    if len(nearest_ones) == 1:
        return nearest_ones[0]
    if nearest_ones:
        what = f"{name!r} can be {' or '.join(nearest_ones)}"
        raise ConfigError(Fault(where=where, what=what, fix=f"write {nearest_ones[0]}"))
    short = [path.rpartition(".")[2] for path in known]
    close = nearest(name, [*known, *short])
    raise ConfigError(
        Fault(
            where=where,
            what="there is no such setting",
            fix=f"did you mean {close!r}?" if close else "docs/sweep.md lists the settings",
        )
    )


def lists_change(project: Project, value: str) -> dict[str, object]:
    """Return the settings that leave only these first-stage lists: the other is off, and what needs it."""
    if value == "both":
        return {"pipeline.vector.enabled": True, "pipeline.fulltext.enabled": True}
    if value == "vector":
        return {"pipeline.vector.enabled": True, "pipeline.fulltext.enabled": False}
    change: dict[str, object] = {"pipeline.vector.enabled": False, "pipeline.fulltext.enabled": True}
    # Diversity reads vectors; where the project asks for it, it has to go with them.
    return {**change, "pipeline.mmr": "off"} if "mmr" in project.pipeline else change


def _paths(values: Mapping[str, Any], head: str = "") -> Iterator[str]:
    for key, value in values.items():
        yield f"{head}{key}"
        if isinstance(value, Mapping):
            yield from _paths(cast("Mapping[str, Any]", value), f"{head}{key}.")
