"""Databases of vectors that open a folder: the real thing, though their servers are not here."""

from __future__ import annotations

import pytest

from assay.connectors.hits import read_reply
from assay.model.errors import ConfigError
from conformance.engine_kit import EngineKit
from conformance.small_corpus import QUERIES


class TestLancedb(EngineKit):
    __test__ = True
    values = {"type": "lancedb", "url": "lancedb:///index"}  # noqa: RUF012 - settings of the kit


class TestQdrantFolder(EngineKit):
    __test__ = True
    values = {"type": "qdrant", "url": "qdrant:///index"}  # noqa: RUF012

    @pytest.mark.parametrize("k_rrf", [0, 1, 60])
    def test_its_own_fusion_counts_as_ours_does(self, k_rrf: int):
        for query in QUERIES:
            theirs, ours = (
                {
                    str(hit.id): hit.score
                    for hit in read_reply(self.connected(fusion=fusion, k_rrf=k_rrf).search(query, 5))["pool"]
                }
                for fusion in ("engine", "rrf")
            )
            assert theirs == pytest.approx(ours)

    def test_a_constant_that_it_cannot_take_is_a_fault_of_the_settings(self):
        with pytest.raises(ConfigError) as caught:
            self.connected(k_rrf=0.5)
        told = str(caught.value)
        assert "[retriever] k_rrf: qdrant fuses with a whole number from 0, not 0.5" in told
        assert 'fix: k_rrf = 0, or fusion = "rrf"' in told
        self.connected(k_rrf=0.5, fusion="rrf")


class TestMilvusLite(EngineKit):
    __test__ = True
    values = {"type": "milvus", "url": "milvus:///index.db"}  # noqa: RUF012


class TestChromaFolder(EngineKit):
    __test__ = True
    values = {"type": "chroma", "url": "chroma:///index"}  # noqa: RUF012
