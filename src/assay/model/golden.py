"""The golden set: queries tied to verbatim phrases of source documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Origin = Literal["written", "log", "generated", "imported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A verbatim phrase of one document: a thing that the query needs."""

    id: str
    """Unique within its query: ``a1``, ``a2``, ... unless the file names it."""
    doc_id: str
    """The document that holds the phrase."""
    quote: str
    """The phrase, as it stands in the document."""
    start: int | None = None
    """Pins one occurrence: where the phrase began when it was accepted. None: every occurrence counts."""
    end: int | None = None
    """One past the end of the pinned occurrence."""
    grade: float = 1.0
    """How much it is worth; 0 and below earn nothing."""
    alternatives: tuple[Anchor, ...] = ()
    """Other phrases, any one of which serves as well as this one: together they are one item."""

    @property
    def any_of(self) -> tuple[Anchor, ...]:
        """This anchor and its alternatives: the places, any one of which is enough."""
        return (self, *self.alternatives)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a query came from and who stands behind it."""

    origin: Origin = "written"
    source: str | None = None
    """The file, log, model or person that it came from."""
    verified_by: str | None = None
    """Who looked at the query and its anchors; None when nobody did."""
    judged_by: str | None = None
    """The automatic judge that labelled it, when one did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question and what a right answer needs."""

    id: str
    text: str
    kind: str = "unspecified"
    """Factual, lexical, conceptual, or a kind of the team's own."""
    anchors: tuple[Anchor, ...] = ()
    """The items that the query needs; all of them (multi-hop), each with its alternatives."""
    labels: Mapping[str, float] = field(default_factory=dict[str, float])
    """Plain labels for people who have them: chunk id or document id -> grade."""
    answerable: bool = True
    """False: the corpus holds no answer, and the query has no anchors and no labels."""
    split: str | None = None
    """``dev``, ``heldout`` or None."""
    provenance: Provenance = field(default_factory=Provenance)
    meta: Mapping[str, str] = field(default_factory=dict[str, str])
    """Columns of the team's own (language, tenant), to group results by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """The queries of a project, in the order of their file."""

    name: str
    queries: tuple[Query, ...]
    version: str = "1"
    kinds: tuple[str, ...] = ()
    """The kinds that the set declares, in order of display. A declared kind without queries shows n = 0."""

    @property
    def digest(self) -> str:
        """Content address: 16 hex digits over all that could change a number, in file order of keys.

        The order of queries does not enter, because it changes no mean.
        """
        rows = sorted(json.dumps(_plain(query), sort_keys=True, ensure_ascii=False) for query in self.queries)
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]

    @property
    def all_kinds(self) -> tuple[str, ...]:
        """Declared kinds first, then those that only queries name, by first appearance."""
        return tuple(dict.fromkeys([*self.kinds, *(query.kind for query in self.queries)]))


def _plain(query: Query) -> list[object]:
    return [
        query.id,
        query.text,
        query.kind,
        query.answerable,
        query.split,
        [_plain_anchor(anchor) for anchor in query.anchors],
        sorted(query.labels.items()),
        sorted(query.meta.items()),
    ]


def _plain_anchor(anchor: Anchor) -> list[object]:
    return [
        anchor.doc_id,
        anchor.quote,
        anchor.start,
        anchor.end,
        float(anchor.grade),
        [_plain_anchor(other) for other in anchor.alternatives],
    ]
