"""A server of the tests that speaks Redis's protocol and the few commands that the connector uses.

``FT.SEARCH`` is answered in the form of its documentation (RESP2): the number of hits, then for each its key,
with ``WITHSCORES`` its score, and its fields as a flat list.
"""
# ruff: noqa: PLR0911 - a command is a return

from __future__ import annotations

import re
import socketserver
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from conformance.stand_in import RefusedError, StandIn, demand

PREFIX = "assay_chunks:"


class Redis(StandIn):
    """Hashes and one index over them."""

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        raise NotImplementedError("Redis is not asked over HTTP")

    def command(self, name: str, given: list[bytes]) -> Any:
        """Answer one command: bytes, a number, a list, or a string that is a status."""
        told = [part.decode("utf-8", "replace") for part in given]
        match name:
            case "FT._LIST":
                return [] if self.made is None else [b"assay_chunks"]
            case "FT.CREATE":
                demand(told[:6] == ["assay_chunks", "ON", "HASH", "PREFIX", "1", PREFIX], f"{told}")
                demand(told[6:] == [
                    "SCHEMA", "searched", "TEXT", "embedding", "VECTOR", "FLAT", "6",
                    "TYPE", "FLOAT32", "DIM", told[16], "DISTANCE_METRIC", "COSINE",
                ], f"{told}")  # fmt: skip
                self.made = {"dim": int(told[16])}
                return "OK"
            case "HSET":
                fields: dict[str, Any] = dict(zip(told[1::2], told[2::2], strict=True))
                raw = given[told.index("embedding") + 1]
                fields["embedding"] = list(struct.unpack(f"<{len(raw) // 4}f", raw))
                self.put(told[0].removeprefix(PREFIX), fields)
                return len(fields)
            case "DEL":
                return sum(self.rows.pop(key.removeprefix(PREFIX), None) is not None for key in told)
            case "SCAN":
                return [b"0", [f"{PREFIX}{key}".encode() for key in self.rows]]
            case "FT.SEARCH":
                return self.search(told, given)
            case _:
                return "OK"  # MULTI, EXEC, SELECT, CLIENT ...

    def search(self, told: list[str], given: list[bytes]) -> list[Any]:
        """Answer a search."""
        if told[0] != "assay_chunks":
            raise RefusedError(f"{told[0]}: no such index")
        n = int(told[told.index("LIMIT") + 2])
        first = told.index("RETURN") + 2
        columns = told[first : first + int(told[first - 1])]
        if "KNN" in told[1]:
            demand(told[1] == "*=>[KNN $k @embedding $vector AS vector_distance]", told[1])
            raw = given[told.index("vector") + 1]
            vector = struct.unpack(f"<{len(raw) // 4}f", raw)
            ranked = [(1 - score, key) for score, key in self.near(vector, n)]
        else:
            words = re.fullmatch(r"@searched:\(([\w|]+)\)", told[1])
            demand(words is not None, f"Syntax error at offset 10 near {told[1][:20]}")
            assert words is not None
            ranked = self.worded(words[1].replace("|", " "), n)
        reply: list[Any] = [len(ranked)]
        for score, key in ranked:
            reply.append(f"{PREFIX}{key}".encode())
            if "WITHSCORES" in told:
                reply.append(repr(score).encode())
            row = {**self.rows[key], "vector_distance": repr(score)}
            reply.append([part.encode() for name in columns for part in (name, str(row[name]))])
        return reply


def encoded(value: Any) -> bytes:
    """Return a value in RESP2."""
    if isinstance(value, list):
        parts = [encoded(part) for part in value]  # type: ignore[reportUnknownVariableType] # any values
        return b"*%d\r\n" % len(parts) + b"".join(parts)
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, bytes):
        return b"$%d\r\n%s\r\n" % (len(value), value)
    return f"+{value}\r\n".encode()


@contextmanager
def serving(engine: Redis) -> Generator[str]:
    """Serve; give the URL."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            queued: list[Any] | None = None
            while (command := read_command(cast("BinaryIO", self.rfile))) is not None:
                name = command[0].decode().upper()
                try:
                    answer = encoded(engine.command(name, command[1:]))
                except (RefusedError, ValueError) as error:
                    answer = f"-ERR {error}\r\n".encode()
                if name == "MULTI":
                    queued = []
                elif name == "EXEC":
                    done, queued = queued or [], None
                    answer = b"*%d\r\n" % len(done) + b"".join(done)
                elif queued is not None:
                    queued.append(answer)
                    answer = b"+QUEUED\r\n"
                self.wfile.write(answer)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"redis://127.0.0.1:{server.server_address[1]}/0"
        finally:
            server.shutdown()
            thread.join()


def read_command(stream: BinaryIO) -> list[bytes] | None:
    """Read an array of bulk strings; None at the end."""
    head = stream.readline()
    if not head:
        return None
    parts: list[bytes] = []
    for _ in range(int(head[1:])):
        length = int(stream.readline()[1:])
        parts.append(stream.read(length))
        stream.read(2)
    return parts
