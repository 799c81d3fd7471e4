"""Redis with its query engine: vectors (cosine, flat) and full text (BM25).

A chunk is a hash, ``<table>:<key>``; the index is ``<table>``. Answers are asked for in RESP3: only there
does a search that ran out of time say so, in RESP2 its few hits look like all that there are.
"""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Mapping, Sequence
from typing import Any, cast

from assay.connectors.engines import Engine, EngineSettings, Found, Row, engine_kind, plain_words
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.rest import ServerError
from assay.connectors.secrets import expand

_FEATURE = "connector 'redis'"
_PAGE = 1000


class RedisSettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "redis"``: ``redis://:${REDIS_PASSWORD}@host:6379/0``."""

    scorer: str = "BM25STD"
    """The scoring function of the full-text list; below RediSearch 2.10 it is called ``BM25``."""


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
        self._checked = False

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        query = f"*=>[KNN $k @{self.settings.vector_field} $vector AS vector_distance]"
        given = ("PARAMS", 4, "k", depth, "vector", _packed(vector), "SORTBY", "vector_distance")
        hits = self._search(query, depth, *given, columns=[*self.columns, "vector_distance"])
        near = [{**hit, "score": 1.0 - float(hit.pop("vector_distance"))} for hit in hits]
        # A vector of zeros has no direction: its distance is not a number, and nothing is near it.
        return [hit for hit in near if not math.isnan(hit["score"])]

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by the scorer."""
        words = "|".join(word for word in plain_words(text) if word.strip("_"))
        if not words:
            return []
        query = f"@{self.settings.fulltext_field}:({words})"
        # Without NOSTOPWORDS, two stop words in a row make RediSearch 2.10 forget other words of a union, and
        # three at its head crash the server. With it they are words like any other, which no index holds.
        given = ("NOSTOPWORDS", "SCORER", self.settings.scorer, "WITHSCORES")
        return self._search(query, depth, *given, columns=self.columns)

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
            fields = row.fields()
            fields[self.settings.fulltext_field] = fields.pop("searched")
            if any(row.embedding):
                fields[self.settings.vector_field] = _packed(row.embedding)
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

    def _search(self, query: str, depth: int, *given: object, columns: Sequence[str]) -> list[dict[str, Any]]:
        client = self._opened()
        self._check_fields(client)
        returned = ("RETURN", len(columns), *columns, "LIMIT", 0, depth, "DIALECT", 2)
        reply = _named(client.execute_command("FT.SEARCH", self.settings.table, query, *given, *returned))
        if reply.get("warning"):
            told = "; ".join(_text(warning) for warning in reply["warning"])
            raise ServerError(f"{self.settings.table}: the list is not whole: {told}")
        found: list[dict[str, Any]] = []
        for hit in map(_named, reply["results"]):
            fields = {name: _text(value) for name, value in _named(hit["extra_attributes"]).items()}
            found.append({**fields, "score": float(hit["score"])} if "score" in hit else fields)
        return found

    def _check_fields(self, client: Any) -> None:  # noqa: ANN401 - a client of redis
        """See that the fields that are searched are there: without one, Redis finds nothing in silence."""
        if self._checked:
            return
        try:
            about = _named(client.execute_command("FT.INFO", self.settings.table))
        except self._redis().ResponseError as error:
            raise ServerError(f"{self.settings.table}: {error}") from error
        known = [_text(_named(field)["attribute"]) for field in about["attributes"]]
        fields = {"vector": self.settings.vector_field, "fulltext": self.settings.fulltext_field}
        for name in self.settings.lists or self.lists:
            if fields[name] not in known:
                raise ServerError(
                    f"{self.settings.table} has no field {fields[name]!r}; it has {', '.join(known)}"
                )
        self._checked = True

    def _opened(self) -> Any:  # noqa: ANN401 - a client of redis
        with self._guard:
            if self._client is None:
                self._client = self._redis().Redis.from_url(
                    expand(self.settings.url), protocol=3, socket_timeout=self.settings.timeout_s
                )
            return self._client

    def _redis(self) -> Any:  # noqa: ANN401 - a module
        return need("redis", feature=_FEATURE, extra="redis")


def _named(value: Any) -> dict[str, Any]:  # noqa: ANN401 - a reply of redis
    """Return a map of a reply, by its names.

    Raises:
        ServerError: it is none.
    """
    if not isinstance(value, Mapping):
        raise ServerError("the answer is not in RESP3: that needs Redis 7.2 with its query engine, or newer")
    return {_text(name): one for name, one in cast("Mapping[Any, Any]", value).items()}


def _text(value: Any) -> str:  # noqa: ANN401 - a value of a reply
    return value.decode() if isinstance(value, bytes) else str(value)


def _packed(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


CONNECTOR = engine_kind(RedisSettings, RedisEngine)
