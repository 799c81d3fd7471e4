"""A server on this machine that speaks the protocols of embedding, reranking and chat endpoints."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

Body = dict[str, Any]


@dataclass
class Answer:
    """What the server says."""

    body: object
    """JSON, or a text that is sent as it is."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait_s: float = 0.0


@dataclass
class Heard:
    """What the server was asked."""

    path: str
    body: Body
    key: str | None


@dataclass
class StandIn:
    """A running server."""

    url: str
    heard: list[Heard] = field(default_factory=list[Heard])


@contextmanager
def serving(answer: Callable[[str, Body, int], Answer]) -> Generator[StandIn]:
    """Run a server; ``answer`` is given path, body and how many calls came before."""
    server_of: list[StandIn] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            stand_in = server_of[0]
            body = cast("Body", json.loads(self.rfile.read(int(self.headers["content-length"]))))
            said = answer(self.path, body, len(stand_in.heard))
            stand_in.heard.append(Heard(path=self.path, body=body, key=self.headers.get("authorization")))
            time.sleep(said.wait_s)
            data = said.body.encode() if isinstance(said.body, str) else json.dumps(said.body).encode()
            try:
                self.send_response(said.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client did not wait

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base's
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server_of.append(StandIn(url=f"http://127.0.0.1:{server.server_address[1]}/v1"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server_of[0]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def no_wait(seconds: float) -> None:
    """Wait for nothing."""
    del seconds


def always(body: object) -> Callable[[str, Body, int], Answer]:
    """Give one answer, whatever is asked."""

    def answer(path: str, asked: Body, call: int) -> Answer:
        del path, asked, call
        return Answer(body=body)

    return answer


def embeddings(texts: list[str], *, dimensions: int = 3) -> Body:
    """Return a good answer of ``/v1/embeddings``: a vector from a text's length and first letters.

    The rows come in reverse order, as a server may send them.
    """
    rows = [
        {
            "object": "embedding",
            "index": place,
            "embedding": [float(len(text)), float(ord(text[0])), float(ord(text[-1]))][:dimensions],
        }
        for place, text in enumerate(texts)
    ]
    tokens = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": "stand-in", "data": rows[::-1], "usage": usage}


def completion(content: str) -> Body:
    """Return an answer of ``/v1/chat/completions`` with that reply."""
    return {
        "id": "c1",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        ],
        "usage": {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100},
    }
