"""The kit for engines: the conformance kit over a small index, and what holds for every engine besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.connectors.engines import Engine, EngineKind, Row
from assay.connectors.hits import read_reply
from assay.connectors.kinds import Connected, Surroundings
from assay.connectors.registry import connect, read_connector
from assay.model.golden import Query
from conformance.small_corpus import FIRST, NOTHING, QUERIES, TEXTS, chunks
from connectors.by_words import Kit, vector


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit rows of words; a text that shares no word with the corpus is a row of zeros."""
    rows = np.array([vector(text) for text in texts], np.float32)
    rows[:, 0] = 0.0
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def rows() -> list[Row]:
    """Return the small corpus as rows of an index."""
    found = chunks()
    vectors = embed([chunk.text for chunk in found])
    return [
        Row(
            key=f"00000000-0000-4000-8000-{place:012}",
            chunk_id=chunk.id,
            doc_id=chunk.doc_id,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            searched=chunk.searchable,
            embedding=vectors[place].tolist(),
        )
        for place, chunk in enumerate(found)
    ]


def open_engine(values: Mapping[str, Any], folder: Path) -> Engine:
    """Open an engine to fill it."""
    kind, settings = read_connector(values)
    assert isinstance(kind, EngineKind)
    return kind.open(settings, Surroundings(folder=folder, embed=embed))


class EngineKit(Kit):
    """Inherit, and give ``values``: the engine's table of settings."""

    __test__ = False
    values: ClassVar[dict[str, Any]] = {}
    nothing: ClassVar[str | None] = NOTHING
    folder: Path

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        """Return the engine's settings; a server is asked for here."""
        return self.values

    @pytest.fixture(autouse=True)
    def _filled(self, settings: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
        """Fill an index once for all tests of a class."""
        kit = type(self)
        if "folder" not in kit.__dict__:
            folder = tmp_path_factory.mktemp("engine")
            fill(open_engine(settings, folder), rows())
            kit.folder, kit.values = folder, settings

    def make(self) -> Connected:
        return self.connected()

    def connected(self, **more: Any) -> Connected:
        return connect({**self.values, **more}, folder=self.folder, embed=embed)[0]

    def asked(self, query: str, k: int = 5, **more: Any) -> dict[str, list[str | None]]:
        """Return stage -> documents of the hits."""
        reply = read_reply(self.connected(**more).search(query, k))
        return {stage: [hit.doc_id for hit in hits] for stage, hits in reply.items()}

    def test_the_right_document_stands_first_in_every_list(self):
        for query, document in zip(QUERIES, FIRST, strict=True):
            for stage, documents in self.asked(query).items():
                assert documents[0] == document, stage

    def test_each_list_is_a_stage_and_the_final_list_is_cut_from_the_pool(self):
        found = self.connected().retrieve([Query(id="q", text=QUERIES[0])], k=1)
        names = [stage.name for stage in found.stages]
        assert names[-1] == "final"
        lists = open_engine(self.values, self.folder).lists
        assert names[:-1] == (["vector", "fulltext", "pool"] if len(lists) == 2 else list(lists))
        assert int(found.stages[-1].offsets[-1]) == 1
        assert int(found.stages[-2].offsets[-1]) > 1

    def test_places_come_back_as_they_were_put_in(self):
        found = self.connected().retrieve([Query(id="q", text=QUERIES[1])], k=5)
        for name, doc_id, start, end in zip(
            found.chunks.ids,
            found.chunks.doc_ids,
            found.chunks.starts.tolist(),
            found.chunks.ends.tolist(),
            strict=True,
        ):
            assert name == f"{doc_id}#{start}-{end}"
            assert TEXTS[doc_id][start:end]

    def test_the_index_knows_its_keys_and_takes_rows_out_and_in(self):
        engine = open_engine(self.values, self.folder)
        every = rows()
        engine.create(len(every[0].embedding))  # a second time: nothing happens
        assert engine.keys() == {row.key for row in every}
        last = every[-1]
        try:
            engine.remove([last.key])
            engine.finish()
            assert engine.keys() == {row.key for row in every[:-1]}
            assert last.doc_id not in self.asked("Filiale Zürich")["final"]
        finally:
            engine.add([last])
            engine.finish()
            engine.close()
        assert engine.keys() == {row.key for row in every}
        assert self.asked("Filiale Zürich")["final"][0] == last.doc_id


def fill(engine: Engine, every: Sequence[Row]) -> None:
    """Put rows into a new index, in two parts."""
    engine.create(len(every[0].embedding))
    for part in (every[:3], every[3:]):
        engine.add(part)
    engine.finish()
    engine.close()
