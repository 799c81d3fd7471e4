"""LlamaIndex: a retriever, an index, or a query engine, whose retriever and postprocessors are two stages.

A node's text is looked for in its source: ``file_path`` of its metadata where it has one, else the id of the
document that it was cut from. ``start_char_idx`` and ``end_char_idx`` are its place.
"""

from __future__ import annotations

import copy
from typing import Any, cast

from assay.connectors.protocol import Search
from assay.model.errors import ConfigError, Fault

CUTS = ("similarity_top_k", "top_k")
"""Attributes that say how many nodes a retriever returns."""


def of_retriever(target: object, name: str) -> Search:
    """Return a search over a ``BaseRetriever``."""
    del name
    retriever = cast("Any", target)

    def search(query: str, k: int, /) -> object:
        return _asking(retriever, k).retrieve(query)[:k]

    return search


def of_index(target: object, name: str) -> Search:
    """Return a search over an index, by the retriever that it makes."""
    del name
    index = cast("Any", target)

    def search(query: str, k: int, /) -> object:
        return index.as_retriever(similarity_top_k=k).retrieve(query)[:k]

    return search


def of_engine(target: object, name: str) -> Search:
    """Return a search over a query engine: what it retrieves, and what its postprocessors leave.

    The engine's own cut counts; nothing is generated.

    Raises:
        ConfigError: the engine has no retriever.
    """
    engine = cast("Any", target)
    retriever = getattr(engine, "retriever", None) or getattr(engine, "_retriever", None)
    if retriever is None:
        what = f"{type(target).__name__} has no retriever of its own"
        raise ConfigError(Fault(where=f"retriever {name!r}", what=what, fix="name the retriever below it"))
    # The engine's own retrieve() runs both and shows the last: the steps are taken apart to see each list.
    postprocess = getattr(engine, "_apply_node_postprocessors", None)

    def search(query: str, k: int, /) -> object:
        bundle = _bundle(query)
        nodes = retriever.retrieve(bundle)
        if postprocess is None or not getattr(engine, "_node_postprocessors", None):
            return nodes[:k]
        left = postprocess(list(nodes), query_bundle=bundle)
        return {"retrieved": nodes, "reranked": left, "final": left[:k]}

    return search


def _asking(retriever: Any, k: int) -> Any:  # noqa: ANN401 - an object of LlamaIndex
    """Return the retriever set to k: a copy, so that the user's object stays as it is."""
    cut = next((cut for cut in CUTS if isinstance(getattr(retriever, cut, None), int)), None)
    if cut is None:
        return retriever
    asking = copy.copy(retriever)
    setattr(asking, cut, k)
    return asking


def _bundle(query: str) -> Any:  # noqa: ANN401 - an object of LlamaIndex, which is loaded: the engine is its own
    from llama_index.core.schema import QueryBundle  # noqa: PLC0415

    return QueryBundle(query)
