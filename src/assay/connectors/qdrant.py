"""Qdrant: vectors (cosine), BM25 as sparse vectors, and its own fusion of both.

A server is asked over HTTP (``qdrant+http://host:6333``, or ``https``); it makes the sparse vectors of words
itself (``qdrant/bm25``, Qdrant 1.15.2 and newer), and fuses with a constant of ours from 1.16 on. A folder
(``qdrant:///index``) is opened with Qdrant's embedded core, which makes the same ones.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from assay.connectors.engines import Engine, Found, Row, engine_kind, path_of
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.rest import ServerError
from assay.connectors.secrets import expand
from assay.connectors.served import ServedEngine, ServedSettings

_FEATURE = "connector 'qdrant'"
_PAGE = 1000
_MODEL = "qdrant/bm25"
_K_UNASKED = 2
"""The constant that a server takes unasked, and before 1.16 always."""


class QdrantSettings(ServedSettings, frozen=True, kw_only=True):
    """``type = "qdrant"``: a server, ``qdrant+http://host:6333``, or a folder, ``qdrant:///index``."""

    exact: bool = True
    """Whether vectors are compared with every chunk's, or found through the index of your collection."""


class QdrantServer(ServedEngine):
    """A server, over HTTP.

    Args:
        settings: the server and the collection.
        around: the project's folder.
    """

    fuses = True
    least_k_rrf = 0

    def __init__(self, settings: QdrantSettings, around: Surroundings) -> None:
        super().__init__(settings, around)
        self.settings = settings
        self.rest.base += f"/collections/{settings.table}"

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        return self._query({**self._near(vector), "limit": depth})

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by BM25."""
        return self._query({**self._worded(text), "limit": depth})

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return Qdrant's own reciprocal rank fusion."""
        lists = [{**self._near(vector), "limit": depth}, {**self._worded(text), "limit": depth}]
        k = _k_of(self.settings)
        fused = {"fusion": "rrf"} if k == _K_UNASKED else {"rrf": {"k": k}}
        return self._query({"prefetch": lists, "query": fused, "limit": depth})

    def create(self, dimensions: int) -> None:
        """Make the collection, if it is not there."""
        if self.rest.ask("GET", absent=(404,)) is None:
            self.rest.ask(
                "PUT",
                body={
                    "vectors": {self.settings.vector_field: {"size": dimensions, "distance": "Cosine"}},
                    "sparse_vectors": {self.settings.fulltext_field: {"modifier": "idf"}},
                },
            )

    def keys(self) -> set[str]:
        """Return the keys of all points."""
        found: set[str] = set()
        body: dict[str, Any] = {"limit": _PAGE, "with_payload": False, "with_vector": False}
        while True:
            page = self.rest.ask("POST", "/points/scroll", body=body)["result"]
            found.update(str(point["id"]) for point in page["points"])
            if page.get("next_page_offset") is None:
                return found
            body = {**body, "offset": page["next_page_offset"]}

    def add(self, rows: Sequence[Row]) -> None:
        """Put points in."""
        points = [
            {
                "id": row.key,
                "vector": {
                    self.settings.vector_field: row.embedding,
                    self.settings.fulltext_field: {"text": row.searched, "model": _MODEL},
                },
                "payload": _payload(row),
            }
            for row in rows
        ]
        self._change("PUT", "/points", points)

    def remove(self, keys: Sequence[str]) -> None:
        """Take points out."""
        self._change("POST", "/points/delete", list(keys))

    def _near(self, vector: Sequence[float]) -> dict[str, Any]:
        return {
            "query": list(vector),
            "using": self.settings.vector_field,
            "params": {"exact": self.settings.exact},
        }

    def _worded(self, text: str) -> dict[str, Any]:
        return {"query": {"text": text, "model": _MODEL}, "using": self.settings.fulltext_field}

    def _query(self, body: dict[str, Any]) -> Found:
        reply = self.rest.ask("POST", "/points/query", body={**body, "with_payload": True})
        return _best_first([(point.get("payload"), point["score"]) for point in reply["result"]["points"]])

    def _change(self, method: str, path: str, points: Sequence[object]) -> None:
        reply = self.rest.ask(method, path, params={"wait": "true"}, body={"points": points})
        status = reply["result"]["status"]
        if status != "completed":
            raise ServerError(
                f"{len(points)} points are not yet in the collection, but {status!r}; the same call goes on"
            )


