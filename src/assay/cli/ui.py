"""``assay ui``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from assay.cli.screen import console


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    host: str = "127.0.0.1",
    port: int = 8377,
    name: Annotated[tuple[str, ...], Parameter(negative=())] = (),
) -> None:
    """Open the workbench in the browser: label, review drafts and misses, compare runs.

    It binds to loopback, so that nobody else can reach it. With any other --host it asks for a token, which
    is printed once. Stop it with Ctrl-C; whatever the pages show as saved is kept.

    Args:
        project: the folder of an assay.toml, or the file itself.
        host: the address to bind to, as in --host 0.0.0.0 for a team.
        port: the port; 0 takes a free one.
        name: a further name that people reach this machine by, as in --name labels.example.org; may be
            repeated.
    """
    from assay.workbench.serve import serve  # noqa: PLC0415 - starlette is loaded by this command alone

    screen = console()

    def tell(line: str) -> None:
        screen.print(Text(line), soft_wrap=True)
        screen.file.flush()  # who reads a pipe waits for the address too

    tell("The workbench is open (Ctrl-C stops it):")
    serve(project, host=host, port=port, names=name, tell=tell)
