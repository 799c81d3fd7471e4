"""A small search server of its own thread, and what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from assay.model.words import content_words
from conformance.small_corpus import TEXTS


@dataclass(kw_only=True)
class Server:
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    answers: list[tuple[int, dict[str, str], Any]] = field(
        default_factory=list[tuple[int, dict[str, str], Any]]
    )
    """What is answered first, before it searches: status, headers, JSON."""
    delay_s: float = 0.0


def ranked(query: str, k: int) -> list[dict[str, Any]]:
    asked = set(content_words(query))
    scores = {name: len(asked & set(content_words(text))) for name, text in TEXTS.items()}
    best = sorted((name for name in scores if scores[name]), key=lambda name: (-scores[name], name))
    return [
        {"_id": name, "_score": scores[name], "_source": {"file": name, "body": TEXTS[name]}} for name in best
    ][:k]


@contextmanager
def running() -> Generator[Server]:
    """Run a server whose answers have the form of Elasticsearch's."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            state.asked.append(
                {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}
            )
            time.sleep(state.delay_s)
            status, headers, reply = state.answers.pop(0) if state.answers else (200, {}, None)
            if reply is None and status == 200:
                hits = ranked(body["query"], body["size"]) if body else []
                reply = {
                    "token": self.headers.get("Authorization"),
                    "hits": {"hits": hits},
                    "debug": hits[::-1],
                }
            data = reply.encode() if isinstance(reply, str) else json.dumps(reply).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = answer  # noqa: N815 - the names that http.server calls

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
