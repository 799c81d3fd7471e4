"""A stand-in for a language model: a server on loopback that speaks OpenAI's chat completions.

What it answers is decided by a function of the request's body, so that a test can make it good, bad, busy
or broken.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast


@dataclass(frozen=True, kw_only=True)
class Says:
    """One response: a chat completion with this content, or an error with this status."""

    content: str | None = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    raw: bytes | None = None
    """Sent as it is, in place of a completion."""
    usage: bool = True
    finish_reason: str = "stop"


Answering = Callable[[dict[str, Any]], Says]


@dataclass(kw_only=True)
class StandIn:
    """A running server and what it was asked."""

    base_url: str
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: list[str | None] = field(default_factory=list[str | None])
    paths: list[str] = field(default_factory=list[str])


def last_words(body: Mapping[str, Any]) -> str:
    """Return the content of the last message."""
    return str(body["messages"][-1]["content"])


@contextmanager
def stand_in(answering: Answering) -> Generator[StandIn]:
    """Run the server while the block lasts."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = cast("dict[str, Any]", json.loads(self.rfile.read(length)))
            with lock:
                model.bodies.append(body)
                model.keys.append(self.headers.get("Authorization"))
                model.paths.append(self.path)
            says = answering(body)
            data = says.raw if says.raw is not None else _completion(body, says)
            self.send_response(says.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in says.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's own name
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = StandIn(base_url=f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _completion(body: Mapping[str, Any], says: Says) -> bytes:
    if says.status != 200:
        return json.dumps({"error": {"message": says.content, "type": "stand_in"}}).encode()
    prompt = sum(len(message["content"].split()) for message in body["messages"])
    done = len((says.content or "").split())
    completion: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": says.content},
                "finish_reason": says.finish_reason,
            }
        ],
    }
    if says.usage:
        completion["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": done,
            "total_tokens": prompt + done,
        }
    return json.dumps(completion).encode()
