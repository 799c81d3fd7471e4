"""What a connector says when it cannot be made, or when its server refuses."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.connectors.duckdb import DuckdbEngine
from assay.connectors.llamaindex import of_engine
from assay.connectors.registry import connect
from assay.connectors.rest import Rest, ServerError
from assay.connectors.secrets import expand
from assay.model.errors import ConfigError, MissingExtraError
from conformance.engine_kit import embed, open_engine, rows
from conformance.small_corpus import QUERIES

SQLITE = {"type": "sqlite", "url": "sqlite:///index.db"}


@pytest.mark.parametrize(
    ("values", "embedder", "told"),
    [
        (
            {"type": "tantivy", "url": "tantivy:///index", "lists": ["vector"]},
            embed,
            "[retriever] lists: tantivy has no vector list\n  fix: lists = ['fulltext']",
        ),
        (
            SQLITE,
            None,
            '[retriever] lists: the vector list needs an embedder\n  fix: embed=..., or lists = ["fulltext"]',
        ),
        (
            {**SQLITE, "fusion": "engine"},
            embed,
            '[retriever] fusion: sqlite has no fusion of its own\n  fix: fusion = "rrf"',
        ),
        (
            {"type": "http", "url": "http://x/", "hits": "hits", "body": {"v": "{vector}"}},
            None,
            (
                "[retriever] body: {vector} needs an embedder, and none is at hand here\n"
                "  fix: name one in [pipeline.embedder], or send {query}"
            ),
        ),
    ],
)
def test_a_connector_that_cannot_be_made_says_which_setting_mends_it(
    values: Mapping[str, Any], embedder: Any, told: str, tmp_path: Path
):
    with pytest.raises(ConfigError) as caught:
        connect(values, folder=tmp_path, embed=embedder)
    assert str(caught.value) == told


def test_a_variable_that_is_unset_meanwhile_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    with pytest.raises(ConfigError) as caught:
        expand("Bearer ${NO_SUCH_TOKEN}")
    assert (
        str(caught.value)
        == "retriever: the environment variable NO_SUCH_TOKEN is not set\n  fix: export NO_SUCH_TOKEN=..."
    )


def test_a_query_engine_without_a_retriever_cannot_be_measured():
    with pytest.raises(ConfigError) as caught:
        of_engine(SimpleNamespace(), "mine")
    assert (
        str(caught.value)
        == "retriever 'mine': SimpleNamespace has no retriever of its own\n  fix: name the retriever below it"
    )


# What servers refuse

REFUSALS: dict[str, tuple[object, str]] = {
    "opensearch": (
        {
            "errors": True,
            "items": [
                {"index": {"_id": "k1", "status": 400, "error": {"type": "mapper", "reason": "no number"}}},
                {"index": {"_id": "k2", "status": 201}},
            ],
        },
        "1 of 2 rows were refused; the first: k1 with 400, mapper: no number",
    ),
    "typesense": (
        [{"success": False, "code": 400, "error": "no field"}, {"success": True}],
        "1 of {rows} documents were refused; the first: 400, no field",
    ),
    "weaviate": (
        [{"id": "k1", "result": {"errors": {"error": [{"message": "no room"}]}}}],
        "1 of {rows} objects were refused; the first: k1 with no room",
    ),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_rows_that_a_server_refuses_are_counted_and_the_first_is_shown(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    reply, told = REFUSALS[kind]

    def ask(self: Rest, method: str, path: str = "", **_more: object) -> object:
        del self, method, path
        return reply

    monkeypatch.setattr(Rest, "ask", ask)
    engine = open_engine({"type": kind, "url": f"{kind}+http://x"}, tmp_path)
    with pytest.raises(ServerError) as caught:
        engine.add(rows())
    assert str(caught.value) == told.format(rows=len(rows()))


def test_a_task_of_meilisearch_that_failed_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def ask(self: Rest, method: str, path: str = "", **_more: object) -> object:
        del self, method
        failed = {"status": "failed", "type": "documentAdditionOrUpdate"}
        error = {"message": "no space left", "code": "no_space_left_on_device"}
        return {**failed, "error": error} if path.startswith("/tasks/") else {"taskUid": 1}

    monkeypatch.setattr(Rest, "ask", ask)
    engine = open_engine({"type": "meilisearch", "url": "meilisearch+http://x"}, tmp_path)
    with pytest.raises(ServerError) as caught:
        engine.add(rows())
    assert str(caught.value) == "documentAdditionOrUpdate failed: no space left (no_space_left_on_device)"


# Packages that are not there


class Bare:
    """A DuckDB without extensions."""

    def execute(self, sql: str) -> None:
        raise OSError(f"{sql}: no such extension")


def test_an_extension_of_duckdb_that_is_not_there_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setitem(sys.modules, "duckdb_extensions", None)
    engine = open_engine({"type": "duckdb", "url": "duckdb:///index.duckdb"}, tmp_path)
    assert isinstance(engine, DuckdbEngine)
    engine._load(Bare(), "vss", needed=False)
    with pytest.raises(MissingExtraError) as caught:
        engine._load(Bare(), "fts", needed=True)
    assert (
        str(caught.value) == "the full-text search of 'duckdb' (fts) needs the package "
        "'duckdb-extension-fts', which is not installed\n  fix: pip install 'retrieval-assay[duckdb]'"
    )


def test_a_python_whose_sqlite_takes_no_extensions_names_the_package_that_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setitem(sys.modules, "sqlite3", SimpleNamespace(Connection=object))  # pyright: ignore[reportArgumentType]
    monkeypatch.setitem(sys.modules, "pysqlite3", None)
    engine = open_engine(SQLITE, tmp_path)
    with pytest.raises(MissingExtraError) as caught:
        engine.by_text(QUERIES[0], 5)
    assert (
        str(caught.value)
        == "connector 'sqlite' needs the package 'pysqlite3-binary', which is not installed\n"
        "  fix: pip install 'retrieval-assay[sqlite]'"
    )
