"""How a store of an older Assay becomes one of this: forward only, one step a version, all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, inspect, select, text

from assay.model.errors import StoreError
from assay.store.labels import tables

Step = Callable[[Connection], None]

_VERSION_1 = """
CREATE TABLE replies ({log}, job TEXT NOT NULL, task TEXT NOT NULL, attempt BIGINT NOT NULL,
    model TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL, status TEXT NOT NULL,
    reason TEXT NOT NULL, prompt_tokens BIGINT NOT NULL, completion_tokens BIGINT NOT NULL,
    elapsed_ms {float});
CREATE INDEX ix_replies_job ON replies (job);
CREATE INDEX ix_replies_task ON replies (task);
CREATE TABLE pools ({log}, name TEXT NOT NULL, query_id TEXT NOT NULL, query TEXT NOT NULL,
    kind TEXT NOT NULL, seed BIGINT NOT NULL, depth BIGINT NOT NULL, sources JSON NOT NULL, by TEXT NOT NULL);
CREATE INDEX ix_pools_name ON pools (name);
CREATE INDEX ix_pools_query_id ON pools (query_id);
CREATE TABLE candidates (pool_id VARCHAR(64) NOT NULL REFERENCES pools (id), position INTEGER NOT NULL,
    doc_id TEXT NOT NULL, start BIGINT NOT NULL, "end" BIGINT NOT NULL, text TEXT NOT NULL,
    ranks JSON NOT NULL, PRIMARY KEY (pool_id, position));
CREATE TABLE judgements ({log}, query_id TEXT NOT NULL, doc_id TEXT NOT NULL, start BIGINT NOT NULL,
    "end" BIGINT NOT NULL, grade {float}, shown TEXT NOT NULL, why TEXT NOT NULL, by TEXT NOT NULL,
    origin TEXT NOT NULL, model TEXT, pool_id VARCHAR(64) REFERENCES pools (id), margin {float},
    elapsed_ms {float}, undoes VARCHAR(64) REFERENCES judgements (id));
CREATE INDEX ix_judgements_query_id ON judgements (query_id);
CREATE INDEX ix_judgements_by ON judgements (by);
CREATE TABLE drafts ({log}, job TEXT NOT NULL, query JSON NOT NULL, evidence JSON NOT NULL,
    notes JSON NOT NULL, reply_id VARCHAR(64) REFERENCES replies (id), by TEXT NOT NULL);
CREATE INDEX ix_drafts_job ON drafts (job);
CREATE TABLE decisions ({log}, subject TEXT NOT NULL, verdict TEXT NOT NULL, by TEXT NOT NULL,
    why TEXT NOT NULL, query JSON, grade {float}, undoes VARCHAR(64) REFERENCES decisions (id));
CREATE INDEX ix_decisions_subject ON decisions (subject);
CREATE TABLE edits ({log}, query_id TEXT NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL, why TEXT NOT NULL,
    query JSON, anchor JSON, undoes VARCHAR(64) REFERENCES edits (id));
CREATE INDEX ix_edits_query_id ON edits (query_id);
CREATE TABLE looks ({log}, what TEXT NOT NULL, "of" TEXT NOT NULL, by TEXT NOT NULL, facts JSON NOT NULL);
CREATE INDEX ix_looks_what ON looks (what);
CREATE TABLE syncs ({log}, direction TEXT NOT NULL, file TEXT NOT NULL, by TEXT NOT NULL,
    lines JSON NOT NULL);
CREATE TABLE assay_version (version INTEGER NOT NULL PRIMARY KEY, at VARCHAR(40) NOT NULL)
"""
"""The first tables, word for word: a step never changes once it has been released."""
_TABLES_1 = ("replies", "pools", "candidates", "judgements", "drafts", "decisions", "edits", "looks", "syncs")


def _first(connection: Connection) -> None:
    """Make the first tables, and let the database itself refuse to change or delete a row."""
    is_file = connection.dialect.name == "sqlite"
    seq = "INTEGER PRIMARY KEY AUTOINCREMENT" if is_file else "BIGSERIAL PRIMARY KEY"
    log = f"seq {seq}, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL"
    real = "REAL" if is_file else "DOUBLE PRECISION"
    for statement in _VERSION_1.format(log=log, float=real).split(";"):
        connection.exec_driver_sql(statement)
    _forbid_changes(connection, _TABLES_1)


STEPS: tuple[Step, ...] = (_first,)
"""Step ``n`` (from 1) makes version ``n`` of version ``n - 1``."""


def migrate(connection: Connection, steps: tuple[Step, ...] = STEPS) -> int:
    """Bring a store up to date inside the transaction that is open; return its version.

    Raises:
        StoreError: the store was made by a newer Assay.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(712005)"))
    found = found_version(connection)
    if found > len(steps):
        raise StoreError(
            f"the label store is of version {found}, this Assay knows {len(steps)}", fix="upgrade Assay"
        )
    for number, step in enumerate(steps[found:], start=found + 1):
        step(connection)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        connection.execute(insert(tables.version).values(version=number, at=now))
    return len(steps)


def found_version(connection: Connection) -> int:
    """Return the version that a store has; 0 for an empty one."""
    if not inspect(connection).has_table(tables.version.name):
        return 0
    rows = connection.execute(select(tables.version.c.version)).scalars().all()
    return max(rows, default=0)


def _forbid_changes(connection: Connection, names: tuple[str, ...]) -> None:
    if connection.dialect.name == "sqlite":
        for name in names:
            for change in ("UPDATE", "DELETE"):
                connection.exec_driver_sql(
                    f"CREATE TRIGGER {name}_no_{change.lower()} BEFORE {change} ON {name} "
                    "BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END"
                )
        return
    connection.exec_driver_sql(
        "CREATE OR REPLACE FUNCTION assay_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'labels are appended, never changed'; END $$"
    )
    for name in names:
        connection.exec_driver_sql(
            f"CREATE TRIGGER {name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} "
            "FOR EACH STATEMENT EXECUTE FUNCTION assay_append_only()"
        )
