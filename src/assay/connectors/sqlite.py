"""SQLite: FTS5 for words (bm25), sqlite-vec for vectors, in one file.

The rows stand in ``<table>``; ``<table>_words`` is their FTS5 index and ``<table>_vectors`` their vectors, by
rowid. The query's words are joined by OR. A chunk's rank is by cosine, exact.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from assay.connectors.engines import (
    Engine,
    EngineSettings,
    Found,
    Pool,
    Row,
    engine_kind,
    path_of,
    plain_words,
    quoted,
)
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.secrets import expand
from assay.model.errors import MissingExtraError

_MOST_NEAREST = 4096
"""How many neighbours sqlite-vec gives at most."""


class SqliteSettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "sqlite"``: a file, ``sqlite:///index.db``."""

    tokenizer: str = "porter unicode61 remove_diacritics 0"
    """How FTS5 reads words; used when ``assay index`` makes the table."""
    words_table: str | None = None
    """The FTS5 table, by the same rowids; None: ``<table>_words``."""
    vectors_table: str | None = None
    """The vec0 table, by the same rowids; None: ``<table>_vectors``."""


class SqliteEngine(Engine):
    """See the page's head.

    Args:
        settings: the file and the tables.
        around: the project's folder.
    """

    def __init__(self, settings: SqliteSettings, around: Surroundings) -> None:
        self.settings = settings
        self.path = path_of(expand(settings.url), around)
        self.table = quoted(settings.table)
        self.words = quoted(settings.words_table or f"{settings.table}_words")
        self.vectors = quoted(settings.vectors_table or f"{settings.table}_vectors")
        self.pool: Pool[Any] = Pool(self._connect)
        self.columns = ", ".join(f"t.{quoted(name)}" for name in settings.columns())

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        return self._ask(
            f"SELECT {self.columns}, 1.0 - v.distance AS score FROM {self.vectors} v "  # noqa: S608 - quoted names
            f"JOIN {self.table} t ON t.rowid = v.rowid "
            f"WHERE v.{quoted(self.settings.vector_field)} MATCH ? AND v.k = ? ORDER BY v.distance, t.rowid",
            (_packed(vector), min(depth, _MOST_NEAREST)),
        )

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by bm25."""
        asked = " OR ".join(map(quoted, plain_words(text)))
        if not asked:
            return []
        return self._ask(
            f"SELECT {self.columns}, -bm25({self.words}) AS score FROM {self.words} "  # noqa: S608 - quoted names
            f"JOIN {self.table} t ON t.rowid = {self.words}.rowid WHERE {self.words} MATCH ? "
            f"ORDER BY bm25({self.words}), t.rowid LIMIT ?",
            (asked, depth),
        )

    def create(self, dimensions: int) -> None:
        """Make the three tables."""
        tokenizer = self.settings.tokenizer.replace("'", "''")
        with self.pool.one() as db, db:
            db.execute(
                f"CREATE TABLE IF NOT EXISTS {self.table} (rowid INTEGER PRIMARY KEY, key TEXT UNIQUE, "
                'chunk_id TEXT, doc_id TEXT, "start" INTEGER, "end" INTEGER, "text" TEXT)'
            )
            db.execute(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {self.words} USING fts5("
                f"{quoted(self.settings.fulltext_field)}, tokenize='{tokenizer}')"
            )
            db.execute(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {self.vectors} USING vec0("
                f"{self.settings.vector_field} float[{dimensions}] distance_metric=cosine)"
            )

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        return {row["key"] for row in self._ask(f"SELECT key FROM {self.table}", ())}  # noqa: S608 - as above

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows into the three tables, all or none."""
        with self.pool.one() as db, db:
            for row in rows:
                at = db.execute(
                    f'INSERT INTO {self.table} (key, chunk_id, doc_id, "start", "end", "text") '  # noqa: S608
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    (row.key, row.chunk_id, row.doc_id, row.start, row.end, row.text),
                ).lastrowid
                db.execute(
                    f"INSERT INTO {self.words} (rowid, {quoted(self.settings.fulltext_field)}) VALUES (?, ?)",  # noqa: S608
                    (at, row.searched),
                )
                db.execute(
                    f"INSERT INTO {self.vectors} (rowid, {quoted(self.settings.vector_field)}) VALUES (?, ?)",  # noqa: S608
                    (at, _packed(row.embedding)),
                )

    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out of the three tables."""
        with self.pool.one() as db, db:
            for key in keys:
                found = db.execute(f"SELECT rowid FROM {self.table} WHERE key = ?", (key,)).fetchone()  # noqa: S608
                if found is not None:
                    for table in (self.words, self.vectors, self.table):
                        db.execute(f"DELETE FROM {table} WHERE rowid = ?", (found[0],))  # noqa: S608

    def close(self) -> None:
        """Close the connections."""
        self.pool.close()

    def _ask(self, sql: str, values: Sequence[object]) -> list[dict[str, Any]]:
        with self.pool.one() as db:
            cursor = db.execute(sql, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def _connect(self) -> Any:  # noqa: ANN401 - a connection of sqlite3, or of its stand-in
        feature = "connector 'sqlite'"
        vectors = need("sqlite_vec", feature=feature, extra="sqlite", package="sqlite-vec")
        module = need("sqlite3", feature=feature, extra="sqlite")
        if not hasattr(module.Connection, "enable_load_extension"):
            # Some builds of Python leave extensions out; the same library comes as a package.
            try:
                module = need("pysqlite3", feature=feature, extra="sqlite", package="pysqlite3-binary")
            except MissingExtraError as error:
                raise MissingExtraError(feature, package="pysqlite3-binary", extra="sqlite") from error
        db = module.connect(self.path, check_same_thread=False, timeout=30.0)
        db.enable_load_extension(True)
        vectors.load(db)
        db.enable_load_extension(False)
        return db


def _packed(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


CONNECTOR = engine_kind(SqliteSettings, SqliteEngine)
