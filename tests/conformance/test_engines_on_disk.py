"""Engines that are a library and a file: the real thing."""

from __future__ import annotations

from conformance.engine_kit import EngineKit


class TestSqlite(EngineKit):
    __test__ = True
    values = {"type": "sqlite", "url": "sqlite:///index.db"}  # noqa: RUF012 - settings of the kit


class TestDuckdb(EngineKit):
    __test__ = True
    values = {"type": "duckdb", "url": "duckdb:///index.duckdb"}  # noqa: RUF012


class TestTantivy(EngineKit):
    __test__ = True
    values = {"type": "tantivy", "url": "tantivy:///index"}  # noqa: RUF012
