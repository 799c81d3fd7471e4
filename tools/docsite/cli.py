"""The page of every command, from the commands' own signatures and docstrings."""

from __future__ import annotations

import re
from importlib import import_module

from cyclopts import App

from assay.cli.commands import COMMANDS
from docsite.words import MARK, plain


def pages() -> dict[str, str]:
    """Return the pages: an overview, and one a verb."""
    return {"reference/cli/index.md": _overview()} | {
        f"reference/cli/{verb}.md": _page(verb) for verb in COMMANDS
    }


def app_of(verb: str) -> App:
    """Return the application of one verb, as the command line makes it."""
    module = import_module(f"assay.cli.{COMMANDS[verb].module}")
    app = getattr(module, "app", None)
    return app or App(name=f"assay {verb}", default_command=module.command, version_flags=())


def command_names() -> list[str]:
    """Return every command as it is typed: ``run``, ``golden draft``."""
    names: list[str] = []
    for verb in COMMANDS:
        app = app_of(verb)
        inner = [name for name in app if not name.startswith("-")]
        names += [f"{verb} {name}" for name in inner] or [verb]
    return names


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
    app = app_of(verb)
    text = app.generate_docs(output_format="markdown", recursive=True)
    # Options name no default where it is the empty one, and a table of contents stands beside the page.
    text = re.sub(r"## Table of Contents\n\n(?:[ ]+- .*\n)+", "", text)
    text = text.replace(f"assay {verb} {verb} ", f"assay {verb} ")
    for empty in ("()", "False", "None"):
        text = text.replace(f" *[default: {empty}]*", "")
    return MARK + plain(text) + "\n"
