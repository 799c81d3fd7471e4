# No postponed annotations: Haystack reads the types of a component's inputs as they are.
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from assay.connectors.callable import as_search
from assay.connectors.conformance import STRANGE
from assay.model.errors import ConfigError
from conformance.small_corpus import FIRST, QUERIES, chunks
from connectors.by_words import Kit, ranked, search


@component
class Turn:
    """A ranker that puts what shares most words with the query first."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int = 2) -> dict[str, Any]:
        order = [chunk.text for _, chunk in ranked(query)]
        known = [document for document in documents if document.content in order]
        best = sorted(known, key=lambda document: order.index(document.content or ""))
        return {"documents": [self._plain(document) for document in best][:top_k]}

    def _plain(self, document: Document) -> Document:
        return Document(content=document.content, meta=document.meta, id=document.id)


def haystack_store() -> Any:

    store = InMemoryDocumentStore(bm25_tokenization_regex=r"(?u)\b\w+\b")
    store.write_documents(
        [
            Document(content=chunk.text, meta={"file_path": chunk.doc_id, "split_idx_start": chunk.start})
            for chunk in chunks()
        ]
    )
    return store


def haystack_pipeline() -> Any:
    store = haystack_store()

    pipeline = Pipeline()
    pipeline.add_component("ranker", Turn())
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=50))
    pipeline.connect("bm25.documents", "ranker.documents")
    return pipeline


class TestHaystackRetriever(Kit):
    __test__ = True
    nothing = None  # its BM25 returns what shares nothing as well
    strange = STRANGE[1:]  # an empty query is an error of Haystack's own

    def make(self) -> object:
        store = haystack_store()

        return InMemoryBM25Retriever(store)


class TestHaystackPipeline(Kit):
    __test__ = True
    strange = STRANGE[1:]

    def make(self) -> object:
        return haystack_pipeline()


def test_each_component_of_a_haystack_pipeline_is_a_stage():
    reply = search(haystack_pipeline(), QUERIES[0], k=3)
    assert list(reply) == ["bm25", "final"]
    assert reply["final"][0].doc_id == FIRST[0]
    assert len(reply["bm25"]) > 3 >= len(reply["final"])


def test_a_haystack_embedding_retriever_without_its_embedder_is_an_error_with_a_fix():
    store = haystack_store()

    with pytest.raises(ConfigError, match="'query_embedding' of 'it' is open") as failure:
        as_search(InMemoryEmbeddingRetriever(store), "it")
    assert "a text embedder before" in str(failure.value)


@component
class Talk:
    """A component that answers, and shows no documents."""

    @component.output_types(replies=list[str])
    def run(self, query: str) -> dict[str, Any]:
        return {"replies": [query]}


def test_a_pipeline_that_puts_out_no_documents_cannot_be_measured():
    pipeline = Pipeline()
    pipeline.add_component("talk", Talk())
    with pytest.raises(ConfigError) as caught:
        as_search(pipeline, "mine")
    assert str(caught.value) == (
        "retriever 'mine': no component of the pipeline puts out documents\n"
        "  fix: add a retriever to it, or name the object that holds one"
    )
