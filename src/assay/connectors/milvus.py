"""Milvus: vectors (cosine), its own BM25, and its own fusion of both; a server, or Milvus Lite in a file."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from assay.connectors.engines import Engine, EngineSettings, Found, Row, engine_kind, path_of, plain_words
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.rest import base_of
from assay.connectors.secrets import expand

_FEATURE = "connector 'milvus'"
_LONGEST = 65_535
"""How many bytes a text of Milvus may have."""
_PAGE = 1000


class MilvusSettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "milvus"``: a file, ``milvus:///index.db``, or a server, ``milvus+http://host:19530``."""

    token: str = ""
    """``user:password`` or a key, as ``${NAME}``."""
    sparse_field: str = "searched_bm25"
    """The field of the BM25 function."""
    analyzer: dict[str, Any] = msgspec.field(
        default_factory=lambda: {
            "tokenizer": "standard",
            "filter": ["lowercase", {"type": "stemmer", "language": "english"}],
        }
    )
    """How words are read; used when ``assay index`` makes the collection."""


class MilvusEngine(Engine):
    """See the page's head.

    Args:
        settings: the file or server, and the collection.
        around: the project's folder.
    """

    fuses = True

    def __init__(self, settings: MilvusSettings, around: Surroundings) -> None:
        self.settings = settings
        self.around = around
        self.columns = list(settings.columns())
        self._guard = threading.Lock()
        self._client: Any = None

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        (found,) = self._opened().search(
            self.settings.table,
            data=[list(vector)],
            anns_field=self.settings.vector_field,
            limit=depth,
            output_fields=self.columns,
            timeout=self.settings.timeout_s,
        )
        return self._ordered(found)

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by BM25."""
        words = " ".join(plain_words(text))
        if not words:
            return []
        (found,) = self._opened().search(
            self.settings.table,
            data=[words],
            anns_field=self.settings.sparse_field,
            limit=depth,
            output_fields=self.columns,
            timeout=self.settings.timeout_s,
        )
        return [hit for hit in self._ordered(found) if hit["score"] > 0.0]

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return Milvus's own reciprocal rank fusion."""
        milvus = need("pymilvus", feature=_FEATURE, extra="milvus")
        asked = [
            milvus.AnnSearchRequest(
                [list(vector)], self.settings.vector_field, {"metric_type": "COSINE"}, depth
            )
        ]
        words = " ".join(plain_words(text))
        if words:
            sparse = self.settings.sparse_field
            asked.append(milvus.AnnSearchRequest([words], sparse, {"metric_type": "BM25"}, depth))
        (found,) = self._opened().hybrid_search(
            self.settings.table,
            reqs=asked,
            ranker=milvus.RRFRanker(int(self.settings.k_rrf)),
            limit=depth,
            output_fields=self.columns,
            timeout=self.settings.timeout_s,
        )
        return self._ordered(found)

    def create(self, dimensions: int) -> None:
        """Make the collection with its BM25 function and exact vectors."""
        client = self._opened()
        if client.has_collection(self.settings.table):
            return
        milvus = need("pymilvus", feature=_FEATURE, extra="milvus")
        kinds = milvus.DataType
        words, sparse = self.settings.fulltext_field, self.settings.sparse_field
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("key", kinds.VARCHAR, is_primary=True, max_length=36)
        for name in ("chunk_id", "doc_id", "text"):
            schema.add_field(name, kinds.VARCHAR, max_length=_LONGEST)
        for name in ("start", "end"):
            schema.add_field(name, kinds.INT64)
        schema.add_field(
            words,
            kinds.VARCHAR,
            max_length=_LONGEST,
            enable_analyzer=True,
            analyzer_params=self.settings.analyzer,
        )
        schema.add_field(self.settings.vector_field, kinds.FLOAT_VECTOR, dim=dimensions)
        schema.add_field(sparse, kinds.SPARSE_FLOAT_VECTOR)
        schema.add_function(
            milvus.Function(
                name="bm25",
                input_field_names=[words],
                output_field_names=[sparse],
                function_type=milvus.FunctionType.BM25,
            )
        )
        indexes = client.prepare_index_params()
        indexes.add_index(self.settings.vector_field, index_type="FLAT", metric_type="COSINE")
        indexes.add_index(sparse, index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        client.create_collection(
            self.settings.table, schema=schema, index_params=indexes, consistency_level="Strong"
        )

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        found: set[str] = set()
        client = self._opened()
        with _quiet():
            rows = client.query_iterator(
                self.settings.table, batch_size=_PAGE, filter="", output_fields=["key"]
            )
            while page := rows.next():
                found.update(row["key"] for row in page)
            rows.close()
        return found

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows in."""
        self._opened().upsert(self.settings.table, [self._row(row) for row in rows])

    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out."""
        if keys:
            self._opened().delete(self.settings.table, ids=list(keys))

    def close(self) -> None:
        """Close the client."""
        with self._guard:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _row(self, row: Row) -> dict[str, Any]:
        fields = {"key": row.key, **row.fields(), self.settings.vector_field: row.embedding}
        fields[self.settings.fulltext_field] = fields.pop("searched")
        return fields

    def _ordered(self, found: Any) -> Found:  # noqa: ANN401 - hits of pymilvus
        """Return the hits by score down; Milvus Lite gives BM25 scores with their sign turned."""
        hits = [{**hit["entity"], "score": abs(hit["distance"])} for hit in found]
        return sorted(hits, key=lambda hit: (-hit["score"], str(hit[self.columns[0]])))

    def _opened(self) -> Any:  # noqa: ANN401 - a client of pymilvus
        with self._guard:
            if self._client is None:
                milvus = need("pymilvus", feature=_FEATURE, extra="milvus")
                url = expand(self.settings.url)
                server = url.startswith(("milvus+http", "http"))
                place = base_of(url) if server else path_of(url, self.around)
                client = milvus.MilvusClient(place, token=expand(self.settings.token))
                if client.has_collection(self.settings.table):
                    client.load_collection(self.settings.table)  # a server that was started anew has not
                self._client = client
            return self._client


@contextmanager
def _quiet() -> Generator[None]:
    """Keep warnings of pymilvus to itself: Milvus Lite lacks a clock that its iterator asks for."""
    logger = logging.getLogger("pymilvus")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


CONNECTOR = engine_kind(MilvusSettings, MilvusEngine)
