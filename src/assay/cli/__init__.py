"""The command line; one file a command, loaded when it is called.

``assay`` and ``assay --help`` answer from the list in ``commands.py`` alone, so that they cost no more than
starting Python. A command's file defines ``command``, a function whose signature and docstring are
the command's options and help, or ``VERBS``, a group of such files.

A command returns its exit code (None is 0): 0 fine, 1 a gate or check failed, 2 the input or the
call is wrong.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from assay._version import __version__
from assay.cli.commands import COMMANDS, Verb
from assay.model.errors import AssayError, Fault, InputError, nearest


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command ``assay`` and leave with its exit code."""
    code = _run(list(sys.argv[1:] if arguments is None else arguments))
    if arguments is None:
        # The process ends, and all that it holds goes with it: no need to look for cycles among its objects.
        gc.freeze()
    raise SystemExit(code)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; never a traceback for a user's mistake."""
    code = 0
    try:
        code = _guarded(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has gone (`assay show | head`): nothing to say, and nobody to say it to.
        for stream in (sys.stdout, sys.stderr):
            _give_up(stream)
    return code


_run = run
"""Loading the file of ``assay run`` puts a module in the place of the function's name."""


def _guarded(arguments: list[str]) -> int:
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("--help", [])
    try:
        if verb in {"--help", "-h", "help"}:
            print(overview())  # noqa: T201 - the command line speaks through standard output
            return 0
        if verb in {"--version", "-V"}:
            return _print_version(rest)
        return _call(verb, rest)
    except AssayError as error:
        return _complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _complain("stopped", 130)
    except BrokenPipeError:
        raise
    except OSError as error:
        # A full disk, a folder that may not be written, a file in the place of a folder.
        if error.filename is None:
            raise
        fault = Fault(
            where=str(error.filename),
            what=error.strerror or type(error).__name__,
            fix="free the place, or make it readable and writable",
        )
        return _complain(str(fault))


def _give_up(stream: TextIO) -> None:
    """Let a stream whose reader has gone end in nothing, so that leaving Python does not fail on it."""
    try:
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def overview() -> str:
    """Return the text of ``assay --help``."""
    width = max(map(len, COMMANDS))
    lines = [f"assay {__version__}: measure retrieval, see where it fails, prove what mends it.", ""]
    lines += ["Usage: assay COMMAND [OPTIONS]      (assay COMMAND --help tells more)"]
    for chapter in dict.fromkeys(command.chapter for command in COMMANDS.values()):
        lines += ["", chapter]
        lines += [
            f"  {verb:<{width}}  {command.summary}"
            for verb, command in COMMANDS.items()
            if command.chapter == chapter
        ]
    lines += ["", "First steps: assay demo, or assay init FOLDER for your own documents."]
    return "\n".join(lines)


def _group_overview(group: str, verbs: dict[str, Verb]) -> str:
    width = max(map(len, verbs))
    lines = [f"Usage: assay {group} COMMAND [OPTIONS]      (assay {group} COMMAND --help tells more)", ""]
    lines += [f"  {name:<{width}}  {verb.summary}" for name, verb in verbs.items()]
    return "\n".join(lines)


def _unknown(verb: str, known: Sequence[str]) -> InputError:
    close = nearest(verb, known)
    fix = f"did you mean 'assay {close}'?" if close else "'assay --help' lists the commands"
    return InputError(f"there is no command {verb!r}", fix=fix)


def _call(verb: str, rest: list[str]) -> int:
    if verb not in COMMANDS:
        raise _unknown(verb, list(COMMANDS))
    if verb == "score":
        from assay.cli.scored import plain_call  # noqa: PLC0415 - before a reader of options would have loaded

        if plain_call(rest):
            return 0
    from importlib import import_module  # noqa: PLC0415 - only the called command is loaded

    from cyclopts import App, CycloptsError  # noqa: PLC0415

    from assay.cli.screen import Screen  # noqa: PLC0415

    module = import_module(f"assay.cli.{COMMANDS[verb].module}")
    verbs: dict[str, Verb] | None = getattr(module, "VERBS", None)
    if verbs is not None:
        inner, *rest = rest or ["--help"]
        if inner in {"--help", "-h", "help"}:
            print(_group_overview(verb, verbs))  # noqa: T201
            return 0
        if inner not in verbs:
            raise _unknown(f"{verb} {inner}", [f"{verb} {one}" for one in verbs])
        verb = f"{verb} {inner}"
        module = import_module(f"assay.cli.{verbs[inner].module}")
    app = App(name=f"assay {verb}", default_command=module.command, version_flags=(), console=Screen())
    try:
        code = app(rest, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        sentence = " ".join(str(error).split())
        raise InputError(f"assay {verb}: {sentence}", fix=f"assay {verb} --help lists the options") from error
    return code if isinstance(code, int) else 0


def _complain(message: str, code: int = 2) -> int:
    print(f"error: {message}" if code != 130 else message, file=sys.stderr)  # noqa: T201
    return code


def _print_version(rest: list[str]) -> int:
    lines = [f"assay {__version__}"]
    if {"--verbose", "-v"} & set(rest):
        from assay.cli.version import version_lines  # noqa: PLC0415 - only for a bug report

        lines = version_lines()
    print("\n".join(lines))  # noqa: T201
    return 0
