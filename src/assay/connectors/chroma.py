"""Chroma: vectors alone, in a folder or behind its server. It has no full-text list that is ranked."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

from assay.connectors.engines import Engine, EngineSettings, Found, ListName, Row, engine_kind, path_of
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.rest import base_of
from assay.connectors.secrets import expand

_FEATURE = "connector 'chroma'"
_PAGE = 5000


class ChromaSettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "chroma"``: a folder, ``chroma:///index``, or a server, ``chroma+http://host:8000``."""

    headers: dict[str, str] | None = None
    """Sent to the server; ``${NAME}`` is replaced by an environment variable."""
    text_is_document: bool = True
    """Whether Chroma's ``document`` is the chunk's text, where its metadata has none."""


class ChromaEngine(Engine):
    """See the page's head.

    Args:
        settings: the folder or server, and the collection.
        around: the project's folder.
    """

    lists: ClassVar[tuple[ListName, ...]] = ("vector",)

    def __init__(self, settings: ChromaSettings, around: Surroundings) -> None:
        self.settings = settings
        self.around = around
        self._guard = threading.Lock()
        self._collection: Any = None

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by the collection's own distance."""
        collection = self._opened()
        n = min(depth, collection.count())
        if not n:
            return []
        reply = collection.query(
            query_embeddings=[list(vector)], n_results=n, include=["metadatas", "documents", "distances"]
        )
        columns = (reply["ids"][0], reply["metadatas"][0], reply["documents"][0], reply["distances"][0])
        found: list[dict[str, Any]] = []
        for name, meta, document, distance in zip(*columns, strict=True):
            hit: dict[str, Any] = {"key": name, **(meta or {}), "score": 1.0 - distance}
            if document is not None and self.settings.text_is_document:
                hit.setdefault("text", document)
            found.append(hit)
        return sorted(found, key=lambda hit: (-hit["score"], hit["key"]))

    def create(self, dimensions: int) -> None:
        """Make the collection; its distance is the cosine."""
        del dimensions
        client = self._client()
        with self._guard:
            self._collection = client.get_or_create_collection(
                self.settings.table,
                configuration={"hnsw": {"space": "cosine", "ef_search": 200, "ef_construction": 200}},
                embedding_function=None,
            )

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        collection = self._opened()
        found: set[str] = set()
        for start in range(0, collection.count(), _PAGE):
            found.update(collection.get(limit=_PAGE, offset=start, include=[])["ids"])
        return found

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows in."""
        metas: list[dict[str, Any]] = []
        for row in rows:
            fields = row.fields()
            del fields["searched"]
            metas.append(fields)
        self._opened().upsert(
            ids=[row.key for row in rows],
            embeddings=[row.embedding for row in rows],
            metadatas=metas,
            documents=[row.searched for row in rows],
        )

    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out."""
        if keys:
            self._opened().delete(ids=list(keys))

    def _client(self) -> Any:  # noqa: ANN401 - a client of Chroma
        chroma = need("chromadb", feature=_FEATURE, extra="chroma", package="chromadb")
        config = need("chromadb.config", feature=_FEATURE, extra="chroma", package="chromadb")
        quiet = config.Settings(anonymized_telemetry=False)
        url = expand(self.settings.url)
        if not url.startswith(("chroma+http", "http")):
            return chroma.PersistentClient(path_of(url, self.around), settings=quiet)
        address = urlsplit(base_of(url))
        secure = address.scheme == "https"
        return chroma.HttpClient(
            host=address.hostname or "localhost",
            port=address.port or (443 if secure else 8000),
            ssl=secure,
            headers={name: expand(value) for name, value in (self.settings.headers or {}).items()},
            settings=quiet,
        )

    def _opened(self) -> Any:  # noqa: ANN401 - a collection of Chroma
        with self._guard:
            if self._collection is None:
                client = self._client()
                self._collection = client.get_collection(self.settings.table, embedding_function=None)
            return self._collection


CONNECTOR = engine_kind(ChromaSettings, ChromaEngine)
