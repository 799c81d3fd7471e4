"""Engines whose servers cannot be had here: the kit over stand-ins that speak their documented forms."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar

import pytest

from assay.connectors.rest import ServerError
from assay.model.golden import Query
from conformance import stand_ins
from conformance.engine_kit import EngineKit
from conformance.small_corpus import QUERIES
from conformance.stand_in import StandIn, serving

ENGINES = {
    "opensearch": stand_ins.OpenSearch,
    "elasticsearch": stand_ins.Elasticsearch,
    "qdrant": stand_ins.Qdrant,
    "weaviate": stand_ins.Weaviate,
    "vespa": stand_ins.Vespa,
    "typesense": stand_ins.Typesense,
    "meilisearch": stand_ins.Meilisearch,
}


class FormKit(EngineKit):
    """The kit over a stand-in, once with our fusion and once with the engine's own."""

    __test__ = False
    kind: ClassVar[str]
    more: ClassVar[dict[str, Any]] = {}
    stand_in: ClassVar[StandIn]

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _serve(cls) -> Generator[None]:
        cls.stand_in = ENGINES[cls.kind]()
        with serving(cls.stand_in) as address:
            cls.values = {"type": cls.kind, "url": f"{cls.kind}+http://{address}", "retries": 0, **cls.more}
            yield

    @pytest.mark.parametrize("fusion", ["rrf", "engine"])
    def test_its_own_fusion_and_ours_put_the_same_document_first(self, fusion: str):
        for query in QUERIES:
            assert self.asked(query, fusion=fusion)["final"][0] == self.asked(query)["final"][0]

    def test_a_table_that_is_not_there_is_an_error_of_each_query(self):
        search = self.connected(table="another").search
        with pytest.raises(ServerError):
            search(QUERIES[0], 5)

    def test_what_the_server_answered_is_answered_again_without_it(self):
        asked = [Query(id=query, text=query) for query in QUERIES]
        first = self.connected(recording="answers.jsonl").retrieve(asked, k=3)
        before = len(self.stand_in.asked)
        again = self.connected(recording="answers.jsonl", record="none").retrieve(asked, k=3)
        assert len(self.stand_in.asked) == before
        assert again.chunks.ids == first.chunks.ids
        for one, other in zip(first.stages, again.stages, strict=True):
            assert (one.name, one.scores.tolist()) == (other.name, other.scores.tolist())


class TestOpenSearch(FormKit):
    __test__ = True
    kind = "opensearch"


class TestElasticsearch(FormKit):
    __test__ = True
    kind = "elasticsearch"


class TestQdrantServer(FormKit):
    __test__ = True
    kind = "qdrant"


class TestWeaviate(FormKit):
    __test__ = True
    kind = "weaviate"


class TestVespa(FormKit):
    __test__ = True
    kind = "vespa"
    more: ClassVar[dict[str, Any]] = {"fused_profile": "fused"}


class TestTypesense(FormKit):
    __test__ = True
    kind = "typesense"


class TestMeilisearch(FormKit):
    __test__ = True
    kind = "meilisearch"
