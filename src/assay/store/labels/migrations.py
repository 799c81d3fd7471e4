"""How a store of an older Assay becomes one of this: forward only, one step a version, all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, inspect, select, text

from assay.model.errors import StoreError
from assay.store.labels import tables

Step = Callable[[Connection], None]

_APPEND_ONLY = (
    "replies",
    "pools",
    "candidates",
    "judgements",
    "drafts",
    "decisions",
    "edits",
    "looks",
    "syncs",
)


def _first(connection: Connection) -> None:
    """Make all tables, and let the database itself refuse to change or delete a row."""
    tables.metadata.create_all(connection)
    _forbid_changes(connection, _APPEND_ONLY)


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
            f"the label store is of version {found}, this Assay knows {len(steps)}\n  fix: upgrade Assay"
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
