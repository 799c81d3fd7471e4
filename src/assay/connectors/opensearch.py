"""OpenSearch and Elasticsearch: k-NN, ``match`` (BM25), and their own fusion of both.

OpenSearch fuses with a search pipeline: the one that ``search_pipeline`` names, or reciprocal rank fusion,
sent with the query (OpenSearch 2.19 and newer). Elasticsearch's own fusion needs a licence, so it is used
where ``fusion = "engine"`` asks for it.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, cast

from assay.connectors.engines import Found, Row, engine_kind
from assay.connectors.kinds import Surroundings
from assay.connectors.rest import ServerError
from assay.connectors.served import ServedEngine, ServedSettings

_PAGE = 1000


class OpenSearchSettings(ServedSettings, frozen=True, kw_only=True):
    """``type = "opensearch"``: ``opensearch+https://host:9200``."""

    search_pipeline: str | None = None
    """The pipeline of your hybrid search; None: reciprocal rank fusion, sent with each query."""
    analyzer: str = "english"
    """How words are read; used when ``assay index`` makes the index."""


class ElasticsearchSettings(ServedSettings, frozen=True, kw_only=True):
    """``type = "elasticsearch"``: ``elasticsearch+https://host:9200``."""

    analyzer: str = "english"
    """How words are read; used when ``assay index`` makes the index."""


class _Lucene(ServedEngine):
    """What both have in common.

    Args:
        settings: the server and the index.
        around: the project's folder.
    """

    fuses = True
    least_k_rrf = 1

    def __init__(self, settings: OpenSearchSettings | ElasticsearchSettings, around: Surroundings) -> None:
        super().__init__(settings, around)
        self.settings = settings
        self.index = f"/{settings.table}"

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by BM25."""
        return self._search({"size": depth, "query": self._match(text)})

    def create(self, dimensions: int) -> None:
        """Make the index, if it is not there."""
        if self.rest.ask("GET", self.index, absent=(404,)) is not None:
            return
        keyword = {"type": "keyword"}
        stored = {"type": "keyword", "index": False, "doc_values": False}
        properties: dict[str, Any] = {
            "key": keyword,
            "chunk_id": keyword,
            "doc_id": keyword,
            "start": {"type": "long"},
            "end": {"type": "long"},
            "text": stored,
            self.settings.fulltext_field: {"type": "text", "analyzer": self.settings.analyzer},
            self.settings.vector_field: self._vector_type(dimensions),
        }
        self.rest.ask("PUT", self.index, body={**self._own(), "mappings": {"properties": properties}})

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        found: set[str] = set()
        body: dict[str, Any] = {"size": _PAGE, "sort": [{"key": "asc"}], "_source": False}
        while True:
            hits = self._hits(body)
            found.update(hit["_id"] for hit in hits)
            if len(hits) < _PAGE:
                return found
            body = {**body, "search_after": hits[-1]["sort"]}

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows in."""
        lines: list[object] = []
        for row in rows:
            fields: dict[str, Any] = {"key": row.key, **row.fields()}
            fields[self.settings.fulltext_field] = fields.pop("searched")
            if any(row.embedding):  # by cosine, a vector of zeros is refused, and its text with it
                fields[self.settings.vector_field] = row.embedding
            lines += [{"index": {"_index": self.settings.table, "_id": row.key}}, fields]
        self._bulk(lines)

    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out."""
        self._bulk([{"delete": {"_index": self.settings.table, "_id": key}} for key in keys])

    def finish(self) -> None:
        """Let searches see what was put in."""
        self.rest.ask("POST", f"{self.index}/_refresh")

    @abstractmethod
    def _vector_type(self, dimensions: int) -> dict[str, Any]:
        """Return the mapping of the vectors."""

    @abstractmethod
    def _own(self) -> dict[str, Any]:
        """Return what else the index is made with."""

    def _match(self, text: str) -> dict[str, Any]:
        return {"match": {self.settings.fulltext_field: {"query": text}}}

    def _search(self, body: Mapping[str, Any], params: Mapping[str, str] | None = None) -> Found:
        hits = self._hits({**body, "_source": {"excludes": [self.settings.vector_field]}}, params)
        # An index that keeps no source has ids, at least.
        return [{**(hit.get("_source") or {"_id": hit["_id"]}), "score": hit["_score"]} for hit in hits]

    def _hits(self, body: Mapping[str, Any], params: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        reply = self.rest.ask("POST", f"{self.index}/_search", body=body, params=params)
        missing = _missing(reply)
        if missing:
            raise ServerError(f"the list is not whole: {missing}; ask again when the cluster is well")
        return reply["hits"]["hits"]

    def _bulk(self, lines: Sequence[object]) -> None:
        if not lines:
            return
        body = "".join(f"{json.dumps(line)}\n" for line in lines)
        reply = self.rest.ask("POST", "/_bulk", body=body, params={"refresh": "true"})
        if reply.get("errors"):
            parts = [next(iter(item.values())) for item in reply["items"]]
            wrong = [part for part in parts if "error" in part]
            first = f"{wrong[0]['_id']} with {wrong[0]['status']}, {_told(wrong[0]['error'])}"
            raise ServerError(f"{len(wrong)} of {len(parts)} rows were refused; the first: {first}")


class OpenSearchEngine(_Lucene):
    """OpenSearch.

    Args:
        settings: the server and the index.
        around: the project's folder.
    """

    def __init__(self, settings: OpenSearchSettings, around: Surroundings) -> None:
        super().__init__(settings, around)
        self.pipeline = settings.search_pipeline

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        return self._search({"size": depth, "query": self._near(vector, depth)})

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return OpenSearch's own fusion of a hybrid query."""
        queries = [self._near(vector, depth), self._match(text)]
        body: dict[str, Any] = {"size": depth, "query": {"hybrid": {"queries": queries}}}
        if self.pipeline is not None:
            return self._search(body, {"search_pipeline": self.pipeline})
        combination = {"technique": "rrf", "rank_constant": int(self.settings.k_rrf)}
        processor = {"score-ranker-processor": {"combination": combination}}
        return self._search({**body, "search_pipeline": {"phase_results_processors": [processor]}})

    def _near(self, vector: Sequence[float], depth: int) -> dict[str, Any]:
        return {"knn": {self.settings.vector_field: {"vector": list(vector), "k": depth}}}

    def _vector_type(self, dimensions: int) -> dict[str, Any]:
        method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
        return {"type": "knn_vector", "dimension": dimensions, "method": method}

    def _own(self) -> dict[str, Any]:
        return {"settings": {"index": {"knn": True}}}


