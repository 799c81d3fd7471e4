"""Connectors by name: what ``[retriever]`` in ``assay.toml`` may say. Each is loaded when it is named.

``retriever = "my_app.search:retrieve"`` is short for ``[retriever] type = "callable"`` with that ``call``;
``retriever = "sqlite:///index.db"`` for ``type = "sqlite"`` with that ``url``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from assay.connectors.callable import CallableRetriever
from assay.connectors.kinds import Connected, Connector, ConnectorSettings, Surroundings
from assay.connectors.protocol import Embed
from assay.connectors.secrets import missing_faults
from assay.model.errors import ConfigError, Fault, nearest
from assay.model.settings import read_settings


class CallableSettings(ConnectorSettings, frozen=True, kw_only=True):
    """``type = "callable"``: a Python function or object, or an object of a framework."""

    call: str
    """``package.module:attribute``, looked for in the project's folder first."""
    batch: Annotated[int, Meta(ge=1)] = 1
    """Queries a call; above 1 the object needs a method ``search_batch(queries, k)``."""


def _callable(settings: CallableSettings, around: Surroundings) -> Connected:
    return CallableRetriever(
        settings.call,
        folder=around.folder,
        concurrency=settings.concurrency,
        timeout_s=settings.timeout_s,
        form=settings.hit_form(),
        batch=settings.batch,
        recording=settings.recording_in(around.folder),
    )


CALLABLE = Connector(settings=CallableSettings, make=_callable)
_HERE = "assay.connectors"
ENGINES: Mapping[str, str] = {
    "postgresql": f"{_HERE}.postgresql",
    "sqlite": f"{_HERE}.sqlite",
    "duckdb": f"{_HERE}.duckdb",
    "tantivy": f"{_HERE}.tantivy",
    "lancedb": f"{_HERE}.lancedb",
    "chroma": f"{_HERE}.chroma",
    "qdrant": f"{_HERE}.qdrant",
    "milvus": f"{_HERE}.milvus",
    "opensearch": f"{_HERE}.opensearch",
    "elasticsearch": f"{_HERE}.elasticsearch",
    "redis": f"{_HERE}.redis",
    "weaviate": f"{_HERE}.weaviate",
    "vespa": f"{_HERE}.vespa",
    "typesense": f"{_HERE}.typesense",
    "meilisearch": f"{_HERE}.meilisearch",
}
"""Type -> the module of an engine; it can be searched, and filled by ``assay index``."""
MODULES: Mapping[str, str] = {"http": f"{_HERE}.http", **ENGINES}
"""Type -> the module whose ``CONNECTOR`` it is."""
TYPES = ("callable", *MODULES)


def connector_named(kind: object, where: str) -> Connector:
    """Return a connector by its type.

    Raises:
        ConfigError: there is none of that name.
    """
    if kind == "callable":
        return CALLABLE
    if not isinstance(kind, str) or kind not in MODULES:
        close = nearest(str(kind), list(TYPES))
        fix = f"did you mean {close!r}?" if close else f"known are {', '.join(TYPES)}"
        raise ConfigError(Fault(where=f"{where} type", what=f"there is no connector {kind!r}", fix=fix))
    return import_module(MODULES[kind]).CONNECTOR


def table_of(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the whole table of settings that a short form stands for.

    >>> table_of({"call": "sqlite:///index.db"})
    {'type': 'sqlite', 'url': 'sqlite:///index.db'}
    >>> table_of({"call": "my_app:search"})
    {'call': 'my_app:search'}
    """
    call = values.get("call")
    if len(values) == 1 and isinstance(call, str) and "://" in call:
        return {"type": type_of_url(call), "url": call}
    return values


def type_of_url(url: str) -> str:
    """Return the type of connector that a URL names by its scheme.

    >>> type_of_url("qdrant+http://localhost:6333"), type_of_url("postgres://db/shop")
    ('qdrant', 'postgresql')
    """
    scheme = url.partition("://")[0].partition("+")[0].lower()
    return {"postgres": "postgresql", "https": "http", "rediss": "redis"}.get(scheme, scheme)


def read_connector(
    values: Mapping[str, Any], *, where: str = "[retriever]"
) -> tuple[Connector, ConnectorSettings]:
    """Read a table of settings, without reaching for the retriever.

    Raises:
        ConfigError: the type or a setting is wrong, or an environment variable is not set; all faults.
    """
    values = table_of(values)
    connector = connector_named(values.get("type", "callable"), where)
    settings, faults = read_settings(connector.settings, values, where)
    if settings is None or values.get("record") != "none":
        faults = [*faults, *missing_faults(values, where)]
    if settings is None or faults:
        raise ConfigError(faults)
    return connector, settings


def take(target: object) -> tuple[Connected, ConnectorSettings]:
    """Take a retriever as it is: a connector, a function, an object, an object of a framework.

    Raises:
        ConfigError: it cannot be asked with a query.
    """
    if isinstance(target, CallableRetriever):
        return target, CallableSettings(call=target.name)
    retriever = CallableRetriever(target)
    return retriever, CallableSettings(call=retriever.name)


def connect(
    values: Mapping[str, Any], *, folder: Path, where: str = "[retriever]", embed: Embed | None = None
) -> tuple[Connected, ConnectorSettings]:
    """Make the retriever that a table of settings describes.

    Args:
        values: the table.
        folder: the project's folder.
        where: how a fault names the table.
        embed: the project's embedder, for engines that are searched by vector.

    Raises:
        ConfigError: the type or a setting is wrong (all faults at once), or the retriever cannot be reached.
    """
    connector, settings = read_connector(values, where=where)
    return connector.make(settings, Surroundings(folder=folder, embed=embed)), settings
