"""tantivy: BM25 in a folder. It has no vectors, so its list is the final list."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from assay.connectors.engines import (
    Engine,
    EngineSettings,
    Found,
    ListName,
    Row,
    engine_kind,
    path_of,
    plain_words,
)
from assay.connectors.kinds import Surroundings
from assay.connectors.packages import need
from assay.connectors.secrets import expand


class TantivySettings(EngineSettings, frozen=True, kw_only=True):
    """``type = "tantivy"``: a folder, ``tantivy:///index``; the table is a folder in it."""

    tokenizer: str = "en_stem"
    """How words are read; used when ``assay index`` makes the index."""


class TantivyEngine(Engine):
    """See the page's head.

    Args:
        settings: the folder.
        around: the project's folder.
    """

    lists: ClassVar[tuple[ListName, ...]] = ("fulltext",)

    def __init__(self, settings: TantivySettings, around: Surroundings) -> None:
        self.settings = settings
        self.folder = Path(path_of(expand(settings.url), around)) / settings.table
        self.columns = settings.columns()
        self._guard = threading.Lock()
        self._index: Any = None

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that hold some of the words, by BM25."""
        index = self._opened()
        # Plain words in lower case: nothing in them is an operator, so that nothing is an error.
        query, _ = index.parse_query_lenient(" ".join(plain_words(text)), [self.settings.fulltext_field])
        searcher = index.searcher()
        return [
            {**self._fields(searcher, address), "score": score}
            for score, address in searcher.search(query, depth, count=False).hits
        ]

    def create(self, dimensions: int) -> None:
        """Make the folder."""
        del dimensions
        tantivy = need("tantivy", feature="connector 'tantivy'", extra="tantivy")
        self.folder.mkdir(parents=True, exist_ok=True)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
        for name in ("chunk_id", "doc_id", "text"):
            builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
        for name in ("start", "end"):
            builder.add_integer_field(name, stored=True)
        builder.add_text_field(self.settings.fulltext_field, tokenizer_name=self.settings.tokenizer)
        with self._guard:
            self._index = tantivy.Index(builder.build(), path=str(self.folder), reuse=True)

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        tantivy = need("tantivy", feature="connector 'tantivy'", extra="tantivy")
        searcher = self._opened().searcher()
        found = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1), count=False).hits
        return {searcher.doc(address).get_first("key") for _, address in found}

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows in, all or none."""
        tantivy = need("tantivy", feature="connector 'tantivy'", extra="tantivy")
        writer = self._opened().writer()
        for row in rows:
            fields = {"key": row.key, **row.fields()}
            fields[self.settings.fulltext_field] = fields.pop("searched")
            writer.add_document(tantivy.Document(**fields))
        self._commit(writer)

    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out."""
        writer = self._opened().writer()
        for key in keys:
            writer.delete_documents_by_term("key", key)
        self._commit(writer)

    def _commit(self, writer: Any) -> None:  # noqa: ANN401 - a writer of tantivy
        writer.commit()
        writer.wait_merging_threads()  # the folder is free for another process from here on
        self._opened().reload()

    def _fields(self, searcher: Any, address: Any) -> dict[str, Any]:  # noqa: ANN401 - objects of tantivy
        document = searcher.doc(address)
        return {name: document.get_first(name) for name in self.columns}

    def _opened(self) -> Any:  # noqa: ANN401 - an index of tantivy
        tantivy = need("tantivy", feature="connector 'tantivy'", extra="tantivy")
        with self._guard:
            if self._index is None:
                self._index = tantivy.Index.open(str(self.folder))
            return self._index


CONNECTOR = engine_kind(TantivySettings, TantivyEngine)