class ElasticsearchEngine(_Lucene):
    """Elasticsearch.

    Args:
        settings: the server and the index.
        around: the project's folder.
    """

    fuses_unasked = False

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        return self._search({"size": depth, "knn": self._near(vector, depth)})

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return Elasticsearch's own reciprocal rank fusion."""
        fused = {
            "retrievers": [{"knn": self._near(vector, depth)}, {"standard": {"query": self._match(text)}}],
            "rank_constant": int(self.settings.k_rrf),
            "rank_window_size": depth,
        }
        return self._search({"size": depth, "retriever": {"rrf": fused}})

    def _near(self, vector: Sequence[float], depth: int) -> dict[str, Any]:
        return {
            "field": self.settings.vector_field,
            "query_vector": list(vector),
            "k": depth,
            "num_candidates": min(10_000, max(100, 10 * depth)),
        }

    def _vector_type(self, dimensions: int) -> dict[str, Any]:
        return {"type": "dense_vector", "dims": dimensions, "index": True, "similarity": "cosine"}

    def _own(self) -> dict[str, Any]:
        return {}


def _missing(reply: Mapping[str, Any]) -> str | None:
    """Return what an answer lacks: a part of the index that gave nothing leaves its status at 200."""
    shards = reply.get("_shards", {})
    if shards.get("failed"):
        failures: list[dict[str, Any]] = shards.get("failures", [])
        why = _told(failures[0].get("reason")) if failures else ""
        return f"{shards['failed']} of {shards['total']} shards failed{why and f', the first with {why}'}"
    if reply.get("timed_out"):
        return "the search ran out of time"
    clusters = reply.get("_clusters", {})
    absent = sum(clusters.get(name, 0) for name in ("skipped", "partial", "failed"))
    return f"{absent} of {clusters['total']} clusters failed" if absent else None


def _told(error: object) -> str:
    """Return the words of an error and of what it was caused by."""
    words: list[str] = []
    while isinstance(error, Mapping):
        parts = cast("Mapping[str, object]", error)
        words.append(": ".join(str(parts[name]) for name in ("type", "reason") if parts.get(name)))
        error = parts.get("caused_by")
    if isinstance(error, str):
        words.append(error)
    return ", caused by ".join(words)


CONNECTOR = engine_kind(OpenSearchSettings, OpenSearchEngine)
