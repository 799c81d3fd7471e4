"""The page of every command, from the commands' own signatures and docstrings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module

from cyclopts import App

from assay.cli.commands import COMMANDS, Verb
from docsite.words import MARK, plain


def pages() -> dict[str, str]:
    """Return the pages: an overview, and one a verb."""
    return {"reference/cli/index.md": _overview()} | {
        f"reference/cli/{verb}.md": _page(verb) for verb in COMMANDS
    }


def app_of(name: str, module: str) -> App:
    """Return the application of one command, as the command line makes it."""
    command = import_module(f"assay.cli.{module}").command
    return App(name=f"assay {name}", default_command=command, version_flags=())


def verbs_of(verb: str) -> Mapping[str, Verb]:
    """Return the verbs of a group, such as ``golden``; nothing for a plain command."""
    return getattr(import_module(f"assay.cli.{COMMANDS[verb].module}"), "VERBS", {})


def command_names() -> list[str]:
    """Return every command as it is typed: ``run``, ``golden draft``."""
    return [name for verb in COMMANDS for name in ([f"{verb} {inner}" for inner in verbs_of(verb)] or [verb])]


def _overview() -> str:
    lines = [MARK, "# The command line\n", "`assay COMMAND --help` prints what these pages say. "]
    lines.append("Exit codes: 0 fine, 1 a gate or a check failed, 2 the input or the call is wrong.\n")
    for chapter in dict.fromkeys(command.chapter for command in COMMANDS.values()):
        lines += [f"\n## {chapter}\n", "| command | what it does |", "|---|---|"]
        lines += [
            f"| [`assay {verb}`]({verb}.md) | {command.summary} |"
            for verb, command in COMMANDS.items()
            if command.chapter == chapter
        ]
    lines += [
        "\n## Everywhere\n",
        "| option | what it does |",
        "|---|---|",
        "| `--help`, `-h` | what there is |",
        "| `--version`, `-V` | the version; with `--verbose`, what a bug report needs |",
    ]
    return "\n".join(lines) + "\n"


def _page(verb: str) -> str:
    verbs = verbs_of(verb)
    if not verbs:
        return MARK + _help(verb, COMMANDS[verb].module, 1)
    head = f"# assay {verb}\n\n{COMMANDS[verb].summary}\n\n"
    parts = [_help(f"{verb} {name}", inner.module, 2) for name, inner in verbs.items()]
    return MARK + head + "\n".join(parts)


def _help(name: str, module: str, level: int) -> str:
    text = app_of(name, module).generate_docs(output_format="markdown", heading_level=level)
    # The name stands twice in the usage, and options name no default where it is the empty one.
    text = text.replace(f"assay {name} {name.rsplit(maxsplit=1)[-1]} ", f"assay {name} ")
    text = re.sub(rf"(?m)^assay {name} {name} ", f"assay {name} ", text)
    for empty in ("()", "False", "None"):
        text = text.replace(f" *[default: {empty}]*", "")
    return plain(text) + "\n"
