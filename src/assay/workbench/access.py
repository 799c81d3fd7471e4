"""Who may come in: names of the host, the token of an address that others can reach, marks of a session."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass, field

_SESSION = re.compile(r"[0-9a-f]{32}")
_PORT = re.compile(r":\d{1,5}\Z")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a request must bring."""

    token: str | None = field(default=None, repr=False)
    """None: bound to loopback, nobody else can ask."""
    hosts: frozenset[str] = LOOPBACK
    """Names that may stand in ``Host``, without the port; any other is somebody's name for this address."""
    any_address: bool = False
    """Whether every plain IP address may stand there too: the server listens on all of them."""
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    """Signs cookies and form tokens; it lives as long as the process."""

    def knows_host(self, header: str) -> bool:
        """Return whether a ``Host`` header names this server: names that were rebound to it stay out."""
        name = _PORT.sub("", header.strip().lower())
        if name in self.hosts:
            return True
        if not self.any_address:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def is_token(self, offered: str) -> bool:
        """Return whether the token is right; the time that it takes says nothing."""
        return self.token is not None and hmac.compare_digest(offered.encode(), self.token.encode())

    def pass_of(self, session: str) -> str:
        """Return the cookie that a session gets for the right token."""
        return self._sign("pass", session)

    def may_enter(self, session: str, offered: str) -> bool:
        """Return whether a session has shown the token, or needs none."""
        return self.token is None or hmac.compare_digest(offered.encode(), self.pass_of(session).encode())

    def form_token(self, session: str) -> str:
        """Return what every form of a session carries."""
        return self._sign("form", session)

    def is_form_token(self, session: str, offered: str) -> bool:
        return hmac.compare_digest(offered.encode(), self.form_token(session).encode())

    def _sign(self, what: str, session: str) -> str:
        return hmac.new(self.secret, f"{what} {session}".encode(), hashlib.sha256).hexdigest()


def access_for(host: str, names: tuple[str, ...] = ()) -> Access:
    """Return what an address asks for: nothing on loopback, a new token wherever others can come from.

    Args:
        host: the address that the server binds to.
        names: further names that people reach it by: on loopback through a proxy, so a token is asked for.
    """
    more = frozenset(name.lower() for name in names)
    if is_loopback(host):
        return Access(token=_new_token() if more else None, hosts=LOOPBACK | more)
    shown = f"[{host}]" if ":" in host else host
    own = frozenset({shown.lower(), socket.gethostname().lower(), socket.getfqdn().lower()})
    return Access(
        token=_new_token(),
        hosts=LOOPBACK | own | more,
        any_address=host in {"0.0.0.0", "::"},  # noqa: S104 - it is asked for, and then needs the token
    )


def _new_token() -> str:
    return secrets.token_urlsafe(24)


def new_session() -> str:
    """Return the mark of a new session: 32 hex digits."""
    return secrets.token_hex(16)


def is_session(mark: str) -> bool:
    """Return whether a cookie can be a mark that this program made.

    >>> is_session("0" * 32), is_session("../etc/passwd")
    (True, False)
    """
    return _SESSION.fullmatch(mark) is not None
