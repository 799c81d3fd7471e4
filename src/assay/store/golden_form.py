"""The form of ``golden.jsonl``: one structure a record, and the JSON Schema that is published from them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Id = Annotated[str | int | float, Meta(description="An id is text; a number is read as its spelling.")]
"""What stands for an id in a file; in memory it is text."""
Cell = Annotated[str | int | float, Meta(description="Text; a number is read as its spelling.")]
Position = Annotated[int, Meta(ge=0)]

FULL_GRADE = 1.0
"""The grade of an anchor that names none; msgspec leaves out exactly this object when it writes."""


class PlaceRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A verbatim phrase of one document."""

    doc: Annotated[Id, Meta(description="The document that holds the phrase.")]
    quote: Annotated[str, Meta(description="The phrase, as it stands in the document.")]
    start: Annotated[
        Position | None, Meta(description="Pins one occurrence: its first code point. Goes with end.")
    ] = None
    end: Annotated[Position | None, Meta(description="One past the pinned occurrence. Goes with start.")] = (
        None
    )


class AnchorRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A thing that the query needs: a verbatim phrase, or any one of its alternatives."""

    id: Annotated[Id, Meta(description="Unique within the query; a1, a2, ... when left out.")] = ""
    doc: Annotated[Id, Meta(description="The document that holds the phrase.")]
    quote: Annotated[str, Meta(description="The phrase, as it stands in the document.")]
    start: Annotated[
        Position | None, Meta(description="Pins one occurrence: its first code point. Goes with end.")
    ] = None
    end: Annotated[Position | None, Meta(description="One past the pinned occurrence. Goes with start.")] = (
        None
    )
    grade: Annotated[float, Meta(description="How much it is worth; 0 and below earn nothing.")] = FULL_GRADE
    alternatives: Annotated[
        list[PlaceRow],
        Meta(description="Other phrases, any one of which serves as well: together they are one item."),
    ] = []


class ProvenanceRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a query came from and who stands behind it."""

    origin: Literal["written", "log", "generated", "imported"] = "written"
    source: Annotated[str | None, Meta(description="The file, log, model or person that it came from.")] = (
        None
    )
    verified_by: Annotated[str | None, Meta(description="Who looked at the query and its anchors.")] = None
    judged_by: Annotated[str | None, Meta(description="The automatic judge that labelled it.")] = None


class QueryRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of golden.jsonl: a question, and what a right answer needs."""

    id: Annotated[Id, Meta(description="Unique in the file.")]
    query: Annotated[
        str,
        Meta(description="The question. Only a set of plain labels, for runs made elsewhere, may lack it."),
    ] = ""
    kind: Annotated[str, Meta(description="factual, lexical, conceptual, or a kind of the team's own.")] = (
        "unspecified"
    )
    anchors: Annotated[
        list[AnchorRow], Meta(description="What the query needs: all of them (multi-hop).")
    ] = []
    relevant: Annotated[
        dict[str, float] | list[Id],
        Meta(description="Plain labels: chunk or document id -> grade, or a list of ids (grade 1 each)."),
    ] = {}
    answerable: Annotated[
        bool, Meta(description="false: the corpus holds no answer; no anchors and no labels.")
    ] = True
    split: Annotated[Literal["dev", "heldout"] | None, Meta(description="The part of the set.")] = None
    provenance: ProvenanceRow | None = None
    meta: Annotated[
        dict[str, Cell],
        Meta(description="Columns of the team's own (language, tenant), to group results by."),
    ] = {}


def golden_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of one line of ``golden.jsonl``.

    It says what a line may hold. What spans fields or lines (ids unique, start with end, an unanswerable
    query without anchors) is checked by ``load_golden`` alone.

    >>> golden_schema()["title"]
    'One line of golden.jsonl'
    """
    return published_schema(QueryRow, title="One line of golden.jsonl", file="golden.schema.json")


def published_schema(form: type[msgspec.Struct], *, title: str, file: str) -> dict[str, object]:
    """Return the JSON Schema of a form, with the head that a published file carries."""
    (reference,), components = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": file,
        "title": title,
        **reference,
        "$defs": dict(sorted(components.items())),
    }
