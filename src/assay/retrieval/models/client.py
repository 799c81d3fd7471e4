"""Calls of a server: the key from the environment, a pace, retries with growing waits, and plain errors.

A call is made again after 408, 429, a 5xx, a timeout or a lost connection; the wait doubles, with a random
part from a seeded generator, or is what ``Retry-After`` asks for. Any other answer is final. No message ever
holds the key.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol, cast

import numpy as np

from assay.model.errors import InputError, RetrieverError
from assay.retrieval.models.optional import load

EXTRA = "endpoints"
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_FIRST_S, _LONGEST_S = 0.5, 60.0
_PATIENCE_S = 300.0
"""A server that asks for a longer wait than this is not waited for."""
_SHOWN = 200
"""Signs of a server's own message that an error shows."""


_FIX = "see that base_url names a server of this kind, and that it runs; its log says more"
_KEY_FIX = "put the server's key into the environment variable that key_env names"
_FIXES: Mapping[int | None, str] = {
    401: _KEY_FIX,
    403: _KEY_FIX,
    404: "see that base_url and model name what the server has",
    429: "wait, or stay below the server's pace: requests_per_minute = 60",
}


class EndpointError(RetrieverError):
    """A server refused, did not answer, or answered something else than was asked for."""

    def __init__(self, message: str, *, status: int | None = None, fix: str | None = None) -> None:
        self.status = status
        super().__init__(message, fix=fix or _FIXES.get(status, _FIX))


class Server(Protocol):
    """The settings of a server and of how it is called."""

    @property
    def base_url(self) -> str:
        """What stands before every path."""
        ...

    @property
    def key_env(self) -> str | None:
        """Name of the environment variable with the key; None or empty: no key is sent."""
        ...

    @property
    def timeout_s(self) -> float: ...

    @property
    def retries(self) -> int: ...

    @property
    def requests_per_minute(self) -> int | None: ...

    @property
    def seed(self) -> int:
        """Of the random part of the waits."""
        ...


class Caller:
    """Posts JSON to one server.

    Args:
        server: its settings.
        feature: what calls, for messages.
        tokens_per_minute: the pace; None: as fast as it goes.
        sleep: waits; tests pass their own.

    Raises:
        MissingExtraError: ``httpx`` is not installed.
    """

    def __init__(
        self,
        server: Server,
        *,
        feature: str,
        tokens_per_minute: int | None = None,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self._httpx = load("httpx", feature=feature, extra=EXTRA)
        self._base = server.base_url.rstrip("/")
        self._key_env = server.key_env
        self._feature = feature
        self._timeout_s = server.timeout_s
        self._retries = server.retries
        self._spacing_s = 60.0 / server.requests_per_minute if server.requests_per_minute else 0.0
        self._token_s = 60.0 / tokens_per_minute if tokens_per_minute else 0.0
        self._random = np.random.default_rng(server.seed)
        self._sleep = sleep or _sleep
        self._free_at = 0.0
        self._client: Any = None
        self.requests = 0
        """Calls that were answered, since the beginning."""
        self.retried = 0
        """Calls that were made again, since the beginning."""

    def post(self, path: str, body: Mapping[str, object], *, tokens: int = 0) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON that the server answers.

        Args:
            path: below the base.
            body: what is sent.
            tokens: about how many it holds, for the pace.

        Raises:
            InputError: the key is not in the environment.
            EndpointError: no good answer came, however often it was asked.
        """
        headers = self._headers()
        if self._client is None:
            self._client = self._httpx.Client(timeout=self._timeout_s)
        attempt = 0
        while True:
            self._wait_turn(tokens)
            answer = self._ask(path, body, headers)
            if isinstance(answer, _Refusal):
                if answer.final or attempt == self._retries:
                    tries = f" (asked {attempt + 1} times)" if attempt else ""
                    where = f"{self._feature}: {self._base}{path}"
                    raise EndpointError(f"{where} {answer.what}{tries}", status=answer.status)
                self._sleep(self._backoff_s(attempt) if answer.wait_s is None else answer.wait_s)
                self.retried += 1
                attempt += 1
                continue
            self.requests += 1
            try:
                return answer.json()
            except ValueError:
                what = f"answered something else than JSON: {_start(answer.text)!r}"
                raise EndpointError(f"{self._feature}: {self._base}{path} {what}") from None

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _ask(self, path: str, body: Mapping[str, object], headers: Mapping[str, str]) -> Any:  # noqa: ANN401
        """Return the answer of the server, or why there is none."""
        try:
            answer = self._client.post(self._base + path, json=body, headers=headers)
        except self._httpx.TimeoutException:
            return _Refusal(what=f"did not answer within {self._timeout_s:g} s")
        except self._httpx.TransportError as error:
            return _Refusal(what=f"could not be reached: {error}")
        status = int(answer.status_code)
        if status < 300:
            return answer
        wait_s = _asked_wait_s(str(answer.headers.get("retry-after", "")))
        return _Refusal(
            what=f"answered {status}: {_start(_message(answer))}",
            status=status,
            wait_s=wait_s,
            final=status not in _AGAIN or (wait_s or 0.0) > _PATIENCE_S,
        )

    def _headers(self) -> dict[str, str]:
        if not self._key_env:
            return {}
        key = os.environ.get(self._key_env)
        if not key:
            fix = 'set it, or name another variable: key_env = "..." (key_env = "" where none is needed)'
            what = f"{self._feature} needs its key in the environment variable {self._key_env}"
            raise InputError(f"{what}, which is not set", fix=fix)
        return {"Authorization": f"Bearer {key}"}

    def _wait_turn(self, tokens: int) -> None:
        """Wait until the pace allows the next call."""
        needed_s = max(self._spacing_s, self._token_s * tokens)
        if not needed_s:
            return
        now = time.monotonic()
        if self._free_at > now:
            self._sleep(self._free_at - now)
        self._free_at = max(now, self._free_at) + needed_s

    def _backoff_s(self, attempt: int) -> float:
        return min(_LONGEST_S, _FIRST_S * 2.0**attempt) * float(self._random.uniform(0.5, 1.5))


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    """Why a call gave nothing."""

    what: str
    status: int | None = None
    wait_s: float | None = None
    """How long the server asks to wait."""
    final: bool = False


def _asked_wait_s(header: str) -> float | None:
    """Read ``Retry-After``: seconds, or a date."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (until.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _message(answer: Any) -> str:  # noqa: ANN401 - an object of another package
    """Return what the server says of an error: its message where it has the usual form, else its text."""
    try:
        said = answer.json()
    except ValueError:
        return str(answer.text)
    if isinstance(said, dict):
        fields = cast("dict[str, Any]", said)
        error = fields.get("error", fields.get("message", fields.get("detail")))
        if isinstance(error, dict):
            error = cast("dict[str, Any]", error).get("message")
        if isinstance(error, str):
            return error
    return str(answer.text)


def _start(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ..."
