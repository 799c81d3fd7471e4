"""DSPy: a retriever module, whose passages are texts; their documents are found by what they say."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, cast

from assay.connectors.protocol import Search

NAMES = ("k", "top_k", "n")


def of_module(target: object, name: str) -> Search:
    """Return a search over a module that takes a query and returns ``passages``, or a list of them."""
    del name
    module = cast("Any", target)
    keyword = _keyword(module)

    def search(query: str, k: int, /) -> object:
        reply = module(query) if keyword is None else module(query, **{keyword: k})
        return passages_of(reply)[:k]

    return search


def passages_of(reply: object) -> list[object]:
    """Return the hits of a prediction: a passage that is a string is a text, not an id.

    >>> passages_of({"passages": ["one", {"pid": 3, "long_text": "two"}]})
    [{'text': 'one'}, {'text': 'two', 'id': 3}]
    """
    if isinstance(reply, Mapping):
        found = cast("Mapping[str, object]", reply).get("passages", [])
    else:
        found = getattr(reply, "passages", reply)
    return [_hit(passage) for passage in cast("Sequence[object]", found)]


def _hit(passage: object) -> object:
    if isinstance(passage, str):
        return {"text": passage}
    if isinstance(passage, Mapping):
        fields = dict(cast("Mapping[str, object]", passage))
        if "long_text" in fields:
            fields["text"] = fields.pop("long_text")
        if "pid" in fields:
            fields["id"] = fields.pop("pid")
        return fields
    text = getattr(passage, "long_text", None)
    return {"text": text} if isinstance(text, str) else passage


def _keyword(module: Any) -> str | None:  # noqa: ANN401 - an object of DSPy
    """Return the keyword under which a module takes k, if it takes it with the query."""
    call = module.forward if callable(getattr(module, "forward", None)) else module
    try:
        takes = inspect.signature(call).parameters
    except (TypeError, ValueError):
        return None
    return next((name for name in NAMES if name in takes), None)
