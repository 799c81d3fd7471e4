"""Vespa: ``nearestNeighbor``, ``userInput`` (BM25), and a rank profile of yours that fuses both.

Vespa's schema is deployed with its application, so ``assay index`` feeds it and makes none: the page
``docs/connectors/vespa.md`` has one to begin with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from assay.connectors.engines import Found, Row, engine_kind, plain_words
from assay.connectors.kinds import Surroundings
from assay.connectors.rest import ServerError
from assay.connectors.served import ServedEngine, ServedSettings

_PAGE = 1000


class VespaSettings(ServedSettings, frozen=True, kw_only=True):
    """``type = "vespa"``: ``vespa+http://host:8080``; the table is the schema."""

    namespace: str = "assay"
    """The namespace of its documents' ids."""
    vector_input: str = "q"
    """The query feature that takes the vector: ``query(q)``."""
    vector_profile: str = "vector"
    """The rank profile of the vector list."""
    fulltext_profile: str = "fulltext"
    """The rank profile of the full-text list."""
    fused_profile: str | None = None
    """The rank profile that fuses both; None: the lists are fused here."""


class VespaEngine(ServedEngine):
    """See the page's head.

    Args:
        settings: the server and the schema.
        around: the project's folder.
    """

    def __init__(self, settings: VespaSettings, around: Surroundings) -> None:
        super().__init__(settings, around)
        self.settings = settings
        self.fuses = settings.fused_profile is not None
        self.documents = f"/document/v1/{settings.namespace}/{settings.table}/docid"

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by the profile's closeness."""
        return self._search(self._near(depth), self.settings.vector_profile, depth, self._vector(vector))

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by the profile's score."""
        words = " ".join(plain_words(text))
        if not words:
            return []
        return self._search(self._worded(), self.settings.fulltext_profile, depth, {"text": words})

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return what the fusing profile makes of both."""
        words = " ".join(plain_words(text))
        where = f"({self._near(depth)}) or ({self._worded()})" if words else self._near(depth)
        inputs = {**self._vector(vector), "text": words}
        return self._search(where, self.settings.fused_profile or "", depth, inputs)

    def create(self, dimensions: int) -> None:
        """See that the schema is there: it is deployed with the application."""
        del dimensions
        self.rest.ask("GET", self.documents, params={"wantedDocumentCount": "1", "fieldSet": "[id]"})

    def keys(self) -> set[str]:
        """Return the keys of all documents."""
        found: set[str] = set()
        params = {"wantedDocumentCount": str(_PAGE), "fieldSet": "[id]"}
        while True:
            page = self.rest.ask("GET", self.documents, params=params)
            if page.get("message"):
                raise ServerError(f"the documents could not be counted: {page['message']}")
            found.update(one["id"].split("::", 1)[1] for one in page.get("documents", []))
            if not page.get("continuation"):
                return found
            params = {**params, "continuation": page["continuation"]}

    def add(self, rows: Sequence[Row]) -> None:
        """Feed documents."""
        for row in rows:
            fields = row.fields()
            fields[self.settings.fulltext_field] = fields.pop("searched")
            fields[self.settings.vector_field] = {"values": row.embedding}
            self.rest.ask("POST", f"{self.documents}/{quote(row.key)}", body={"fields": fields})

    def remove(self, keys: Sequence[str]) -> None:
        """Take documents out."""
        for key in keys:
            self.rest.ask("DELETE", f"{self.documents}/{quote(key)}", absent=(404,))

    def _near(self, depth: int) -> str:
        fields = f"{self.settings.vector_field}, {self.settings.vector_input}"
        return f"{{targetHits:{depth}}}nearestNeighbor({fields})"

    def _worded(self) -> str:
        return f'{{defaultIndex:"{self.settings.fulltext_field}", grammar:"weakAnd"}}userInput(@text)'

    def _vector(self, vector: Sequence[float]) -> dict[str, Any]:
        return {f"input.query({self.settings.vector_input})": list(vector)}

    def _search(self, where: str, profile: str, depth: int, inputs: dict[str, Any]) -> Found:
        body = {
            "yql": f"select {', '.join(self.columns)} from {self.settings.table} where {where}",  # noqa: S608 - names of the settings
            "ranking": profile,
            "hits": depth,
            **inputs,
        }
        root = self.rest.ask("POST", "/search/", body=body)["root"]
        if root.get("errors"):
            raise ServerError("; ".join(error.get("message", str(error)) for error in root["errors"]))
        missing = _missing(root.get("coverage", {}))
        if missing:
            raise ServerError(f"the list is not whole: {missing}; give queries more time in a query profile")
        return [{**hit.get("fields", {}), "score": hit["relevance"]} for hit in root.get("children", [])]


def _missing(coverage: Mapping[str, Any]) -> str | None:
    """Return what was not searched: Vespa returns what it has when half a second is over, with status 200.

    A rank profile with a match phase searches a part only, on purpose: that is no fault.
    """
    why = {name for name, so in coverage.get("degraded", {}).items() if so}
    if not (why - {"match-phase"}) and (coverage.get("full", True) or why):
        return None
    share = f"{coverage.get('coverage', 0)} % of the documents were searched"
    return f"{share} ({', '.join(sorted(why))})" if why else share


CONNECTOR = engine_kind(VespaSettings, VespaEngine)
