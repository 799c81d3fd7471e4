"""Meilisearch: vectors, its keyword search, and its own hybrid search, over HTTP.

The key is a header: ``headers = { Authorization = "Bearer ${MEILI_KEY}" }``. What is put in is put in by a
task of the server's, which is waited for. ``vector_field`` is the name of the embedder.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from assay.connectors.engines import Found, Row, engine_kind, plain_words
from assay.connectors.kinds import Surroundings
from assay.connectors.rest import ServerError
from assay.connectors.served import ServedEngine, ServedSettings

_PAGE = 1000
_FIRST_LOOK_S, _LAST_LOOK_S = 0.02, 1.0


class MeilisearchSettings(ServedSettings, frozen=True, kw_only=True):
    """``type = "meilisearch"``: ``meilisearch+http://host:7700``."""

    semantic_ratio: float = 0.5
    """Weight of the vectors in its own hybrid search."""


class MeilisearchEngine(ServedEngine):
    """See the page's head.

    Args:
        settings: the server and the index.
        around: the project's folder.
    """

    fuses = True

    def __init__(self, settings: MeilisearchSettings, around: Surroundings) -> None:
        super().__init__(settings, around)
        self.settings = settings
        self.index = f"/indexes/{settings.table}"

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks."""
        return self._search({"vector": list(vector), "hybrid": self._hybrid(1.0)}, depth)

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks of its keyword search; when no chunk has all words, the last are dropped."""
        words = " ".join(plain_words(text))
        return self._search({"q": words}, depth) if words else []

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return Meilisearch's own hybrid search."""
        words = " ".join(plain_words(text))
        if not words:  # an empty query would fuse every document's 1.0 with the vectors
            return self.by_vector(vector, depth)
        asked = {"q": words, "vector": list(vector)}
        return self._search({**asked, "hybrid": self._hybrid(self.settings.semantic_ratio)}, depth)

    def create(self, dimensions: int) -> None:
        """Make the index, if it is not there."""
        if self.rest.ask("GET", self.index, absent=(404,)) is not None:
            return
        self._wait(self.rest.ask("POST", "/indexes", body={"uid": self.settings.table, "primaryKey": "key"}))
        settings = {
            "searchableAttributes": [self.settings.fulltext_field],
            "embedders": {self.settings.vector_field: {"source": "userProvided", "dimensions": dimensions}},
        }
        self._wait(self.rest.ask("PATCH", f"{self.index}/settings", body=settings))

    def keys(self) -> set[str]:
        """Return the keys of all documents."""
        found: set[str] = set()
        start = 0
        while True:
            body = {"fields": ["key"], "limit": _PAGE, "offset": start}
            page = self.rest.ask("POST", f"{self.index}/documents/fetch", body=body)
            found.update(one["key"] for one in page["results"])
            start += _PAGE
            if start >= page["total"]:
                return found

    def add(self, rows: Sequence[Row]) -> None:
        """Put documents in."""
        documents: list[dict[str, Any]] = []
        for row in rows:
            fields = {"key": row.key, **row.fields(), "_vectors": {self.settings.vector_field: row.embedding}}
            fields[self.settings.fulltext_field] = fields.pop("searched")
            documents.append(fields)
        self._wait(self.rest.ask("POST", f"{self.index}/documents", body=documents))

    def remove(self, keys: Sequence[str]) -> None:
        """Take documents out."""
        self._wait(self.rest.ask("POST", f"{self.index}/documents/delete-batch", body=list(keys)))

    def _hybrid(self, ratio: float) -> dict[str, Any]:
        return {"semanticRatio": ratio, "embedder": self.settings.vector_field}

    def _search(self, asked: dict[str, Any], depth: int) -> Found:
        body = {
            **asked,
            "limit": depth,
            "showRankingScore": True,
            "attributesToRetrieve": list(self.columns),
        }
        hits = self.rest.ask("POST", f"{self.index}/search", body=body)["hits"]
        return [
            {**{name: hit.get(name) for name in self.columns}, "score": hit["_rankingScore"]} for hit in hits
        ]

    def _wait(self, task: dict[str, Any]) -> None:
        """Wait for a task of the server's."""
        pause_s = _FIRST_LOOK_S
        while True:
            state = self.rest.ask("GET", f"/tasks/{task['taskUid']}")
            if state["status"] == "succeeded":
                return
            if state["status"] in {"failed", "canceled"}:
                error: dict[str, Any] | None = state.get("error")
                told = f": {error['message']} ({error['code']})" if error else ""
                raise ServerError(f"{state['type']} {state['status']}{told}")
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LAST_LOOK_S)


CONNECTOR = engine_kind(MeilisearchSettings, MeilisearchEngine)
