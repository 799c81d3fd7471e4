"""Typesense: vectors (cosine), its keyword search, and its own fusion of both, over HTTP.

The key is a header: ``headers = { X-TYPESENSE-API-KEY = "${TYPESENSE_API_KEY}" }``. A page of Typesense has
at most 250 hits, and so has a list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, cast
from urllib.parse import quote

from assay.connectors.engines import Found, Row, engine_kind, plain_words
from assay.connectors.kinds import Surroundings
from assay.connectors.rest import ServerError
from assay.connectors.served import ServedEngine, ServedSettings

_MOST = 250


class TypesenseSettings(ServedSettings, frozen=True, kw_only=True):
    """``type = "typesense"``: ``typesense+http://host:8108``."""

    alpha: float = 0.3
    """Weight of the vectors in its own fusion; Typesense's own is 0.3."""


class TypesenseEngine(ServedEngine):
    """See the page's head.

    Args:
        settings: the server and the collection.
        around: the project's folder.
    """

    fuses = True

    def __init__(self, settings: TypesenseSettings, around: Surroundings) -> None:
        super().__init__(settings, around)
        self.settings = settings
        self.collection = f"/collections/{quote(settings.table)}"

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        hits = self._search({"q": "*", "vector_query": self._near(vector, depth)}, depth)
        distances = _scored(hits, lambda hit: hit.get("vector_distance"))
        return [{**hit, "score": 1.0 - distance} for hit, distance in distances]

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks of its keyword search; when no chunk has all words, some are dropped."""
        words = " ".join(plain_words(text))
        if not words:
            return []
        hits = self._search(self._worded(words, depth), depth)
        return [{**hit, "score": score} for hit, score in _scored(hits, lambda hit: hit.get("text_match"))]

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return Typesense's own rank fusion."""
        words = " ".join(plain_words(text))
        if not words:
            return self.by_vector(vector, depth)
        near = self._near(vector, depth, alpha=self.settings.alpha)
        hits = self._search({**self._worded(words, depth), "vector_query": near}, depth)
        scores = _scored(hits, lambda hit: hit.get("hybrid_search_info", {}).get("rank_fusion_score"))
        return [{**hit, "score": score} for hit, score in scores]

    def create(self, dimensions: int) -> None:
        """Make the collection, if it is not there."""
        if self.rest.ask("GET", self.collection, absent=(404,)) is not None:
            return
        kept: list[dict[str, Any]] = [
            {"name": name, "type": kind, "index": False, "optional": True}
            for name, kind in (
                ("chunk_id", "string"),
                ("doc_id", "string"),
                ("start", "int64"),
                ("end", "int64"),
                ("text", "string"),
            )
        ]
        fields = [
            *kept,
            {"name": self.settings.fulltext_field, "type": "string", "stem": True},
            {"name": self.settings.vector_field, "type": "float[]", "num_dim": dimensions},
        ]
        self.rest.ask("POST", "/collections", body={"name": self.settings.table, "fields": fields})

    def keys(self) -> set[str]:
        """Return the keys of all documents."""
        params = {"include_fields": "id"}
        lines = _lines(self.rest.ask("GET", f"{self.collection}/documents/export", params=params))
        return {line["id"] for line in lines}

    def add(self, rows: Sequence[Row]) -> None:
        """Put documents in."""
        lines: list[str] = []
        for row in rows:
            fields = {"id": row.key, **row.fields(), self.settings.vector_field: row.embedding}
            fields[self.settings.fulltext_field] = fields.pop("searched")
            lines.append(json.dumps(fields))
        path = f"{self.collection}/documents/import"
        reply = self.rest.ask("POST", path, body="\n".join(lines), params={"action": "upsert"})
        wrong = [line for line in _lines(reply) if not line.get("success")]
        if wrong:
            told = ", ".join(str(wrong[0][name]) for name in ("code", "error") if name in wrong[0])
            raise ServerError(f"{len(wrong)} of {len(rows)} documents were refused; the first: {told}")

    def remove(self, keys: Sequence[str]) -> None:
        """Take documents out."""
        for key in keys:
            self.rest.ask("DELETE", f"{self.collection}/documents/{quote(key)}", absent=(404,))

    def _near(self, vector: Sequence[float], depth: int, *, alpha: float | None = None) -> str:
        more = "" if alpha is None else f", alpha: {alpha}"
        return f"{self.settings.vector_field}:({json.dumps(list(vector))}, k: {min(depth, _MOST)}{more})"

    def _worded(self, words: str, depth: int) -> dict[str, Any]:
        return {
            "q": words,
            "query_by": self.settings.fulltext_field,
            "prefix": False,
            "drop_tokens_threshold": depth,
        }

    def _search(self, asked: dict[str, Any], depth: int) -> list[dict[str, Any]]:
        search = {
            "collection": self.settings.table,
            "per_page": min(depth, _MOST),
            "exclude_fields": f"id,{self.settings.vector_field}",
            **asked,
        }
        (result,) = self.rest.ask("POST", "/multi_search", body={"searches": [search]})["results"]
        if "hits" not in result:
            raise ServerError(f"{result.get('code')}: {result.get('error', str(result)[:300])}")
        if result.get("search_cutoff"):
            raise ServerError("the list is not whole: the search ran out of time; raise search_cutoff_ms")
        return result["hits"]


def _scored(
    hits: Sequence[dict[str, Any]], score_of: Callable[[dict[str, Any]], float | None]
) -> list[tuple[dict[str, Any], float]]:
    """Return each hit's document and score, in Typesense's order.

    A hit that a curation rule pins has no score: it takes that of the hit before it, or else the first.
    """
    scores = [None if hit.get("curated") else score_of(hit) for hit in hits]
    last = next((score for score in scores if score is not None), 0.0)
    found: list[tuple[dict[str, Any], float]] = []
    for hit, score in zip(hits, scores, strict=True):
        last = last if score is None else score
        found.append((hit["document"], last))
    return found


def _lines(reply: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    """Return the objects of an answer that has one a line: none, one, or several."""
    if reply is None:
        return []
    return cast("list[dict[str, Any]]", reply if isinstance(reply, list) else [reply])


CONNECTOR = engine_kind(TypesenseSettings, TypesenseEngine)
