"""Weaviate: vectors (cosine), BM25, and its own hybrid search, over HTTP (GraphQL and REST)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from assay.connectors.engines import Found, Row, engine_kind, plain_words
from assay.connectors.kinds import Surroundings
from assay.connectors.rest import ServerError
from assay.connectors.served import ServedEngine, ServedSettings

_PAGE = 1000


class WeaviateSettings(ServedSettings, frozen=True, kw_only=True):
    """``type = "weaviate"``: ``weaviate+http://host:8080``."""

    alpha: float = 0.75
    """Weight of the vectors in its hybrid search; Weaviate's own is 0.75."""
    ranked: bool = False
    """Whether its hybrid search fuses ranks, or scaled scores, as it does by itself since 1.24."""


class WeaviateEngine(ServedEngine):
    """See the page's head.

    Args:
        settings: the server and the collection.
        around: the project's folder.
    """

    fuses = True

    def __init__(self, settings: WeaviateSettings, around: Surroundings) -> None:
        super().__init__(settings, around)
        self.settings = settings
        # Weaviate writes names of collections with a capital.
        self.collection = settings.table[:1].upper() + settings.table[1:]

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by the collection's distance."""
        found = self._get(f"nearVector: {{vector: {json.dumps(list(vector))}}}", depth, "distance")
        return [{**hit, "score": 1.0 - float(hit.pop("distance"))} for hit in found]

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by BM25."""
        if not plain_words(text):
            return []
        asked = f"query: {_literal(text)}, properties: [{_literal(self.settings.fulltext_field)}]"
        return [
            {**hit, "score": float(hit["score"])} for hit in self._get(f"bm25: {{{asked}}}", depth, "score")
        ]

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return Weaviate's own hybrid search."""
        if not plain_words(text):
            return self.by_vector(vector, depth)
        asked = ", ".join(
            (
                f"query: {_literal(text)}",
                f"vector: {json.dumps(list(vector))}",
                f"alpha: {self.settings.alpha}",
                f"properties: [{_literal(self.settings.fulltext_field)}]",
                f"fusionType: {'rankedFusion' if self.settings.ranked else 'relativeScoreFusion'}",
            )
        )
        found = self._get(f"hybrid: {{{asked}}}", depth, "score")
        return [{**hit, "score": float(hit["score"])} for hit in found]

    def create(self, dimensions: int) -> None:
        """Make the collection, if it is not there."""
        del dimensions
        if self.rest.ask("GET", f"/v1/schema/{self.collection}", absent=(404,)) is not None:
            return
        texts = [
            {"name": name, "dataType": ["text"], "tokenization": "field", "indexSearchable": False}
            for name in ("chunk_id", "doc_id", "text")
        ]
        numbers = [{"name": name, "dataType": ["int"]} for name in ("start", "end")]
        words = {"name": self.settings.fulltext_field, "dataType": ["text"], "tokenization": "word"}
        self.rest.ask(
            "POST",
            "/v1/schema",
            body={
                "class": self.collection,
                "vectorizer": "none",
                "vectorIndexConfig": {"distance": "cosine"},
                "properties": [*texts, *numbers, words],
            },
        )

    def keys(self) -> set[str]:
        """Return the keys of all objects."""
        found: set[str] = set()
        # An empty ``after`` starts at the least id: without it, shards come one after another.
        params = {"class": self.collection, "limit": str(_PAGE), "after": ""}
        while True:
            page = self.rest.ask("GET", "/v1/objects", params=params)["objects"]
            found.update(one["id"] for one in page)
            if len(page) < _PAGE:
                return found
            params = {**params, "after": page[-1]["id"]}

    def add(self, rows: Sequence[Row]) -> None:
        """Put objects in."""
        objects: list[dict[str, Any]] = []
        for row in rows:
            fields = row.fields()
            fields[self.settings.fulltext_field] = fields.pop("searched")
            objects.append(
                {"class": self.collection, "id": row.key, "properties": fields, "vector": row.embedding}
            )
        reply = self.rest.ask("POST", "/v1/batch/objects", body={"objects": objects})
        wrong = [(one["id"], told) for one in reply if (told := _refusal(one.get("result"))) is not None]
        if wrong:
            key, told = wrong[0]
            raise ServerError(
                f"{len(wrong)} of {len(rows)} objects were refused; the first: {key} with {told}"
            )

    def remove(self, keys: Sequence[str]) -> None:
        """Take objects out."""
        for key in keys:
            self.rest.ask("DELETE", f"/v1/objects/{self.collection}/{key}", absent=(404,))

    def _get(self, asked: str, depth: int, about: str) -> list[dict[str, Any]]:
        columns = " ".join(self.columns)
        query = (
            f"{{ Get {{ {self.collection}(limit: {depth}, {asked}) "
            f"{{ {columns} _additional {{ id {about} }} }} }} }}"
        )
        reply = self.rest.ask("POST", "/v1/graphql", body={"query": query})
        if reply.get("errors"):
            raise ServerError("; ".join(error["message"] for error in reply["errors"]))
        return [
            {
                **{name: value for name, value in hit.items() if name != "_additional"},
                about: hit["_additional"][about],
            }
            for hit in reply["data"]["Get"][self.collection]
        ]


def _refusal(result: dict[str, Any] | None) -> str | None:
    """Return why an object of a batch was refused; the batch's own status is 200 all the same."""
    errors: dict[str, Any] | None = (result or {}).get("errors")
    if errors:
        return "; ".join(error["message"] for error in errors["error"])
    return "FAILED" if result is not None and result.get("status") == "FAILED" else None


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


CONNECTOR = engine_kind(WeaviateSettings, WeaviateEngine)
