"""The documented form of foreign traces: what every stage of somebody's pipeline put out for each query."""

from __future__ import annotations

from typing import Any

import msgspec

from assay.model.runs import Role


class HitRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One hit. At least an ``id``, a ``text``, or ``doc`` with ``start`` and ``end``."""

    id: str | int | None = None
    """The pipeline's own id of the chunk; ``doc#start-end`` says its place."""
    doc: str | int | None = None
    """Id of its document, as the corpus has it; a file's name alone serves when it is unique."""
    start: int | None = None
    """First code point in the document."""
    end: int | None = None
    """One past the last."""
    score: float | None = None
    """Shown; the order of the list is what counts."""
    text: str | None = None
    """The chunk's text; it is located in its document where no place is given."""


class StageRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One stage's list, best first."""

    name: str
    """``vector``, ``bm25``, ``pool``, ``reranked``, ``final``, or a name of your own."""
    hits: list[HitRow | str] = msgspec.field(default_factory=list["HitRow | str"])
    """Hits, or bare ids."""
    role: Role | None = None
    """What it does; by its name where nothing is said, else a first-stage list."""
    deep: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Chunk id -> rank, for chunks deeper than the list that is given."""
    error: str | None = None
    """What went wrong; the stage has no hits then."""
    elapsed_ms: float | None = None


class TraceRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One query and what every stage made of it, in the order in which they ran."""

    stages: list[StageRow]
    query: str | int | None = None
    """The query's id in the golden set ..."""
    text: str | None = None
    """... or its words."""


class WindowRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a reranker reads at most, query and chunk together, in its tokens."""

    max_length: int
    special_tokens: int = 3


class TraceFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that is one JSON object; JSON lines of ``TraceRow`` do as well."""

    traces: list[TraceRow]
    name: str | None = None
    """What reports call the pipeline."""
    k: int | None = None
    """How many chunks the prompt gets; the project's k where nothing is said."""
    reranker_window: WindowRow | None = None
    reranker_sent: int | None = None
    """How many rows of the pool the reranker is sent."""


def traces_schema() -> dict[str, Any]:
    """Return the JSON Schema of a traces file; one line of the JSON lines form is its ``TraceRow``."""
    (reference,), definitions = msgspec.json.schema_components([TraceFile])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "traces.schema.json",
        "title": "traces of another pipeline",
        **reference,
        "$defs": definitions,
    }