class _Held:
    """A folder that is open: the core opens it once, however many retrievers of a process read it."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self.shard: Any = None


@cache
def _held(folder: Path) -> _Held:
    del folder
    return _Held()


class QdrantFolder(Engine):
    """A folder, with Qdrant's embedded core.

    Args:
        settings: the folder; the table is a folder in it.
        around: the project's folder.
    """

    fuses = True
    least_k_rrf = 0

    def __init__(self, settings: QdrantSettings, around: Surroundings) -> None:
        self.settings = settings
        self.folder = Path(path_of(expand(settings.url), around)) / settings.table
        self._held = _held(self.folder.resolve())

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        return self._query(self._near(vector), depth)

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by BM25."""
        return self._query(self._worded(text), depth)

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return Qdrant's own reciprocal rank fusion."""
        edge = self._edge()
        lists = [
            edge.Prefetch(limit=depth, query=query) for query in (self._near(vector), self._worded(text))
        ]
        return self._query(edge.Fusion.Rrf(k=_k_of(self.settings)), depth, prefetches=lists)

    def create(self, dimensions: int) -> None:
        """Make the folder, if it is not there."""
        if self.folder.is_dir() and any(self.folder.iterdir()):
            return
        edge = self._edge()
        self.folder.mkdir(parents=True, exist_ok=True)
        vectors = {self.settings.vector_field: edge.EdgeVectorParams(dimensions, edge.Distance.Cosine)}
        words = {self.settings.fulltext_field: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)}
        with self._held.guard:
            self._held.shard = edge.EdgeShard.create(
                str(self.folder), edge.EdgeConfig(vectors=vectors, sparse_vectors=words)
            )

    def keys(self) -> set[str]:
        """Return the keys of all points."""
        edge = self._edge()
        found: set[str] = set()
        offset = None
        with self._held.guard:
            shard = self._opened()
            while True:
                points, offset = shard.scroll(
                    edge.ScrollRequest(offset=offset, limit=_PAGE, with_payload=False)
                )
                found.update(str(point.id) for point in points)
                if offset is None:
                    return found

    def add(self, rows: Sequence[Row]) -> None:
        """Put points in."""
        edge = self._edge()
        bm25 = edge.Bm25()
        points = [
            edge.Point(
                row.key,
                {
                    self.settings.vector_field: row.embedding,
                    self.settings.fulltext_field: bm25.embed_document(row.searched),
                },
                _payload(row),
            )
            for row in rows
        ]
        self._update(edge.UpdateOperation.upsert_points(points))

    def remove(self, keys: Sequence[str]) -> None:
        """Take points out."""
        self._update(self._edge().UpdateOperation.delete_points(list(keys)))

    def finish(self) -> None:
        """Build what the core searches through."""
        with self._held.guard:
            self._opened().optimize()

    def close(self) -> None:
        """Close the folder, so that another process may open it."""
        with self._held.guard:
            if self._held.shard is not None:
                self._held.shard.close()
                self._held.shard = None

    def _near(self, vector: Sequence[float]) -> Any:  # noqa: ANN401 - an object of Qdrant
        return self._edge().Query.Nearest(list(vector), using=self.settings.vector_field)

    def _worded(self, text: str) -> Any:  # noqa: ANN401 - an object of Qdrant
        edge = self._edge()
        return edge.Query.Nearest(edge.Bm25().embed_query(text), using=self.settings.fulltext_field)

    def _query(self, query: Any, depth: int, prefetches: Any = None) -> Found:  # noqa: ANN401 - objects of Qdrant
        edge = self._edge()
        request = edge.QueryRequest(
            limit=depth,
            query=query,
            prefetches=prefetches,
            with_payload=True,
            params=edge.SearchParams(exact=self.settings.exact),
        )
        with self._held.guard:
            points = self._opened().query(request)
        return _best_first([(point.payload, point.score) for point in points])

    def _update(self, operation: Any) -> None:  # noqa: ANN401 - an object of Qdrant
        with self._held.guard:
            self._opened().update(operation)
            self._opened().flush()

    def _opened(self) -> Any:  # noqa: ANN401 - a shard of Qdrant
        if self._held.shard is None:
            self._held.shard = self._edge().EdgeShard.load(str(self.folder))
        return self._held.shard

    def _edge(self) -> Any:  # noqa: ANN401 - a module
        return need("qdrant_edge", feature=_FEATURE, extra="qdrant", package="qdrant-edge-py")


def _k_of(settings: QdrantSettings) -> int:
    """Return Qdrant's constant: it counts ranks from 0, so that its own is one more."""
    return int(settings.k_rrf) + 1


def _best_first(points: Sequence[tuple[dict[str, Any] | None, float]]) -> Found:
    """Return the hits of a list that is best first; by a distance, less is better, and its sign is turned."""
    sign = -1.0 if points and points[0][1] < points[-1][1] else 1.0
    return [{**(payload or {}), "score": sign * score} for payload, score in points]


def _payload(row: Row) -> dict[str, Any]:
    fields = row.fields()
    del fields["searched"]
    return fields


def _open(settings: QdrantSettings, around: Surroundings) -> Engine:
    server = settings.url.startswith(("qdrant+http", "http"))
    return QdrantServer(settings, around) if server else QdrantFolder(settings, around)


CONNECTOR = engine_kind(QdrantSettings, _open)
