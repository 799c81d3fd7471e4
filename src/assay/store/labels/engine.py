"""Connections and transactions, on SQLite and on PostgreSQL.

SQLite: WAL, so that readers see one state while somebody writes; ``synchronous=FULL``, so that what was
acknowledged survives a power cut too; a transaction that writes takes the write lock as it begins, so that it
waits for its turn there and never fails half-way.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import OperationalError as SqliteError
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from assay.model.errors import MissingExtraError, StoreError

_FIX = "see that the database of [labels] url is there, and that this user may write to it"

BUSY_S = 60.0
"""How long a writer waits for its turn."""
_WRITES = "assay_writes"


class Database:
    """One database: transactions to read in and to write in.

    Args:
        url: SQLAlchemy's.

    Raises:
        MissingExtraError: the driver is not installed.
        StoreError: the folder of the file cannot be made.
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self.shown = parsed.render_as_string(hide_password=True)
        self.is_file = parsed.get_backend_name() == "sqlite"
        self._turn = Lock()
        if self.is_file:
            self.engine = _sqlite(url, parsed.database or "")
        else:
            self.engine = _postgres(url)

    @contextmanager
    def read(self) -> Generator[Connection]:
        """Give a connection that sees one state of all tables, whatever others write meanwhile."""
        with self._told():
            connection = self.engine.connect()
            if not self.is_file:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection, connection.begin():
                yield connection

    @contextmanager
    def write(self, lock: str | None = None) -> Generator[Connection]:
        """Give a connection whose rows are there, all of them, when the block has ended without an error.

        Args:
            lock: what must not be written by two at once, because what is written depends on what is there.
        """
        with self._told():
            if self.is_file:
                options = {_WRITES: True}
                with (
                    self._turn,
                    self.engine.connect().execution_options(**options) as connection,
                    connection.begin(),
                ):
                    yield connection
                return
            with self.engine.connect() as connection, connection.begin():
                if lock is not None:
                    connection.execute(
                        text("SELECT pg_advisory_xact_lock(712006, hashtext(:name))"), {"name": lock}
                    )
                yield connection

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _told(self) -> Generator[None]:
        try:
            yield
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise StoreError(f"{self.shown}: {reason}", fix=_FIX) from error
        except SQLAlchemyError as error:
            raise StoreError(f"{self.shown}: {error}", fix=_FIX) from error


def _sqlite(url: str, file: str) -> Engine:
    folder = Path(file).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be made ({error.strerror})",
            fix="free the place, or name another in [labels] url",
        ) from error
    engine = create_engine(url, pool_size=8, max_overflow=32, pool_timeout=BUSY_S)

    def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own
        connection.isolation_level = None  # transactions begin where `begin` below says so
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_S * 1000)}")
        _ahead_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", begin)
    return engine


def _ahead_log(connection: Any) -> None:  # noqa: ANN401 - the driver's own
    """Turn on the write-ahead log; many who open a new file at once may be in each other's way."""
    until = time.monotonic() + BUSY_S
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except SqliteError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _postgres(url: str) -> Engine:
    try:
        return create_engine(url, pool_size=8, max_overflow=32, pool_pre_ping=True, pool_timeout=BUSY_S)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "labels in PostgreSQL", package=error.name or "psycopg", extra="labels-postgres"
        ) from error
