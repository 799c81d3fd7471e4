"""A server of the tests that speaks the documented form of an engine, for engines that cannot be had here.

Each stand-in keeps rows, ranks them by cosine and by common words, and reads and answers requests in the form
of its engine's documentation: what it does not know is an error 400, as it would be there.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from assay.model.words import content_words


class RefusedError(Exception):
    """A request that the engine would refuse."""


@dataclass(kw_only=True)
class StandIn(ABC):
    """Rows, and what is asked of them."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Key -> its fields: chunk_id, doc_id, start, end, text, searched, embedding."""
    asked: list[tuple[str, str, Any]] = field(default_factory=list[tuple[str, str, Any]])
    """Method, path with its query string, and body of each request."""
    made: dict[str, Any] | None = None
    """What the table was made with."""

    @abstractmethod
    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        """Return status and JSON of an answer (text is sent as it is).

        Raises:
            RefusedError: the request is not in the engine's form.
        """

    def put(self, key: str, fields: dict[str, Any]) -> None:
        demand(self.made is not None, "there is no such table")
        names = {"chunk_id", "doc_id", "start", "end", "text", "searched", "embedding"}
        demand(set(fields) == names, f"fields {sorted(fields)}")
        self.rows[key] = fields

    def near(self, vector: Sequence[float], n: int) -> list[tuple[float, str]]:
        """Return the n nearest rows: cosine and key."""
        asked = np.array(vector)
        scores: list[tuple[float, str]] = []
        for key, row in self.rows.items():
            own = np.array(row["embedding"])
            lengths = float(np.linalg.norm(own) * np.linalg.norm(asked))
            scores.append((float(own @ asked) / lengths if lengths else 0.0, key))
        return sorted(scores, key=lambda pair: (-pair[0], pair[1]))[:n]

    def worded(self, text: str, n: int) -> list[tuple[float, str]]:
        """Return the rows that share words with a text: how many, and key."""
        asked = set(content_words(text))
        scores = [(len(asked & set(content_words(row["searched"]))), key) for key, row in self.rows.items()]
        best = sorted((pair for pair in scores if pair[0]), key=lambda pair: (-pair[0], pair[1]))
        return [(float(score), key) for score, key in best[:n]]

    def fused(self, text: str, vector: Sequence[float], n: int) -> list[tuple[float, str]]:
        """Return the reciprocal rank fusion of both."""
        scores: dict[str, float] = {}
        for ranked in (self.near(vector, n), self.worded(text, n)):
            for rank, (_, key) in enumerate(ranked, start=1):
                scores[key] = scores.get(key, 0.0) + 1 / (60 + rank)
        return sorted(((score, key) for key, score in scores.items()), key=lambda pair: (-pair[0], pair[1]))[
            :n
        ]

    def shown(self, key: str, *without: str) -> dict[str, Any]:
        return {name: value for name, value in self.rows[key].items() if name not in without}


def demand(holds: object, what: str) -> None:
    """Refuse a request."""
    if not holds:
        raise RefusedError(what)


def lines_of(body: str) -> list[Any]:
    return [json.loads(line) for line in body.splitlines() if line.strip()]


@contextmanager
def serving(engine: StandIn) -> Generator[str]:
    """Serve a stand-in; give its address without ``http://``."""

    class Handler(BaseHTTPRequestHandler):
        def reply(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length).decode()
            try:
                body = json.loads(raw) if raw else None
            except ValueError:
                body = raw
            address = urlsplit(self.path)
            engine.asked.append((self.command, self.path, body))
            try:
                status, answer = engine.answer(
                    self.command, address.path, dict(parse_qsl(address.query, keep_blank_values=True)), body
                )
            except (RefusedError, KeyError, TypeError) as error:
                status, answer = 400, {"error": f"{type(error).__name__}: {error}"}
            data = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = reply  # noqa: N815 - the names of http.server

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
