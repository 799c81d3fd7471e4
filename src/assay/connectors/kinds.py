"""What a connector is: its settings, and how a retriever is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta

from assay.connectors.hits import HitForm
from assay.connectors.protocol import Embed, Search
from assay.connectors.recording import Mode, Recording
from assay.model.golden import Query
from assay.model.runs import Retrieved

Done = Callable[[int], None]


class Connected(Protocol):
    """A retriever of somebody else's, ready to be asked."""

    name: str
    search: Search
    embeds: bool
    """Whether it asks with the vectors of the project's embedder."""

    def retrieve(self, queries: Sequence[Query], *, k: int, on_done: Done | None = None) -> Retrieved: ...


class FieldSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[retriever.fields]``: what the retriever calls the fields of a hit, as dotted paths into it.

    For an engine these are its columns. None: the usual names are tried.
    """

    id: str | None = None
    """The retriever's own id of a chunk."""
    document: str | None = None
    """The document that it was cut from."""
    start: str | None = None
    """Its first code point there."""
    end: str | None = None
    """One past its last."""
    score: str | None = None
    """Higher is better."""
    text: str | None = None
    """The chunk's text."""


class ConnectorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that every connector has."""

    type: str = "callable"
    """Which connector."""
    concurrency: Annotated[int, Meta(ge=1)] = 1
    """How many calls may run at a time; results do not depend on it."""
    timeout_s: Annotated[float, Meta(gt=0)] | None = None
    """Seconds after which a call has failed; None: no limit."""
    whole_index: bool = False
    """Whether the project's chunker cuts exactly the chunks of this retriever's index, so that chunks can be
    counted, and not anchors only."""
    fields: FieldSettings = FieldSettings()
    strip_prefix: str = ""
    """What is cut off the beginning of its document ids: ``/srv/docs/``."""
    recording: str | None = None
    """A file that replies are kept in and answered from, relative to ``assay.toml``."""
    record: Mode = "new"
    """``new``: ask for what the file lacks; ``all``: ask for everything again; ``none``: ask for nothing."""

    def hit_form(self) -> HitForm:
        """Return how the hits are read."""
        return HitForm(**msgspec.structs.asdict(self.fields), strip_prefix=self.strip_prefix)

    def recording_in(self, folder: Path) -> Recording | None:
        """Return the recording that the settings name.

        Raises:
            InputError: it cannot be read.
        """
        return None if self.recording is None else Recording(folder / self.recording, self.record)


HOW = frozenset({"concurrency", "timeout_s", "recording", "record", "batch", "retries", "backoff_s"})
"""Settings that say how a retriever is called, and nothing of what it returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a connector may need beside its settings."""

    folder: Path
    """The project's folder: relative paths begin there."""
    embed: Embed | None = None
    """The project's embedder, for engines that are searched by vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """One kind of retriever: its settings, and how it is made of them."""

    settings: type[ConnectorSettings]
    make: Callable[[Any, Surroundings], Connected]
