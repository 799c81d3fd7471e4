"""Asking a server for JSON: secrets from the environment, retries with backoff, recording and replay."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from assay.connectors.kinds import ConnectorSettings
from assay.connectors.packages import need
from assay.connectors.recording import Recording
from assay.connectors.secrets import expand, hide, names_in

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that a server may take back when it is asked again."""
_LONGEST_S = 60.0
_JSON = {"Content-Type": "application/json"}


class RestSettings(ConnectorSettings, frozen=True, kw_only=True):
    """The settings of every retriever behind HTTP."""

    url: str
    """Where it is; ``${NAME}`` is replaced by an environment variable."""
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Sent with every request; ``${NAME}`` is replaced by an environment variable."""
    timeout_s: Annotated[float, Meta(gt=0)] | None = 30.0
    """Seconds after which a request has failed."""
    retries: Annotated[int, Meta(ge=0)] = 3
    """How often a request is sent again after a refused connection, a time-out or a passing error."""
    backoff_s: Annotated[float, Meta(ge=0)] = 0.5
    """Pause before the first repetition; doubled each time, unless the server says how long."""


class ServerError(RuntimeError):
    """A server answered with an error, or with something that is not JSON."""


@dataclass(slots=True, kw_only=True)
class Rest:
    """A server, asked for JSON.

    Args:
        base: what every path is put behind.
        headers: sent with every request, as the settings write them.
        timeout_s: seconds a request may take.
        retries: repetitions after a passing failure.
        backoff_s: pause before the first repetition.
        recording: where answers are kept, and taken from.
    """

    base: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_s: float | None = 30.0
    retries: int = 3
    backoff_s: float = 0.5
    recording: Recording | None = None
    secrets: tuple[str, ...] = ()
    """Further settings that may name environment variables: their values are kept out of the recording."""
    _client: Any = None
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def ask(
        self,
        method: str,
        path: str = "",
        *,
        body: object = None,
        params: Mapping[str, str] | None = None,
        sent: Callable[[], Mapping[str, str]] | None = None,
        absent: tuple[int, ...] = (),
    ) -> Any:  # noqa: ANN401 - JSON
        """Send a request and return the JSON of its answer; None where the answer is empty or ``absent``.

        Args:
            method: GET, POST, PUT or DELETE.
            path: put behind the base.
            body: sent as JSON; text is sent as it is (lines of JSON).
            params: the query string, as it is recorded.
            sent: makes the query string with its secrets, where it is sent; None: as recorded.
            absent: status codes that mean that there is no such thing, and are no errors.

        Raises:
            ServerError: the answer is an error, or not JSON.
            NotRecordedError: it is not in the recording, and nothing may be asked.
        """
        asked: dict[str, Any] = {"method": method, "url": f"{self.base}{path}"}
        if params:
            asked["params"] = dict(params)
        if body is not None:
            asked["body"] = body
        if self.recording is not None:
            known, answered = self.recording.answer(asked)
            if known:
                return answered
        answered = self._send(asked, params if sent is None else sent(), absent)
        if self.recording is not None:
            names = names_in([self.base, *self.headers.values(), *self.secrets])
            answered = json.loads(hide(json.dumps(answered), names)) if names else answered
            self.recording.keep(asked, answered)
        return answered

    def close(self) -> None:
        """Close the connections; the next request opens them again."""
        with self._guard:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _send(
        self, asked: Mapping[str, Any], params: Mapping[str, str] | None, absent: tuple[int, ...]
    ) -> Any:  # noqa: ANN401 - JSON
        httpx = need("httpx", feature="a retriever behind HTTP", extra="http")
        client = self._opened(httpx)
        body = asked.get("body")
        content = None if body is None else body if isinstance(body, str) else json.dumps(body)
        headers = {**_JSON, **{name: expand(value) for name, value in self.headers.items()}}
        url = expand(asked["url"])
        for again in range(self.retries + 1):
            pause_s = min(self.backoff_s * 2**again, _LONGEST_S)
            try:
                reply = client.request(
                    asked["method"], url, content=content, headers=headers, params=params or None
                )
            except httpx.TransportError as error:
                if again == self.retries:
                    raise ServerError(f"{type(error).__name__}: {error}") from error
            else:
                if reply.status_code in absent:
                    return None
                if reply.status_code < 400:
                    return _json_of(reply)
                if reply.status_code not in PASSING or again == self.retries:
                    raise ServerError(f"{reply.status_code} {reply.reason_phrase}: {reply.text[:300]}")
                pause_s = _asked_pause(reply, pause_s)
            # A little apart, so that many callers do not come back at once; the results do not depend on it.
            time.sleep(pause_s * random.uniform(0.8, 1.0))  # noqa: S311 - no secret
        raise AssertionError("unreachable")

    def _opened(self, httpx: Any) -> Any:  # noqa: ANN401 - a module without types here
        with self._guard:
            if self._client is None:
                self._client = httpx.Client(timeout=self.timeout_s, follow_redirects=True)
            return self._client


def rest_of(
    settings: RestSettings, base: str, recording: Recording | None, *, secrets: tuple[str, ...] = ()
) -> Rest:
    """Return the server of some settings."""
    return Rest(
        base=base,
        headers=settings.headers,
        timeout_s=settings.timeout_s,
        retries=settings.retries,
        backoff_s=settings.backoff_s,
        recording=recording,
        secrets=secrets,
    )


def base_of(url: str) -> str:
    """Return the address of a server that is named with its kind: ``qdrant+http://host``.

    >>> base_of("qdrant+http://localhost:6333/"), base_of("https://search.example.com")
    ('http://localhost:6333', 'https://search.example.com')
    """
    scheme, mark, rest = url.partition("://")
    kind, plus, protocol = scheme.partition("+")
    protocol = protocol if plus else kind if kind in {"http", "https"} else "http"
    return f"{protocol}{mark}{rest}".rstrip("/")


def _json_of(reply: Any) -> Any:  # noqa: ANN401 - JSON
    if not reply.content:
        return None
    try:
        return reply.json()
    except ValueError as error:
        lines = [line for line in cast("str", reply.text).splitlines() if line.strip()]
        try:  # lines of JSON, one object each
            return [json.loads(line) for line in lines]
        except ValueError:
            raise ServerError(f"the answer is not JSON: {reply.text[:300]}") from error


def _asked_pause(reply: Any, pause_s: float) -> float:  # noqa: ANN401 - a reply of httpx
    try:
        return min(float(reply.headers["retry-after"]), _LONGEST_S)
    except (KeyError, ValueError):
        return pause_s
