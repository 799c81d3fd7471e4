"""LangChain: a retriever, a vector store, or any runnable that turns a query into documents.

A document's text is looked for in its source (``metadata["source"]``); ``start_index``, which LangChain's
splitters add when asked, is its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from assay.connectors.protocol import Search
from assay.model.errors import ConfigError, Fault

CUTS = ("k", "top_k", "top_n")
"""Fields of a retriever that say how many documents it returns."""


@dataclass(frozen=True, slots=True)
class _Copied:
    """A retriever that keeps its k in a field: a copy is asked, so that the user's object stays as it is."""

    retriever: Any
    field: str

    def __call__(self, query: str, k: int, /) -> object:
        return self.retriever.model_copy(update={self.field: k}).invoke(query)


@dataclass(frozen=True, slots=True)
class _Passed:
    """A retriever that takes k with the query."""

    retriever: Any

    def __call__(self, query: str, k: int, /) -> object:
        return self.retriever.invoke(query, k=k)


@dataclass(frozen=True, slots=True)
class _Plain:
    """A retriever that decides on its own how much it returns."""

    retriever: Any

    def __call__(self, query: str, k: int, /) -> object:
        return self.retriever.invoke(query)[:k]


def of_retriever(target: object, name: str) -> Search:
    """Return a search over a ``BaseRetriever``."""
    del name
    retriever = cast("Any", target)
    fields = cast("Mapping[str, object]", type(retriever).model_fields)
    field = next((field for field in CUTS if field in fields), None)
    if field is not None:
        return _Copied(retriever, field)
    # `_get_relevant_documents` is the method that LangChain asks people to write: its signature says it.
    takes = inspect.signature(retriever._get_relevant_documents).parameters  # noqa: SLF001 - as above
    if "k" in takes or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
        return _Passed(retriever)
    return _Plain(retriever)


def of_store(target: object, name: str) -> Search:
    """Return a search over a ``VectorStore``; its scores have no common direction, so its order counts."""
    del name
    store = cast("Any", target)

    def search(query: str, k: int, /) -> object:
        return store.similarity_search(query, k=k)

    return search


def of_runnable(target: object, name: str) -> Search:
    """Return a search over any other runnable, which has to return a list of documents."""
    chain = cast("Any", target)

    def search(query: str, k: int, /) -> object:
        found: object = chain.invoke(query)
        if not isinstance(found, list):
            raise ConfigError(
                Fault(
                    where=f"retriever {name!r}",
                    what=f"the chain returned {type(found).__name__}, not a list of documents",
                    fix="name the part of the chain that retrieves",
                )
            )
        return cast("list[object]", found)[:k]

    return search
