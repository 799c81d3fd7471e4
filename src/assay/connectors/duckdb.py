"""DuckDB: BM25 of its extension ``fts``, and exact cosine over an array column.

DuckDB's full-text index does not follow its table: ``assay index`` makes it anew when it is done. Extensions
are taken from the packages ``duckdb-extension-fts`` and ``-vss`` where they are installed, else from where
DuckDB keeps them. A table with an HNSW index is searched through it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from assay.connectors.engines import Engine, EngineSettings, Found, Row, engine_kind, path_of, quoted
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.secrets import expand
from assay.model.errors import MissingExtraError


class DuckdbSettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "duckdb"``: a file, ``duckdb:///index.duckdb``."""

    key_field: str = "key"
    """The column that the full-text index knows rows by."""
    stemmer: str = "porter"
    """How words are stemmed; used when ``assay index`` makes the index."""


class DuckdbEngine(Engine):
    """See the page's head.

    Args:
        settings: the file and the table.
        around: the project's folder.
    """

    def __init__(self, settings: DuckdbSettings, around: Surroundings) -> None:
        self.settings = settings
        self.path = path_of(expand(settings.url), around)
        self.table = quoted(settings.table)
        self.columns = ", ".join(quoted(name) for name in settings.columns())
        self._guard = threading.Lock()
        self._database: Any = None

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        distance = f"array_cosine_distance({quoted(self.settings.vector_field)}, ?::FLOAT[{len(vector)}])"
        return self._ask(
            f"SELECT {self.columns}, 1.0 - {distance} AS score FROM {self.table} "  # noqa: S608 - quoted names
            f"ORDER BY {distance}, {quoted(self.settings.key_field)} LIMIT {depth:d}",
            [list(vector), list(vector)],
        )

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by BM25."""
        words = text.replace("\0", " ")
        key = quoted(self.settings.key_field)
        return self._ask(
            f"SELECT {self.columns}, score FROM (SELECT *, {quoted(f'fts_main_{self.settings.table}')}"  # noqa: S608
            f".match_bm25({key}, ?) AS score FROM {self.table}) "
            f"WHERE score IS NOT NULL ORDER BY score DESC, {key} LIMIT {depth:d}",
            [words],
        )

    def create(self, dimensions: int) -> None:
        """Make the table."""
        key, vector = quoted(self.settings.key_field), quoted(self.settings.vector_field)
        searched = quoted(self.settings.fulltext_field)
        self._run(
            f"CREATE TABLE IF NOT EXISTS {self.table} ({key} VARCHAR PRIMARY KEY, "
            'chunk_id VARCHAR, doc_id VARCHAR, "start" BIGINT, "end" BIGINT, "text" VARCHAR, '
            f"{searched} VARCHAR, {vector} FLOAT[{dimensions:d}])"
        )

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        key = quoted(self.settings.key_field)
        return {row["key"] for row in self._ask(f"SELECT {key} AS key FROM {self.table}", [])}  # noqa: S608

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows in, all or none."""
        values = [
            [row.key, row.chunk_id, row.doc_id, row.start, row.end, row.text, row.searched, row.embedding]
            for row in rows
        ]
        cursor = self._opened().cursor()
        cursor.execute("BEGIN")
        try:
            cursor.executemany(f"INSERT INTO {self.table} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)  # noqa: S608
            cursor.execute("COMMIT")
        finally:
            cursor.close()

    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out."""
        key = quoted(self.settings.key_field)
        self._run(f"DELETE FROM {self.table} WHERE {key} IN (SELECT unnest(?))", [list(keys)])  # noqa: S608

    def finish(self) -> None:
        """Make the full-text index over what is there now."""
        names = (self.settings.table, self.settings.key_field, self.settings.fulltext_field)
        told = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
        self._run(f"PRAGMA create_fts_index({told}, stemmer = '{self.settings.stemmer}', overwrite = 1)")
        self._run("CHECKPOINT")

    def close(self) -> None:
        """Close the file, so that another process may open it."""
        with self._guard:
            if self._database is not None and self.path != ":memory:":
                self._database.close()
                self._database = None

    def _ask(self, sql: str, values: Sequence[object]) -> list[dict[str, Any]]:
        cursor = self._opened().cursor()
        try:
            cursor.execute(sql, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        finally:
            cursor.close()

    def _run(self, sql: str, values: Sequence[object] = ()) -> None:
        cursor = self._opened().cursor()
        try:
            cursor.execute(sql, list(values))
        finally:
            cursor.close()

    def _opened(self) -> Any:  # noqa: ANN401 - a connection of DuckDB
        with self._guard:
            if self._database is None:
                duckdb = need("duckdb", feature="connector 'duckdb'", extra="duckdb")
                memory = duckdb.connect(":memory:")
                self._load(memory, "fts", needed=True)
                # A file with an HNSW index opens only where the extension is loaded already.
                self._load(memory, "vss", needed=False)
                memory.close()
                self._database = duckdb.connect(self.path)
                self._load(self._database, "fts", needed=True)
                self._load(self._database, "vss", needed=False)
            return self._database

    def _load(self, database: Any, name: str, *, needed: bool) -> None:  # noqa: ANN401 - as above
        feature = f"the full-text search of 'duckdb' ({name})"
        try:
            importer = need("duckdb_extensions", feature=feature, extra="duckdb", package="duckdb-extensions")
            importer.import_extension(name, con=database)
        except (MissingExtraError, ImportError):
            pass  # DuckDB may have it in a folder of its own
        try:
            database.execute(f"LOAD {name}")
        except Exception as error:
            if needed:
                package = f"duckdb-extension-{name}"
                raise MissingExtraError(feature, package=package, extra="duckdb") from error


CONNECTOR = engine_kind(DuckdbSettings, DuckdbEngine)
