"""Chroma's server: the real thing."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.engine_kit import EngineKit


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    folder = tmp_path_factory.mktemp("chroma")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    server = subprocess.Popen(
        [program, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://127.0.0.1:{port}/api/v2/heartbeat")
        yield f"chroma+http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait(heartbeat: str) -> None:
    for _ in range(300):
        try:
            if httpx.get(heartbeat).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise TimeoutError("Chroma's server does not start")


class TestChromaServer(EngineKit):
    __test__ = True

    @pytest.fixture
    def settings(self, url: str) -> dict[str, Any]:
        return {"type": "chroma", "url": url}
