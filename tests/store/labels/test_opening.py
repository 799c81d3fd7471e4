from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import ArgumentError

from assay.model.errors import ConfigError, MissingExtraError, StoreError
from assay.store.labels import open_labels, tables
from assay.store.labels.engine import Database
from assay.store.labels.migrations import STEPS, found_version, migrate
from assay.store.labels.opening import checked_url
from label_stores import BACKENDS, new_store_url, store_at


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_store_that_was_brought_up_to_date_has_the_tables_of_a_new_one(backend: str, tmp_path: Path):
    url = new_store_url(backend, tmp_path)
    with store_at(url) as store, store._database.read() as connection:
        found = inspect(connection)
        assert found_version(connection) == len(STEPS)
        for table in tables.metadata.sorted_tables:
            columns = {column["name"] for column in found.get_columns(table.name)}
            assert columns == {column.name for column in table.columns}


def test_a_file_of_version_1_is_read_as_it_was_written(tmp_path: Path):
    plain = sqlite3.connect(tmp_path / "labels.db")
    plain.executescript((Path(__file__).parent / "version_1.sql").read_text(encoding="utf-8"))
    plain.close()
    with open_labels(tmp_path / "labels.db") as store:
        first, second, undoing = store.judgements()
        assert (first.by, first.grade, first.shown, first.at) == (
            "ada",
            2.0,
            "Refunds arrive within 14 days.",
            "2026-11-30T13:00:00.000001+00:00",
        )
        assert (second.origin, second.model, second.margin, second.pool_id) == ("judge", "tale", 0.8, "p1")
        assert undoing.undoes == first.id
        assert store.judgements(standing=True) == (second,)
        (pool,) = store.pools()
        assert pool.candidates[0].ranks == {"bm25": 3}
        assert [query.id for query in store.queries()] == ["q1"]
        assert store.last_sync() == {"q1": "{}"}
        store.undo_judgement(second.id, by="ada")  # and it can be written to
        assert store.judgements(standing=True) == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_older_store_is_brought_forward_step_by_step_and_keeps_its_rows(backend: str, tmp_path: Path):
    url = new_store_url(backend, tmp_path)
    with store_at(url) as store:
        store.add_sync(direction="export", file="golden.jsonl", by="ada", lines={"q1": "{}"})
    ran: list[str] = []

    def add_column(connection: Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE looks ADD COLUMN note TEXT")
        ran.append("column")

    def add_table(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE remarks (id TEXT)")
        ran.append("table")

    database = Database(url if "://" in url else f"sqlite:///{url}")
    for _ in range(2):  # the second time there is nothing to do
        with database.write() as connection:
            assert migrate(connection, (*STEPS, add_column, add_table)) == len(STEPS) + 2
    assert ran == ["column", "table"]
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM syncs").scalar() == 1
        assert "note" in {column["name"] for column in inspect(connection).get_columns("looks")}
    database.close()
    with pytest.raises(StoreError, match="upgrade Assay"):
        open_labels(url)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_step_that_fails_leaves_the_store_as_it_was(backend: str, tmp_path: Path):
    url = new_store_url(backend, tmp_path)
    with store_at(url) as store:
        before = store.counts()
    database = Database(url if "://" in url else f"sqlite:///{url}")

    def fails(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (id TEXT)")
        connection.exec_driver_sql("SELECT nonsense FROM nowhere")

    with pytest.raises(StoreError), database.write() as connection:
        migrate(connection, (*STEPS, fails))
    with database.read() as connection:
        assert found_version(connection) == len(STEPS)
        assert not inspect(connection).has_table("half")
    database.close()
    with store_at(url) as store:
        assert store.counts() == before


def test_a_file_is_opened_with_a_write_ahead_log_full_syncs_and_foreign_keys(tmp_path: Path):
    with open_labels(tmp_path / "labels.db") as store, store._database.read() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 60_000}


def test_a_file_that_is_no_database_is_said_and_left_alone(tmp_path: Path):
    path = tmp_path / "labels.db"
    path.write_text("these are no labels " * 100)
    with pytest.raises(StoreError, match="not a database"):
        open_labels(path)
    assert path.read_text().startswith("these are no labels")


def test_a_password_never_stands_in_the_file_and_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ConfigError, match="a password stands in the file"):
        checked_url("postgresql://me:secret@db/labels")
    with pytest.raises(ConfigError, match="LABELS_PASSWORD is not set"):
        checked_url("postgresql://me:${LABELS_PASSWORD}@db/labels")
    monkeypatch.setenv("LABELS_PASSWORD", "p@ss/word")
    url = checked_url("postgresql://me:${LABELS_PASSWORD}@db/labels")
    assert url == "postgresql+psycopg://me:p%40ss%2Fword@db/labels"
    database = Database(url)
    assert "word" not in database.shown
    database.close()


def test_an_unknown_database_is_refused():
    with pytest.raises(ConfigError, match="'mysql' is no known database"):
        open_labels("mysql://db/labels")


def test_a_server_that_is_not_there_is_an_error_for_people():
    with pytest.raises(StoreError, match=r"127\.0\.0\.1"):
        open_labels("postgresql://nobody@127.0.0.1:1/labels")


def test_nothing_of_sql_is_loaded_until_a_store_is_opened():
    code = "import sys, assay.store.labels, assay.flows.golden_labels; assert 'sqlalchemy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_file_can_be_read_by_any_tool(tmp_path: Path):
    open_labels(tmp_path / "labels.db").close()
    with sqlite3.connect(tmp_path / "labels.db") as plain:
        assert plain.execute("SELECT count(*) FROM judgements").fetchone() == (0,)
    plain.close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "labels").write_text("a file, where a folder should be")
    with pytest.raises(StoreError) as caught:
        open_labels(tmp_path / "labels" / "mine" / "labels.db")
    assert str(caught.value) == (
        f"{tmp_path}/labels/mine: cannot be made (Not a directory)\n"
        "  fix: free the place, or name another in [labels] url"
    )


def test_what_sqlalchemy_refuses_is_told_with_the_database(tmp_path: Path):
    with store_at(new_store_url("sqlite", tmp_path)) as store:
        store.judgements()
        refusal = ArgumentError("no such table was described")
        with pytest.raises(StoreError) as caught, store._database._told():
            raise refusal
    assert str(caught.value).endswith(
        "labels.db: no such table was described\n"
        "  fix: see that the database of [labels] url is there, and that this user may write to it"
    )


def test_a_driver_that_is_not_there_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError) as caught:
        open_labels("postgresql+psycopg://me@db/labels")
    assert str(caught.value) == (
        "labels in PostgreSQL needs the package 'psycopg', which is not installed\n"
        "  fix: pip install 'retrieval-assay[labels-postgres]'"
    )


def test_without_sqlalchemy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delitem(sys.modules, "assay.store.labels.store")
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingExtraError) as caught:
        open_labels(tmp_path / "labels.db")
    assert str(caught.value) == (
        "the label store needs the package 'sqlalchemy', which is not installed\n"
        "  fix: pip install 'retrieval-assay[labels]'"
    )
