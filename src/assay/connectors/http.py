"""Any JSON search endpoint: where it is, what it is sent, and where the hits stand in its answer.

::

    [retriever]
    type = "http"
    url = "https://search.example.com/v1/search"
    headers = { Authorization = "Bearer ${SEARCH_TOKEN}" }
    body = { query = "{query}", size = "{k}" }
    hits = "results[].{id: id, document: meta.file, text: body, score: score}"
    lists = { vector = "debug.vector[]", fulltext = "debug.bm25[]" }

``hits`` and ``lists`` are JMESPath. In ``url``, ``params`` and ``body`` stand ``{query}``, ``{k}`` and, for
engines that want it, ``{vector}``; a value that is one of them alone keeps its type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

import msgspec

from assay.connectors.callable import CallableRetriever
from assay.connectors.calls import Done
from assay.connectors.hits import FINAL
from assay.connectors.kinds import Connected, Connector, Surroundings
from assay.connectors.packages import need
from assay.connectors.protocol import Embed
from assay.connectors.rest import Method, Rest, RestSettings, rest_of
from assay.connectors.secrets import expand
from assay.model.errors import ConfigError, Fault
from assay.model.golden import Query
from assay.model.runs import Retrieved

_QUERY, _K, _VECTOR = "{query}", "{k}", "{vector}"


class HttpSettings(RestSettings, frozen=True, kw_only=True):
    """``type = "http"``: any JSON search endpoint."""

    method: Method = "POST"
    """How it is asked."""
    params: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The query string."""
    body: dict[str, Any] | list[Any] | None = None
    """What is sent as JSON; None: nothing (GET), or query and k (otherwise)."""
    hits: str
    """JMESPath of the hits that reach the prompt."""
    lists: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Stage -> JMESPath of its hits: ``vector``, ``fulltext``, ``pool``, or a name of your own."""


class HttpSearch:
    """An endpoint as ``search(query, k)``.

    Args:
        settings: where it is and what it is sent.
        rest: what sends it.
        embed: makes the vector of a query, where ``{vector}`` is asked for.
    """

    def __init__(self, settings: HttpSettings, rest: Rest, embed: Embed | None) -> None:
        self.settings, self.rest, self.embed = settings, rest, embed
        self.body: object = settings.body
        if self.body is None and settings.method != "GET":
            self.body = {"query": _QUERY, "k": _K}
        self.wants_vector = _VECTOR in repr(self.body)
        self.paths = _compiled({**settings.lists, FINAL: settings.hits})

    def __call__(self, query: str, k: int, /) -> object:
        """Ask the endpoint; return its lists."""
        values: dict[str, object] = {_QUERY: query, _K: k}
        if self.wants_vector and self.embed is not None:
            values[_VECTOR] = self.embed([query])[0].tolist()
        path = self.settings.url.replace(_QUERY, quote(query, safe="")).replace(_K, str(k))
        params = self.settings.params
        answer = self.rest.ask(
            self.settings.method,
            path,
            body=_filled(self.body, values),
            params={name: str(_filled(value, values)) for name, value in params.items()},
            # Expanded before the query is put in: what people type names no environment variable.
            sent=lambda: {name: str(_filled(expand(value), values)) for name, value in params.items()},
        )
        lists: dict[str, Any] = {stage: path.search(answer) for stage, path in self.paths.items()}
        if lists[FINAL] is None:
            raise LookupError(f"nothing stands at {self.settings.hits!r} in the answer: {str(answer)[:200]}")
        nothing: list[object] = []
        return {stage: nothing if hits is None else hits for stage, hits in lists.items()}


def _filled(value: object, values: Mapping[str, object]) -> object:
    """Return a template with its places filled; a place that stands alone keeps the type of its value."""
    if isinstance(value, str):
        if value in values:
            return values[value]
        for place in (_K, _QUERY):  # the query last: what it says is never a place
            value = value.replace(place, str(values[place]))
        return value
    if isinstance(value, Mapping):
        return {key: _filled(inner, values) for key, inner in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_filled(inner, values) for inner in cast("list[object]", value)]
    return value


def _compiled(paths: Mapping[str, str]) -> dict[str, Any]:
    jmespath = need("jmespath", feature="connector 'http'", extra="http")
    compiled: dict[str, Any] = {}
    faults: list[Fault] = []
    for stage, path in paths.items():
        try:
            compiled[stage] = jmespath.compile(path)
        except jmespath.exceptions.ParseError as error:
            where = "[retriever] hits" if stage == FINAL else f"[retriever] lists {stage}"
            what = f"this is not JMESPath: {' '.join(str(error).split())}"
            faults.append(
                Fault(where=where, what=what, fix='the path of the list in the answer: "data.hits"')
            )
    if faults:
        raise ConfigError(faults)
    return compiled


def _make(settings: HttpSettings, around: Surroundings) -> Connected:
    rest = rest_of(
        settings,
        "",
        settings.recording_in(around.folder),
        secrets=(settings.url, *settings.params.values()),
    )
    search = HttpSearch(settings, rest, around.embed)
    if search.wants_vector and around.embed is None:
        raise ConfigError(
            Fault(
                where="[retriever] body",
                what="{vector} needs an embedder, and none is at hand here",
                fix="name one in [pipeline.embedder], or send {query}",
            )
        )
    return HttpRetriever(search, settings)


class HttpRetriever(CallableRetriever):
    """An endpoint as a connector: its answers are recorded as the server gives them.

    Args:
        search: the endpoint.
        settings: how it is called.
    """

    def __init__(self, search: HttpSearch, settings: HttpSettings) -> None:
        super().__init__(search, concurrency=settings.concurrency, form=settings.hit_form())
        self.name = settings.url.partition("?")[0]
        self.embeds = search.wants_vector
        self.answers = search.rest.recording

    def retrieve(self, queries: Sequence[Query], *, k: int, on_done: Done | None = None) -> Retrieved:
        """Ask for every query, and put the recording in order."""
        try:
            return super().retrieve(queries, k=k, on_done=on_done)
        finally:
            if self.answers is not None:
                self.answers.settle()


CONNECTOR = Connector(settings=HttpSettings, make=_make)
