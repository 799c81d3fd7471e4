"""A language model behind any endpoint that speaks OpenAI's chat completions.

One question, one ``Answer``; what the endpoint does wrong is a ``ChatError`` with its reason. JSON is asked
for by schema where the endpoint takes one, as a JSON object where it does not, and in words where it takes
neither; the form that worked is remembered. The key is read from the environment when it is sent, and stands
in no request that is kept.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message as Headers
from email.utils import parsedate_to_datetime
from math import ceil
from typing import IO, Any, Literal, cast
from urllib.parse import urlsplit

import msgspec

from assay.model.errors import AssayError, ConfigError, Fault

Message = Mapping[str, str]
"""``{"role": "system" or "user" or "assistant", "content": ...}``."""
Form = Literal["json_schema", "json_object", "text"]
"""How JSON is asked for; each is weaker than the one before it."""
_FORMS: tuple[Form, ...] = ("json_schema", "json_object", "text")
_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_REFUSES_FORM = frozenset({400, 404, 415, 422, 501})
_LONGEST_WAIT_S = 60.0
_SHOWN = 300
_MOST_BYTES = 16 * 1024 * 1024
_SIGNS_PER_TOKEN = 3.0
"""Fewer than English has, so that an estimate rather exceeds the count."""


class ModelTable(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is reached: a table of ``assay.toml``."""

    base_url: str
    """Up to and with the version: ``http://127.0.0.1:8080/v1``; ``/chat/completions`` is added."""
    model: str
    key_env: str | None = "OPENAI_API_KEY"
    """Variable of the environment that holds the key; where it is not set, none is sent."""
    timeout_s: float = 120.0
    """Seconds that one attempt may take."""
    retries: int = 4
    """Further attempts where the endpoint is busy, fails or cannot be reached."""
    temperature: float | None = 0.0
    """None: the endpoint's own."""
    seed: int | None = 0
    """Sent along, for endpoints that know it."""
    max_tokens: int = 800
    """The most tokens of one answer."""
    max_tokens_name: str = "max_tokens"
    """``max_completion_tokens`` for models that ask for it."""
    form: Form = "json_schema"
    """The strongest way of asking for JSON that is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    text: str
    """Word for word; empty when the model said nothing."""
    request: str
    """The body that was sent, as JSON; it holds no key."""
    prompt_tokens: int
    completion_tokens: int
    counted: bool
    """Whether the endpoint counted the tokens; else they are estimated from the text, rather too many."""
    form: Form
    finish_reason: str | None = None
    """``length``: it was cut short by ``max_tokens``."""
    elapsed_ms: float = 0.0


_ERROR_FIX = "see that base_url names a server that runs and has the model, and that key_env names its key"


class ChatError(AssayError):
    """No answer came: the endpoint failed, is not there, or answers something else."""

    def __init__(self, reason: str, *, request: str = "", final: bool = False) -> None:
        super().__init__(reason, fix=_ERROR_FIX)
        self.request = request
        self.final = final
        """Whether every other question would fail alike: a wrong key, a wrong address, no such model."""


@dataclass(kw_only=True)
class Chat:
    """A model, ready to be asked; safe to share between threads.

    Args:
        table: how it is reached.

    Raises:
        ConfigError: the address is none.
    """

    table: ModelTable
    pauses: float = 1.0
    """Seconds before the first further attempt; each next one waits twice as long."""
    _form: Form = field(init=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        parts = urlsplit(self.table.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(
                Fault(
                    where="base_url",
                    what=f"{self.table.base_url!r} is no address of a model",
                    fix='base_url = "http://127.0.0.1:8080/v1"',
                )
            )
        self._form = self.table.form

    @property
    def name(self) -> str:
        return self.table.model

    def body(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        form: Form | None = None,
    ) -> dict[str, Any]:
        """Return the body of a request; the same for the same question."""
        table = self.table
        body: dict[str, Any] = {
            "model": table.model,
            "messages": [dict(message) for message in messages],
            table.max_tokens_name: table.max_tokens,
        }
        if table.temperature is not None:
            body["temperature"] = table.temperature
        if table.seed is not None:
            body["seed"] = table.seed
        form = form or self._form
        if schema is not None and form == "json_schema":
            named = {"name": "answer", "strict": True, "schema": dict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None and form == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def most_tokens(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> int:
        """Return a cautious estimate of what one answer may cost, to keep a budget before it is spent."""
        prompt = sum(estimated_tokens(message["content"]) + 8 for message in messages)
        return prompt + self.table.max_tokens + (estimated_tokens(json.dumps(schema)) if schema else 0)

    def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        permit: Callable[[], None] | None = None,
    ) -> Answer:
        """Ask and return the answer; busy and failing endpoints are asked again.

        Args:
            messages: the conversation.
            schema: the JSON Schema that the answer shall have; the answer's text is not checked against it.
            permit: called before every request that is sent, also a further attempt; what it raises ends the
                asking (a budget that is spent).

        Raises:
            ChatError: no answer came.
        """
        while True:
            form: Form = self._form if schema is not None else "text"
            request = json.dumps(self.body(messages, schema=schema, form=form), ensure_ascii=False)
            try:
                return self._asked(request, form, permit)
            except _FormRefusedError as refusal:
                weaker = _FORMS[min(_FORMS.index(form) + 1, len(_FORMS) - 1)]
                if weaker == form:
                    raise ChatError(refusal.reason, request=request, final=True) from refusal
                with self._lock:
                    self._form = _FORMS[max(_FORMS.index(self._form), _FORMS.index(weaker))]

    def _asked(self, request: str, form: Form, permit: Callable[[], None] | None) -> Answer:
        pause = self.pauses
        for attempt in range(self.table.retries + 1):
            if permit is not None:
                permit()
            begun = time.perf_counter()
            try:
                value = self._post(request)
            except urllib.error.HTTPError as error:
                with error:
                    told = _told(error)
                    if error.code in _REFUSES_FORM and form != "text":
                        raise _FormRefusedError(told) from error
                    if error.code not in _TRY_AGAIN or attempt == self.table.retries:
                        final = error.code in {401, 403, 404, 405}
                        raise ChatError(told, request=request, final=final) from error
                    wait = _asked_to_wait(error.headers)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if attempt == self.table.retries:
                    raise ChatError(self._unreached(error), request=request) from error
                wait = None
            else:
                return _answer(value, request, form, 1000.0 * (time.perf_counter() - begun))
            jitter = 0.5 + random.random()  # noqa: S311 - so that waiting clients do not return together
            time.sleep(min(_LONGEST_WAIT_S, pause * jitter if wait is None else max(wait, 0.0)))
            pause *= 2.0
        raise AssertionError("every attempt either answers or raises")

    def _post(self, request: str) -> object:
        table = self.table
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "assay"}
        key = os.environ.get(table.key_env, "") if table.key_env else ""
        if key:
            headers["Authorization"] = f"Bearer {key.strip()}"
        url = f"{table.base_url.rstrip('/')}/chat/completions"
        asked = urllib.request.Request(url, request.encode(), headers)  # noqa: S310 - http and https only
        with _OPENER.open(asked, timeout=table.timeout_s) as response:
            data = cast("http.client.HTTPResponse", response).read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"the answer is larger than {_MOST_BYTES // 2**20} MiB")
        return json.loads(data)

    def _unreached(self, error: Exception) -> str:
        if isinstance(error, json.JSONDecodeError):
            return f"{self.table.base_url} answers no JSON ({error})"
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            return f"no answer within {self.table.timeout_s:g} s from {self.table.base_url}"
        return f"{self.table.base_url}: {str(reason) or type(reason).__name__}"


def estimated_tokens(text: str) -> int:
    """Return how many tokens a text has at most, by its length; scripts without an alphabet have more.

    >>> estimated_tokens("Refunds take 14 days."), estimated_tokens("退款需要")
    (7, 8)
    """
    plain = sum(sign.isascii() for sign in text)
    return ceil(plain / _SIGNS_PER_TOKEN) + 2 * (len(text) - plain)


class _FormRefusedError(Exception):
    """The endpoint does not take the way in which JSON was asked for."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another address."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Headers, newurl: str
    ) -> urllib.request.Request | None:
        del req, fp, code, msg, headers, newurl


