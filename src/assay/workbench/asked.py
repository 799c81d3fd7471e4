"""What a request says: who asks, what was sent, and what of it is missing."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from assay.flows.golden_labels import login_name
from assay.model.errors import InputError
from assay.workbench.bench import Workbench
from assay.workbench.guard import Visit

NAME = "assay-name"
_MOST_NAME = 60
Sent = Mapping[str, Any]
Handler = Callable[[Request, Sent], Response]


def bench_of(request: Request) -> Workbench:
    """Return the workbench that the application was made for."""
    bench = request.app.state.bench
    assert isinstance(bench, Workbench)
    return bench


def visit_of(request: Request) -> Visit:
    """Return what the guard knows of who asks."""
    visit = request.scope["visit"]
    assert isinstance(visit, Visit)
    return visit


def clean_name(name: str) -> str:
    r"""Return a name that can stand beside a label: no signs that hide, one line, at most 60 characters.

    >>> clean_name("  Ada\u202e  Lovelace\n")
    'Ada Lovelace'
    """
    kept = "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in name)
    return " ".join(kept.split())[:_MOST_NAME].strip()


def who(request: Request) -> str:
    """Return who asks: the name of the cookie; on loopback the login name; else nobody, as ``""``."""
    name = clean_name(unquote(request.cookies.get(NAME, "")))
    if name:
        return name
    return "" if visit_of(request).needs_name else login_name()


def name_cookie(name: str) -> str:
    """Return a name as a cookie can hold it."""
    return quote(name, safe="")


def takes(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint of a function of the request and of what was sent, as JSON or as a form."""

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        if request.headers.get("content-type", "").startswith("application/json"):
            sent = _json(body)
        else:
            sent = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        return await run_in_threadpool(handler, request, sent)

    return endpoint


def text_of(sent: Sent, key: str, *, most: int = 4000, default: str | None = None) -> str:
    """Return a text that was sent.

    Raises:
        InputError: it is missing, too long, or no text.
    """
    value = sent.get(key, default)
    if not isinstance(value, str):
        raise InputError(f"{key}: a text is expected")
    if len(value) > most:
        raise InputError(f"{key}: it should have at most {most} characters, not {len(value)}")
    return value


def number_of(sent: Sent, key: str) -> int:
    """Return a whole number that was sent, 0 or more.

    Raises:
        InputError: it is missing, or no such number.
    """
    value = sent.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{key}: a number is expected")
    return value


def id_of(sent: Sent, key: str = "id") -> str:
    """Return the id that a page gave to its row: 32 hex digits, so that a row sent twice is kept once.

    Raises:
        InputError: it is no such id.
    """
    value = text_of(sent, key, most=64)
    if len(value) != 32 or not set(value) <= set("0123456789abcdef"):
        raise InputError(f"{key}: 32 hex digits are expected")
    return value


def _json(body: bytes) -> Sent:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("the body of the request is not JSON", fix="send one JSON object") from error
    if not isinstance(value, dict):
        raise InputError("the body of the request: a JSON object is expected")
    return value  # pyright: ignore[reportUnknownVariableType] - JSON objects have texts as keys
