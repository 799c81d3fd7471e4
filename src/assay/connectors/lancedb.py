"""LanceDB: a folder; its full-text index (BM25) and exact cosine over a vector column."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from assay.connectors.engines import Engine, EngineSettings, Found, Row, engine_kind, path_of, plain_words
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.secrets import expand

_FEATURE = "connector 'lancedb'"


class LancedbSettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "lancedb"``: a folder, ``lancedb:///index``."""

    language: str = "English"
    """How words are stemmed; used when ``assay index`` makes the index."""


class LancedbEngine(Engine):
    """See the page's head.

    Args:
        settings: the folder and the table.
        around: the project's folder.
    """

    def __init__(self, settings: LancedbSettings, around: Surroundings) -> None:
        self.settings = settings
        self.path = path_of(expand(settings.url), around)
        self.columns = list(settings.columns())
        self._guard = threading.Lock()
        self._table: Any = None

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        field = self.settings.vector_field
        query = self._opened().search(list(vector), vector_column_name=field, query_type="vector")
        rows = query.distance_type("cosine").select([*self.columns, "_distance"]).limit(depth).to_list()
        return _ordered(rows, "_distance", turned=True, order=self.columns[0])

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by BM25."""
        words = " ".join(plain_words(text))
        if not words:
            return []
        queries = need("lancedb.query", feature=_FEATURE, extra="lancedb")
        asked = queries.MatchQuery(words, self.settings.fulltext_field)
        query = self._opened().search(asked, query_type="fts")
        rows = query.select([*self.columns, "_score"]).limit(depth).to_list()
        return _ordered(rows, "_score", turned=False, order=self.columns[0])

    def create(self, dimensions: int) -> None:
        """Make the table."""
        arrow = need("pyarrow", feature=_FEATURE, extra="lancedb")
        texts = ("key", "chunk_id", "doc_id", "text", self.settings.fulltext_field)
        fields = [arrow.field(name, arrow.string()) for name in texts]
        fields += [arrow.field(name, arrow.int64()) for name in ("start", "end")]
        fields.append(arrow.field(self.settings.vector_field, arrow.list_(arrow.float32(), dimensions)))
        database = self._database()
        with self._guard:
            self._table = database.create_table(
                self.settings.table, schema=arrow.schema(fields), exist_ok=True
            )

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        table = self._opened()
        n = table.count_rows()
        return set(table.search().select(["key"]).limit(n).to_arrow()["key"].to_pylist()) if n else set()

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows in, all or none."""
        self._opened().add([self._row(row) for row in rows])

    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out."""
        if keys:
            self._opened().delete(f"key IN ({', '.join(repr(key) for key in keys)})")

    def finish(self) -> None:
        """Make the full-text index over what is there now."""
        index = need("lancedb.index", feature=_FEATURE, extra="lancedb")
        words = index.FTS(language=self.settings.language)
        self._opened().create_index(self.settings.fulltext_field, config=words, replace=True)

    def close(self) -> None:
        """Read the table anew for the next question."""
        with self._guard:
            self._table = None

    def _row(self, row: Row) -> dict[str, Any]:
        fields = {"key": row.key, **row.fields(), self.settings.vector_field: row.embedding}
        fields[self.settings.fulltext_field] = fields.pop("searched")
        return fields

    def _database(self) -> Any:  # noqa: ANN401 - a connection of LanceDB
        return need("lancedb", feature=_FEATURE, extra="lancedb").connect(self.path)

    def _opened(self) -> Any:  # noqa: ANN401 - a table of LanceDB
        with self._guard:
            if self._table is None:
                self._table = self._database().open_table(self.settings.table)
            return self._table


def _ordered(rows: list[dict[str, Any]], column: str, *, turned: bool, order: str) -> Found:
    """Return the hits with their score, ties by their first column: LanceDB leaves their order open."""
    found = [{**row, "score": 1.0 - row[column] if turned else row[column]} for row in rows]
    for row in found:
        del row[column]
    return sorted(found, key=lambda row: (-row["score"], str(row[order])))


CONNECTOR = engine_kind(LancedbSettings, LancedbEngine)
