"""Objects of other people's frameworks, passed as they are: what each is, and how it is asked.

An object is recognised by the names of its classes, so that no framework is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from assay.connectors.protocol import Search

KINDS: tuple[tuple[str, str, str], ...] = (
    # module of the base class, name of the base class, module:function that adapts it
    ("langchain_core.retrievers", "BaseRetriever", "assay.connectors.langchain:of_retriever"),
    ("langchain_core.vectorstores.base", "VectorStore", "assay.connectors.langchain:of_store"),
    ("langchain_core.runnables.base", "Runnable", "assay.connectors.langchain:of_runnable"),
    ("llama_index.core.base.base_retriever", "BaseRetriever", "assay.connectors.llamaindex:of_retriever"),
    ("llama_index.core.base.base_query_engine", "BaseQueryEngine", "assay.connectors.llamaindex:of_engine"),
    ("llama_index.core.indices.base", "BaseIndex", "assay.connectors.llamaindex:of_index"),
    ("haystack.core.pipeline.base", "PipelineBase", "assay.connectors.haystack:of_pipeline"),
    ("dspy.retrievers.retrieve", "Retrieve", "assay.connectors.dspy:of_module"),
    ("dspy.primitives.module", "Module", "assay.connectors.dspy:of_module"),
    ("dspy.retrievers.embeddings", "Embeddings", "assay.connectors.dspy:of_module"),
    ("dspy.dsp.colbertv2", "ColBERTv2", "assay.connectors.dspy:of_module"),
)


def adapt(target: object, name: str) -> Search | None:
    """Return a search over an object of a framework; None when it is of none that is known.

    Args:
        target: the object.
        name: what errors call it.

    Raises:
        ConfigError: it is of a framework, and cannot be asked with a query alone.
    """
    place = kind_of(target)
    if place is None:
        return None
    module, function = place.split(":")
    make: Callable[[object, str], Search] = getattr(import_module(module), function)
    return make(target, name)


def kind_of(target: object) -> str | None:
    """Return where the adapter of an object is, or None."""
    bases = {(base.__module__, base.__name__) for base in type(target).__mro__}
    for module, class_name, place in KINDS:
        if (module, class_name) in bases:
            return place
    if hasattr(target, "__haystack_input__") and hasattr(target, "run"):
        return "assay.connectors.haystack:of_component"
    return None
