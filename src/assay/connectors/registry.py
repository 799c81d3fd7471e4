"""Connectors by name: what ``[retriever]`` in ``assay.toml`` may say.

``retriever = "my_app.search:retrieve"`` is short for ``[retriever] type = "callable"`` with that ``call``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta

from assay.connectors.callable import CallableRetriever
from assay.model.errors import ConfigError, Fault, nearest
from assay.model.golden import Query
from assay.model.runs import Retrieved
from assay.model.settings import read_settings

Done = Callable[[int], None]


class Connected(Protocol):
    """A retriever of somebody else's, ready to be asked."""

    name: str

    def retrieve(self, queries: Sequence[Query], *, k: int, on_done: Done | None = None) -> Retrieved: ...


class ConnectorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that every connector has."""

    type: str = "callable"
    concurrency: Annotated[int, Meta(ge=1)] = 1
    """How many calls may run at a time; results do not depend on it."""
    timeout_s: Annotated[float, Meta(gt=0)] | None = None
    """Seconds after which a call has failed; None: no limit."""
    whole_index: bool = False
    """Whether the project's chunker cuts exactly the chunks of this retriever's index, so that chunks can be
    counted, and not anchors only."""


class CallableSettings(ConnectorSettings, frozen=True, kw_only=True):
    """``type = "callable"``: a Python function or object."""

    call: str
    """``package.module:attribute``, looked for in the project's folder first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """One kind of retriever: its settings, and how it is made of them."""

    settings: type[ConnectorSettings]
    make: Callable[[Any, Path], Connected]


def _callable(settings: CallableSettings, folder: Path) -> Connected:
    return CallableRetriever(
        settings.call, folder=folder, concurrency=settings.concurrency, timeout_s=settings.timeout_s
    )


CONNECTORS: dict[str, Connector] = {"callable": Connector(settings=CallableSettings, make=_callable)}
"""Type -> connector."""


def connect(
    values: Mapping[str, Any], *, folder: Path, where: str = "[retriever]"
) -> tuple[Connected, ConnectorSettings]:
    """Make the retriever that a table of settings describes.

    Raises:
        ConfigError: the type or a setting is wrong (all faults at once), or the retriever cannot be reached.
    """
    kind = values.get("type", "callable")
    connector = CONNECTORS.get(kind) if isinstance(kind, str) else None
    if connector is None:
        close = nearest(str(kind), list(CONNECTORS))
        fix = f"did you mean {close!r}?" if close else f"known are {', '.join(CONNECTORS)}"
        raise ConfigError(Fault(where=f"{where} type", what=f"there is no connector {kind!r}", fix=fix))
    settings, faults = read_settings(connector.settings, values, where)
    if settings is None:
        raise ConfigError(faults)
    return connector.make(settings, folder), settings