_OPENER = urllib.request.build_opener(_NoRedirects)


def _answer(value: object, request: str, form: Form, elapsed_ms: float) -> Answer:
    try:
        completion = msgspec.convert(value, _Completion)
    except msgspec.ValidationError as error:
        raise ChatError(f"the endpoint answers no chat completion ({error})", request=request) from error
    if not completion.choices:
        raise ChatError("the endpoint answers without a choice", request=request)
    choice = completion.choices[0]
    text = choice.message.content or ""
    usage = completion.usage
    counted = usage is not None and usage.prompt_tokens + usage.completion_tokens > 0
    return Answer(
        text=text,
        request=request,
        prompt_tokens=usage.prompt_tokens if usage and counted else estimated_tokens(request),
        completion_tokens=usage.completion_tokens if usage and counted else estimated_tokens(text),
        counted=counted,
        form=form,
        finish_reason=choice.finish_reason,
        elapsed_ms=elapsed_ms,
    )


class _Said(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Said
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


def _told(error: urllib.error.HTTPError) -> str:
    """Return what an endpoint said of its failure, in one line."""
    try:
        said = " ".join(error.read(4 * _SHOWN).decode(errors="replace").split())
    except (OSError, http.client.HTTPException):
        said = ""
    return f"HTTP {error.code} {error.reason}" + (f": {said[:_SHOWN]}" if said else "")


def _asked_to_wait(headers: Headers) -> float | None:
    """Return the seconds that ``Retry-After`` names; None when it names none."""
    value = headers.get("Retry-After")
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(value).timestamp() - time.time()
    except ValueError:
        return None
