"""What every request passes before a page sees it: host, size, rate, token, origin, form token.

Everything that leaves gets the headers that keep other people's text from running as ours.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from assay.workbench.access import Access, is_session, new_session
from assay.workbench.rates import Rates

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSION, PASS = "assay-session", "assay-pass"
TOKEN_HEADER, TOKEN_FIELD = "x-assay-token", "token"
ENTRANCE = "/enter"
MOST_BYTES = 256 * 1024
_PATIENCE_S = 20.0
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
)
HEADERS = {
    "content-security-policy": "; ".join(_POLICY),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # "no-referrer" would make browsers send "Origin: null" with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What is known of who asks; pages find it in ``request.scope["visit"]``."""

    session: str
    form_token: str
    needs_name: bool
    """Whether others can reach this server, so that the login name says nothing."""


class Guard:
    """The outermost layer of the application.

    Args:
        app: what is guarded.
        access: what a request must bring.
        rates: how many requests an address may send.
        entries: how many tokens an address may try.
    """

    def __init__(
        self, app: ASGIApp, access: Access, rates: Rates | None = None, entries: Rates | None = None
    ) -> None:
        self._app = app
        self._access = access
        self._rates = rates or Rates(60.0, 600.0)
        self._entries = entries or Rates(0.2, 10.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        cookies = _cookies(Headers(scope=scope).getlist("cookie"))
        known = cookies.get(SESSION, "")
        session = known if is_session(known) else new_session()
        headed = _Headed(send, new_cookie=None if session == known else session)
        try:
            body = await self._body(scope, receive)
        except TimeoutError:
            await _answer(PlainTextResponse("the request took too long", 408), scope, receive, headed)
            return
        refusal = self._refusal(scope, body, session, cookies)
        if refusal is not None:
            await _answer(refusal, scope, receive, headed)
            return
        scope["visit"] = Visit(
            session=session,
            form_token=self._access.form_token(session),
            needs_name=self._access.token is not None,
        )
        await self._app(scope, _Replayed(body or b"", receive), headed)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Return the whole body; None where it is larger than any page sends."""
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return None
        body = b""
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > MOST_BYTES:
                    return None
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return body

    def _refusal(
        self, scope: Scope, body: bytes | None, session: str, cookies: dict[str, str]
    ) -> Response | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.knows_host(hosts[0]):
            return PlainTextResponse("this server does not go by that name", 421)
        if body is None:
            return PlainTextResponse(f"a request may have {MOST_BYTES} bytes", 413)
        client = scope.get("client")
        address = client[0] if client else ""
        path, method = scope["path"], scope["method"]
        changes = method not in {"GET", "HEAD"}
        tries = path == ENTRANCE and (changes or bool(scope["query_string"]))
        wait = max(self._rates.take(address), self._entries.take(address) if tries else 0.0)
        if wait:
            return PlainTextResponse("too many requests", 429, {"retry-after": str(int(wait) + 1)})
        entered = self._access.may_enter(session, cookies.get(PASS, ""))
        if not entered and path != ENTRANCE and not path.startswith("/static/"):
            if changes or _wants_json(headers):
                return JSONResponse({"error": "the token is missing: open the page again"}, 401)
            return RedirectResponse(ENTRANCE, 303)
        return self._forged(headers, body, session) if changes else None

    def _forged(self, headers: Headers, body: bytes, session: str) -> Response | None:
        """Return why a request that changes something is not from a page of ours; None when it is."""
        origin = headers.get("origin")
        # The name and the port decide: before us there may be a proxy that speaks TLS.
        own = {f"{scheme}://{headers['host']}".lower() for scheme in ("http", "https")}
        if origin is None:
            if headers.get("sec-fetch-site") != "same-origin":
                return _refused("the request does not say where it comes from", 403)
        elif origin.lower() not in own:
            return _refused("the request comes from another page", 403)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in {_JSON, _FORM}:
            return _refused("only JSON and plain forms are read", 415)
        offered = headers.get(TOKEN_HEADER, "")
        if kind == _FORM and not offered:
            offered = dict(parse_qsl(body.decode("utf-8", "replace"))).get(TOKEN_FIELD, "")
        if not self._access.is_form_token(session, offered):
            return _refused("the form is not of this session: open the page again", 403, code="token")
        return None


class _Headed:
    """Puts the headers on every answer, and the session's cookie where it is new."""

    def __init__(self, send: Send, *, new_cookie: str | None) -> None:
        self._send = send
        self._new_cookie = new_cookie

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
            if self._new_cookie is not None:
                cookie = f"{SESSION}={self._new_cookie}; Path=/; HttpOnly; SameSite=Lax"
                headers.append("set-cookie", cookie)
        await self._send(message)


class _Replayed:
    """Gives a body that was read already, then whatever comes after it."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive()


async def _answer(response: Response, scope: Scope, receive: Receive, send: _Headed) -> None:
    await response(scope, receive, send)


def _refused(why: str, status: int, *, code: str = "refused") -> Response:
    return JSONResponse({"error": why, "code": code}, status)


def _wants_json(headers: Headers) -> bool:
    return "text/html" not in headers.get("accept", "")


def _cookies(lines: list[str]) -> dict[str, str]:
    jar: SimpleCookie = SimpleCookie()
    for line in lines:
        try:
            jar.load(line)
        except CookieError:
            continue
    return {name: morsel.value for name, morsel in jar.items()}
