"""A workbench that is really served, on a port of its own, for a real browser."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from assay.workbench.access import Access
from assay.workbench.app import make_app
from assay.workbench.bench import Workbench


@dataclass
class Served:
    """A server that can be stopped and started again on the same port, as after a crash."""

    folder: Path
    access: Access = field(default_factory=Access)
    port: int = 0
    bench: Workbench | None = None
    _server: uvicorn.Server | None = None
    _thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve, with a new secret each time."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self.bench = Workbench(self.folder)
        app = make_app(self.bench, Access(token=self.access.token))
        config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        until = time.monotonic() + 20
        while not self._server.started:
            if time.monotonic() > until:
                raise TimeoutError("the server did not start")
            time.sleep(0.01)

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(20)
            self._server = None


@contextmanager
def served(folder: Path, access: Access | None = None) -> Generator[Served]:
    """Serve the workbench of a project for as long as the block lasts."""
    made = Served(folder, access or Access())
    made.start()
    try:
        yield made
    finally:
        made.stop()
