"""Indexes that nobody made with ``assay index``: their own tables and columns, and no places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from assay.connectors.kinds import Surroundings
from assay.connectors.sqlite import SqliteEngine, SqliteSettings, _packed
from assay.flows.evaluate import evaluate
from assay.flows.project import load_project
from assay.retrieval.models.hashing import HashingEmbedder, HashingSettings
from conformance.postgresql_server import postgresql_url
from small_project import DOCUMENTS, SETTINGS, make_project

FIELDS = 'fields = { id = "nr", document = "file", text = "body" }\nstrip_prefix = "shop/"\n'


def passages() -> Iterator[tuple[int, str, str, list[float]]]:
    """Yield number, file, text and vector of each paragraph."""
    embedder = HashingEmbedder(HashingSettings())
    found = [(f"shop/{name}", text) for name, whole in DOCUMENTS.items() for text in whole.split("\n\n")[1:]]
    vectors = embedder.embed_passages([text for _, text in found], {})
    for nr, ((file, text), vector) in enumerate(zip(found, vectors.tolist(), strict=True), start=1):
        yield nr, file, text, vector


def sqlite_table(folder: Path) -> str:
    engine = SqliteEngine(SqliteSettings(url="sqlite:///shop.db"), Surroundings(folder=folder))
    with engine.pool.one() as db, db:
        db.execute("CREATE TABLE passages (nr INTEGER PRIMARY KEY, file TEXT, body TEXT)")
        db.execute("CREATE VIRTUAL TABLE fts USING fts5(body, content='passages', content_rowid='nr')")
        db.execute("CREATE VIRTUAL TABLE vec USING vec0(embedding float[1024] distance_metric=cosine)")
        for nr, file, text, vector in passages():
            db.execute("INSERT INTO passages VALUES (?, ?, ?)", (nr, file, text))
            db.execute("INSERT INTO fts (rowid, body) VALUES (?, ?)", (nr, text))
            db.execute("INSERT INTO vec (rowid, embedding) VALUES (?, ?)", (nr, _packed(vector)))
    engine.close()
    tables = 'table = "passages"\nwords_table = "fts"\nvectors_table = "vec"\n'
    return f'type = "sqlite"\nurl = "sqlite:///shop.db"\n{tables}{FIELDS}'


def postgresql_table(folder: Path) -> str:
    del folder
    with psycopg.connect(postgresql_url(), autocommit=True) as db:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        db.execute("CREATE SCHEMA own")
        db.execute("CREATE TABLE own.passages (nr int PRIMARY KEY, file text, body text, vec vector(1024))")
        for row in passages():
            db.execute("INSERT INTO own.passages VALUES (%s, %s, %s, %s::vector)", (*row[:3], str(row[3])))
    columns = 'vector_field = "vec"\nfulltext_field = "body"\norder_field = "nr"\n'
    return f'type = "postgresql"\nurl = "{postgresql_url()}"\ntable = "own.passages"\n{columns}{FIELDS}'


@pytest.mark.parametrize("make", [sqlite_table, postgresql_table])
def test_a_table_of_the_users_own_is_measured_by_its_texts(make: Any, tmp_path: Path):
    folder = make_project(tmp_path, settings=f"{SETTINGS}\n[retriever]\n")
    file = folder / "assay.toml"
    file.write_text(f"{file.read_text()}{make(folder)}")
    evaluation = evaluate(load_project(folder))
    assert evaluation.unit == "anchor"
    assert evaluation.summary.measures["recall@2"].mean == 1.0
    assert [stage.name for stage in evaluation.run.stages] == ["vector", "fulltext", "pool", "final"]
    chunks = evaluation.run.chunks
    assert set(chunks.doc_ids) <= set(DOCUMENTS)  # shop/errors.md is errors.md
    assert (chunks.starts >= 0).all()  # every text was found in its document
