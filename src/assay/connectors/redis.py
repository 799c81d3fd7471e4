"""Redis with its query engine: vectors (cosine, flat) and full text (BM25).

A chunk is a hash, ``<table>:<key>``; the index is ``<table>``.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from typing import Any

from assay.connectors.engines import Engine, EngineSettings, Found, Row, engine_kind, plain_words
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.secrets import expand

_FEATURE = "connector 'redis'"
_PAGE = 1000


class RedisSettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "redis"``: ``redis://:${REDIS_PASSWORD}@host:6379/0``."""

    scorer: str = "BM25STD"
    """The scoring function of the full-text list."""


class RedisEngine(Engine):
    """See the page's head.

    Args:
        settings: the server and the index.
        around: the project's folder.
    """

    def __init__(self, settings: RedisSettings, around: Surroundings) -> None:
        del around
        self.settings = settings
        self.columns = list(settings.columns())
        self._guard = threading.Lock()
        self._client: Any = None

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        query = f"*=>[KNN $k @{self.settings.vector_field} $vector AS vector_distance]"
        given = ("PARAMS", 4, "k", depth, "vector", _packed(vector), "SORTBY", "vector_distance")
        reply = self._search(query, depth, *given, columns=[*self.columns, "vector_distance"])
        found: list[dict[str, Any]] = []
        for values in reply[2::2]:
            hit = _fields(values)
            hit["score"] = 1.0 - float(hit.pop("vector_distance"))
            found.append(hit)
        return found

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by the scorer."""
        words = "|".join(plain_words(text))
        if not words:
            return []
        query = f"@{self.settings.fulltext_field}:({words})"
        given = ("SCORER", self.settings.scorer, "WITHSCORES")
        reply = self._search(query, depth, *given, columns=self.columns)
        rows = zip(reply[2::3], reply[3::3], strict=True)
        return [{**_fields(values), "score": float(score)} for score, values in rows]

    def create(self, dimensions: int) -> None:
        """Make the index, if it is not there."""
        client = self._opened()
        if self.settings.table.encode() in client.execute_command("FT._LIST"):
            return
        client.execute_command(
            "FT.CREATE", self.settings.table, "ON", "HASH", "PREFIX", 1, f"{self.settings.table}:",
            "SCHEMA", self.settings.fulltext_field, "TEXT",
            self.settings.vector_field, "VECTOR", "FLAT", 6,
            "TYPE", "FLOAT32", "DIM", dimensions, "DISTANCE_METRIC", "COSINE",
        )  # fmt: skip

    def keys(self) -> set[str]:
        """Return the keys of all hashes."""
        prefix = f"{self.settings.table}:"
        found = self._opened().scan_iter(match=f"{prefix}*", count=_PAGE)
        return {key.decode().removeprefix(prefix) for key in found}

    def add(self, rows: Sequence[Row]) -> None:
        """Put hashes in, all or none."""
        batch = self._opened().pipeline(transaction=True)
        for row in rows:
            fields = {**row.fields(), self.settings.vector_field: _packed(row.embedding)}
            fields[self.settings.fulltext_field] = fields.pop("searched")
            batch.hset(f"{self.settings.table}:{row.key}", mapping=fields)
        batch.execute()

    def remove(self, keys: Sequence[str]) -> None:
        """Take hashes out."""
        if keys:
            self._opened().delete(*(f"{self.settings.table}:{key}" for key in keys))

    def close(self) -> None:
        """Close the connections."""
        with self._guard:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _search(self, query: str, depth: int, *given: object, columns: Sequence[str]) -> list[Any]:
        returned = ("RETURN", len(columns), *columns, "LIMIT", 0, depth, "DIALECT", 2)
        return self._opened().execute_command("FT.SEARCH", self.settings.table, query, *given, *returned)

    def _opened(self) -> Any:  # noqa: ANN401 - a client of redis
        with self._guard:
            if self._client is None:
                redis = need("redis", feature=_FEATURE, extra="redis")
                self._client = redis.Redis.from_url(
                    expand(self.settings.url), protocol=2, socket_timeout=self.settings.timeout_s
                )
            return self._client


def _fields(values: Sequence[bytes]) -> dict[str, Any]:
    pairs = zip(values[::2], values[1::2], strict=True)
    return {name.decode(): value.decode() for name, value in pairs}


def _packed(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


CONNECTOR = engine_kind(RedisSettings, RedisEngine)
