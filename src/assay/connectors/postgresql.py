"""PostgreSQL: full text (``ts_rank`` over any of the words) and pgvector (cosine).

``assay index`` makes a table with a GIN index over the words and none over the vectors, which makes that list
exact; an index that your own table has is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.connectors.engines import (
    Engine,
    EngineSettings,
    Found,
    Pool,
    Row,
    engine_kind,
    plain_words,
    quoted,
)
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.secrets import expand


class PostgresqlSettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "postgresql"``: a server, ``postgresql://user:${PGPASSWORD}@host/database``."""

    language: str = "english"
    """The text search configuration: how words are read."""
    order_field: str = "chunk_id"
    """What decides between equal scores; it should be unique."""


class PostgresqlEngine(Engine):
    """See the page's head.

    Args:
        settings: the server and the table.
        around: the project's folder.
    """

    def __init__(self, settings: PostgresqlSettings, around: Surroundings) -> None:
        del around
        self.settings = settings
        self.table = _name(settings.table)
        self.columns = ", ".join(_name(name) for name in settings.columns())
        self.vector, self.searched = _name(settings.vector_field), _name(settings.fulltext_field)
        self.words = f"to_tsvector('{settings.language}'::regconfig, {self.searched})"
        self.order = _name(settings.order_field)
        self.pool: Pool[Any] = Pool(self._connect)

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        return self._ask(
            f"SELECT {self.columns}, 1.0 - ({self.vector} <=> %(vector)s::vector) AS score FROM {self.table} "  # noqa: S608 - quoted names
            f"ORDER BY {self.vector} <=> %(vector)s::vector, {self.order} LIMIT %(depth)s",
            {"vector": _literal(vector), "depth": depth},
        )

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by ``ts_rank``."""
        asked = " | ".join(f"'{word}'" for word in plain_words(text))
        if not asked:
            return []
        query = f"to_tsquery('{self.settings.language}'::regconfig, %(asked)s)"
        return self._ask(
            f"SELECT {self.columns}, ts_rank({self.words}, {query}) AS score FROM {self.table} "  # noqa: S608
            f"WHERE {self.words} @@ {query} ORDER BY score DESC, {self.order} LIMIT %(depth)s",
            {"asked": asked, "depth": depth},
        )

    def create(self, dimensions: int) -> None:
        """Make the table and the index over its words."""
        index = _name(f"{self.settings.table}_words")
        with self.pool.one() as db, db.transaction():
            db.execute("SET LOCAL client_min_messages = warning")
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
            db.execute(
                f"CREATE TABLE IF NOT EXISTS {self.table} (key uuid PRIMARY KEY, chunk_id text, doc_id text, "
                f'"start" bigint, "end" bigint, "text" text, {self.searched} text, '
                f"{self.vector} vector({dimensions:d}))"
            )
            db.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {self.table} USING gin ({self.words})")

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        return {row["key"] for row in self._ask(f"SELECT key::text AS key FROM {self.table}", {})}  # noqa: S608

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows in, all or none."""
        with self.pool.one() as db, db.transaction(), db.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {self.table} VALUES (%s, %s, %s, %s, %s, %s, %s, %s::vector)",  # noqa: S608
                [
                    (
                        row.key,
                        row.chunk_id,
                        row.doc_id,
                        row.start,
                        row.end,
                        _clean(row.text),
                        _clean(row.searched),
                        _literal(row.embedding),
                    )
                    for row in rows
                ],
            )

    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out."""
        with self.pool.one() as db:
            db.execute(f"DELETE FROM {self.table} WHERE key = ANY(%s::uuid[])", (list(keys),))  # noqa: S608

    def close(self) -> None:
        """Close the connections."""
        self.pool.close()

    def _ask(self, sql: str, values: dict[str, object]) -> list[dict[str, Any]]:
        with self.pool.one() as db:
            cursor = db.execute(sql, values)
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _connect(self) -> Any:  # noqa: ANN401 - a connection of psycopg
        psycopg = need("psycopg", feature="connector 'postgresql'", extra="postgresql")
        seconds = self.settings.timeout_s
        options = {} if seconds is None else {"options": f"-c statement_timeout={int(seconds * 1000)}"}
        return psycopg.connect(expand(self.settings.url), autocommit=True, **options)


def _name(name: str) -> str:
    """Return a name in quotes; a percent sign would begin a parameter."""
    return ".".join(quoted(part) for part in name.split(".")).replace("%", "%%")


def _literal(vector: Sequence[float]) -> str:
    return f"[{','.join(map(repr, vector))}]"


def _clean(text: str) -> str:
    """Return a text without the sign that PostgreSQL cannot keep."""
    return text.replace("\0", " ")


CONNECTOR = engine_kind(PostgresqlSettings, PostgresqlEngine)
