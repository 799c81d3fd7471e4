from __future__ import annotations

from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from assay.connectors.callable import CallableRetriever
from assay.connectors.conformance import STRANGE
from assay.model.golden import Query
from conformance.small_corpus import chunks
from connectors.by_words import Kit, ranked, search, vector


def llama_nodes() -> list[Any]:

    return [
        TextNode(
            id_=f"node-{place}",
            text=chunk.text,
            start_char_idx=chunk.start,
            end_char_idx=chunk.end,
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.doc_id)},
        )
        for place, chunk in enumerate(chunks())
    ]


def llama_retriever() -> Any:

    nodes = {node.text: node for node in llama_nodes()}

    class ByWords(BaseRetriever):
        similarity_top_k = 2

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            best = ranked(query_bundle.query_str)[: self.similarity_top_k]
            return [NodeWithScore(node=nodes[chunk.text], score=float(n)) for n, chunk in best]

    return ByWords()


def llama_engine(retriever: Any) -> Any:

    return RetrieverQueryEngine.from_args(
        retriever, llm=MockLLM(), node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=1.5)]
    )


class TestLlamaIndexRetriever(Kit):
    __test__ = True

    def make(self) -> object:
        return llama_retriever()


class Words(BaseEmbedding):
    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)


class TestLlamaIndexVectorIndex(Kit):
    __test__ = True
    nothing = None
    strange = STRANGE[1:]  # an empty query is an error of LlamaIndex's own

    def make(self) -> object:

        return VectorStoreIndex(nodes=llama_nodes(), embed_model=Words())


def test_a_llamaindex_retriever_is_asked_for_k_and_stays_as_it_is():
    retriever = llama_retriever()
    assert len(search(retriever, "card code", k=3)["final"]) == 3
    assert retriever.similarity_top_k == 2


def test_a_llamaindex_query_engine_shows_what_it_retrieved_and_what_was_left():
    found = CallableRetriever(llama_engine(llama_retriever())).retrieve(
        [Query(id="q", text="the code means that the card was refused")], k=5
    )
    assert [(stage.name, stage.role) for stage in found.stages] == [
        ("retrieved", "list"),
        ("reranked", "rerank"),
        ("final", "final"),
    ]
    sizes = [int(stage.offsets[-1]) for stage in found.stages]
    # Two nodes are retrieved, as the engine says; both share more than one word with the query.
    assert sizes == [2, 2, 2]
    assert set(found.chunks.doc_ids) == {"errors.md"}
