"""The one protocol of retrievers: ``search(query, k) -> hits``.

Hits come best first, in any of these forms (see ``assay.connectors.hits`` for the names that are understood):

- ``Hit`` objects, mappings or objects with fields (id, document, start, end, score, text);
- ``(id, score)`` or ``(object, score)`` pairs;
- plain ids.

A mapping of stage name -> hits puts further lists on record: ``{"vector": [...], "fulltext": [...],
"final": [...]}``. A coroutine function is awaited. An object may have ``search_batch(queries, k)`` as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Search(Protocol):
    """Somebody's retriever."""

    def __call__(self, query: str, k: int, /) -> object | Awaitable[object]:
        """Return the best ``k`` hits for a query."""
        ...


@runtime_checkable
class SearchBatch(Protocol):
    """Somebody's retriever, asked several queries at once: the method ``search_batch`` of an object."""

    def __call__(self, queries: Sequence[str], k: int, /) -> object | Awaitable[object]:
        """Return one reply a query, in their order, each in a form that a single search may return."""
        ...


class Embed(Protocol):
    """Query texts to vectors, by the embedder that the chunks of an index were made with."""

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return one row a text."""
        ...
