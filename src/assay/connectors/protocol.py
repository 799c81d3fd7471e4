"""The one protocol of retrievers: ``search(query, k) -> hits``.

Hits come best first, in any of these forms (see ``assay.connectors.hits`` for the names that are understood):

- ``Hit`` objects, mappings or objects with fields (id, document, start, end, score, text);
- ``(id, score)`` or ``(object, score)`` pairs;
- plain ids.

A mapping of stage name -> hits puts further lists on record: ``{"vector": [...], "fulltext": [...],
"final": [...]}``. A coroutine function is awaited.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, runtime_checkable


@runtime_checkable
class Search(Protocol):
    """Somebody's retriever."""

    def __call__(self, query: str, k: int, /) -> object | Awaitable[object]:
        """Return the best ``k`` hits for a query."""
        ...
