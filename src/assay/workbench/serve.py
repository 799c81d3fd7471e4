"""``assay ui``: the server itself."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

from assay.model.errors import InputError, MissingExtraError
from assay.workbench.access import access_for


def serve(
    path: Path,
    *,
    host: str,
    port: int,
    names: tuple[str, ...] = (),
    tell: Callable[[str], None],
) -> None:
    """Serve the workbench of a project until it is interrupted.

    Args:
        path: the folder of an ``assay.toml``, or the file itself.
        host: the address to bind to; any but loopback asks for a token, which is told once.
        port: the port; 0 takes a free one.
        names: further names that people reach this machine by.
        tell: says to the person at the terminal where the workbench is.

    Raises:
        InputError: the project cannot be read, or the address cannot be taken.
        MissingExtraError: Starlette, uvicorn or SQLAlchemy is not installed.
    """
    try:
        import uvicorn  # noqa: PLC0415 - an optional package

        from assay.workbench.app import make_app  # noqa: PLC0415 - likewise
        from assay.workbench.bench import Workbench  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        raise MissingExtraError("the workbench", package=error.name or "starlette", extra="ui") from error
    access = access_for(host, names)
    bench = Workbench(path)
    config = uvicorn.Config(
        make_app(bench, access),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=30,
        limit_concurrency=200,
        h11_max_incomplete_event_size=32 * 1024,
    )
    try:
        listener = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        bench.close()
        why = f"{host}:{port} cannot be taken ({error.strerror or error})"
        raise InputError(why, fix="another --port, or --port 0") from error
    bound = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{bound}/"
    tell(address)
    if access.token is not None:
        tell(f"others need this token (it is not shown again): {access.token}")
        tell(f"or this link: {address}enter?token={access.token}")
    bench.jobs.start("assay check", bench.check_now)
    uvicorn.Server(config).run(sockets=[listener])
