"""Haystack: a pipeline, each component of which that puts out documents is a stage; or a retriever.

The query goes to every open input called ``query``, ``text`` or ``question`` that takes a string. The text of
a document is looked for in its source (``file_path`` of its meta); ``split_idx_start`` is its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assay.connectors.protocol import Search
from assay.model.errors import ConfigError, Fault

ASKED = ("query", "text", "question", "user_input")
"""Names of inputs that take the query."""


def of_pipeline(target: object, name: str) -> Search:
    """Return a search over a pipeline; the last component that puts out documents gives the final list.

    Raises:
        ConfigError: no input takes a query, another input is open that has no default, or no component puts
            out documents.
    """
    pipeline = cast("Any", target)
    asked, faults = _asked(pipeline.inputs(), name)
    everywhere = cast(
        "Mapping[str, Mapping[str, object]]", pipeline.outputs(include_components_with_connected_outputs=True)
    )
    order = [place for place in _in_order(pipeline) if "documents" in everywhere.get(place, {})]
    if not order:
        what = "no component of the pipeline puts out documents"
        faults.append(
            Fault(
                where=f"retriever {name!r}",
                what=what,
                fix="add a retriever to it, or name the object that holds one",
            )
        )
    if faults:
        raise ConfigError(faults)
    # The prompt gets the documents of the last component that ranks: a sink, or what feeds a prompt builder.
    last = order[-1]
    cut = _cut_of(pipeline, last)

    def search(query: str, k: int, /) -> object:
        data: dict[str, dict[str, object]] = {
            place: dict.fromkeys(names, query) for place, names in asked.items()
        }
        if cut is not None:
            data.setdefault(last, {})[cut] = k
        outputs = pipeline.run(data, include_outputs_from=set(order))
        lists = {place: list(outputs.get(place, {}).get("documents", [])) for place in order}
        final = lists.pop(last)[:k]
        return {**lists, "final": final} if lists else final

    return search


def of_component(target: object, name: str) -> Search:
    """Return a search over a component that takes a query and puts out documents.

    Raises:
        ConfigError: it takes no query (an embedding retriever needs its text embedder before it).
    """
    component = cast("Any", target)
    sockets = component.__haystack_input__._sockets_dict  # noqa: SLF001 - the sockets have no public list
    asked, faults = _asked({"it": {key: _described(socket) for key, socket in sockets.items()}}, name)
    if faults:
        raise ConfigError(faults)
    cut = "top_k" if "top_k" in sockets else None

    def search(query: str, k: int, /) -> object:
        inputs: dict[str, object] = dict.fromkeys(asked["it"], query)
        if cut is not None:
            inputs[cut] = k
        return list(component.run(**inputs)["documents"])[:k]

    return search


def _described(socket: Any) -> dict[str, object]:  # noqa: ANN401 - an object of Haystack
    return {"type": socket.type, "is_mandatory": socket.is_mandatory}


def _asked(
    inputs: Mapping[str, Mapping[str, Mapping[str, object]]], name: str
) -> tuple[dict[str, list[str]], list[Fault]]:
    """Return component -> inputs that take the query, and what stands in the way of asking."""
    where = f"retriever {name!r}"
    asked: dict[str, list[str]] = {}
    faults: list[Fault] = []
    for place, sockets in inputs.items():
        for socket, about in sockets.items():
            if socket in ASKED and "str" in str(about["type"]):
                asked.setdefault(place, []).append(socket)
            elif about["is_mandatory"]:
                what = f"the input {socket!r} of {place!r} is open, and a query does not fill it"
                fix = "connect it (a text embedder before an embedding retriever), or wrap it in a function"
                faults.append(Fault(where=where, what=what, fix=fix))
    if not asked:
        faults.append(
            Fault(
                where=where,
                what=f"no open input is called {', '.join(ASKED)}",
                fix="leave the input of the query open, or wrap the pipeline in a function search(query, k)",
            )
        )
    return asked, faults


def _in_order(pipeline: Any) -> list[str]:  # noqa: ANN401 - an object of Haystack
    """Return the names of the components, each behind those that feed it."""
    graph = pipeline.graph
    left = {place: {before for before, _ in graph.in_edges(place)} for place in graph.nodes}
    order: list[str] = []
    while left:
        ready = [place for place, before in left.items() if not before & left.keys()]
        ready = ready or list(left)  # a loop: the order in which the components were added
        for place in ready:
            order.append(place)
            del left[place]
    return order


def _cut_of(pipeline: Any, place: str) -> str | None:  # noqa: ANN401 - an object of Haystack
    """Return the open input of a component that says how many documents it puts out."""
    sockets = pipeline.inputs(include_components_with_connected_inputs=True).get(place, {})
    senders = {edge["to_socket"].name for _, _, edge in pipeline.graph.in_edges(place, data=True)}
    return "top_k" if "top_k" in sockets and "top_k" not in senders else None
