"""The screen: results go to standard output, progress and remarks to standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

LEAST_WIDTH = 100
"""Tables are laid out for at least this many columns when the output is not a terminal."""


class Screen(Console):
    """A console that says when its reader has gone, as every other stream does."""

    def on_broken_pipe(self) -> None:
        """Let the one place that ends the command know; Rich's own way ends it with exit code 1."""
        self.quiet = True
        raise BrokenPipeError


def console() -> Console:
    """Return the console of standard output; a pipe gets plain text of a steady width."""
    wide = Screen(highlight=False)
    return wide if wide.is_terminal else Screen(highlight=False, width=max(wide.width, LEAST_WIDTH))


def write(text: str) -> None:
    """Write a text as it is, without markup, wrapping or colour."""
    sys.stdout.write(text)


@contextmanager
def progress() -> Generator[Callable[[str, int, int], None]]:
    """Show progress on standard error while something long goes on; nothing where nobody looks."""
    screen = Screen(stderr=True)
    if not screen.is_terminal:
        yield _silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=of)
            bars.update(tasks[what], completed=done, total=of)

        yield tell


def _silent(what: str, done: int, of: int) -> None:
    del what, done, of
