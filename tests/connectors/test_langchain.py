from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from assay.model.errors import ConfigError
from conformance.small_corpus import FIRST, QUERIES, chunks
from connectors.by_words import Kit, ranked, search, vector


def langchain_retriever(kind: str = "plain") -> Any:

    def documents(query: str) -> list[Document]:
        return [
            Document(page_content=chunk.text, metadata={"source": chunk.doc_id, "start_index": chunk.start})
            for _, chunk in ranked(query)
        ]

    class Plain(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            del run_manager
            return documents(query)

    class WithK(BaseRetriever):
        k: int = 1

        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            del run_manager
            return documents(query)[: self.k]

    class TakesK(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: object, k: int = 1) -> list[Document]:
            del run_manager
            return documents(query)[:k]

    return {"plain": Plain, "with_k": WithK, "takes_k": TakesK}[kind]()


class Words(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return vector(text)


def langchain_store() -> Any:

    store = InMemoryVectorStore(Words())
    store.add_texts(
        [chunk.text for chunk in chunks()],
        [{"source": chunk.doc_id, "start_index": chunk.start} for chunk in chunks()],
    )
    return store


class TestLangChainRetriever(Kit):
    __test__ = True

    @pytest.fixture(autouse=True, params=["plain", "with_k", "takes_k"])
    def _kind(self, request: pytest.FixtureRequest) -> None:
        self.kind = request.param

    def make(self) -> object:
        return langchain_retriever(self.kind)


class TestLangChainVectorStore(Kit):
    __test__ = True
    nothing = None

    def make(self) -> object:
        return langchain_store()


class TestLangChainVectorStoreRetriever(Kit):
    __test__ = True
    nothing = None

    def make(self) -> object:
        return langchain_store().as_retriever(search_kwargs={"k": 2})


def test_a_langchain_retriever_with_its_own_k_is_asked_for_k_and_stays_as_it_is():
    retriever = langchain_retriever("with_k")
    assert len(search(retriever, "card code", k=2)["final"]) == 2
    assert retriever.k == 1


def test_a_langchain_chain_that_returns_documents_is_a_retriever_and_another_is_an_error():

    chain = RunnableLambda(str.lower) | langchain_retriever()
    assert search(chain, QUERIES[1])["final"][0].doc_id == FIRST[1]
    with pytest.raises(ConfigError, match="the chain returned str, not a list of documents"):
        search(RunnableLambda(str.lower), "card")
