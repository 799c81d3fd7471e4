"""What engines that are asked over HTTP share."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from assay.connectors.engines import Engine, EngineSettings
from assay.connectors.kinds import Surroundings
from assay.connectors.rest import Rest, base_of


class ServedSettings(EngineSettings, frozen=True, kw_only=True):
    """The settings of an engine behind HTTP."""

    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Sent with every request: keys and tokens as ``${NAME}``."""
    timeout_s: Annotated[float, Meta(gt=0)] | None = 30.0
    retries: Annotated[int, Meta(ge=0)] = 3
    """How often a request is sent again after a refused connection, a time-out or a passing error."""
    backoff_s: Annotated[float, Meta(ge=0)] = 0.5
    """Pause before the first repetition; doubled each time, unless the server says how long."""


class ServedEngine(Engine):
    """An engine behind HTTP: ``rest`` asks it.

    Args:
        settings: the server and the table.
        around: the project's folder.
    """

    def __init__(self, settings: ServedSettings, around: Surroundings) -> None:
        self.served = settings
        self.recording = settings.recording_in(around.folder)
        self.rest = Rest(
            base=base_of(settings.url),
            headers=settings.headers,
            timeout_s=settings.timeout_s,
            retries=settings.retries,
            backoff_s=settings.backoff_s,
            recording=self.recording,
        )
        self.columns = settings.columns()

    def close(self) -> None:
        """Close the connections."""
        self.rest.close()
