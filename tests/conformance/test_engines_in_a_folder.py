"""Databases of vectors that open a folder: the real thing, though their servers are not here."""

from __future__ import annotations

from conformance.engine_kit import EngineKit


class TestLancedb(EngineKit):
    __test__ = True
    values = {"type": "lancedb", "url": "lancedb:///index"}  # noqa: RUF012 - settings of the kit


class TestQdrantFolder(EngineKit):
    __test__ = True
    values = {"type": "qdrant", "url": "qdrant:///index"}  # noqa: RUF012


class TestMilvusLite(EngineKit):
    __test__ = True
    values = {"type": "milvus", "url": "milvus:///index.db"}  # noqa: RUF012


class TestChromaFolder(EngineKit):
    __test__ = True
    values = {"type": "chroma", "url": "chroma:///index"}  # noqa: RUF012
