"""The page of errors: those that people meet, made on purpose, and every message that the source holds."""

from __future__ import annotations

import shlex
from functools import cache

from docsite.error_cases import CASES, Case, outcome
from docsite.error_sites import error_sites
from docsite.words import MARK, table

ROOMS = {
    "building": "Building a golden set",
    "cli": "The command line",
    "comparison": "Comparing and gates",
    "connectors": "Connectors",
    "corpus": "Documents and chunkers",
    "diagnosis": "Diagnosis",
    "flows": "Commands",
    "matching": "Matching",
    "measures": "Measures",
    "model": "Nouns and texts",
    "pytest_plugin": "The pytest plugin",
    "report": "Reports",
    "retrieval": "The reference pipeline and its models",
    "stats": "Statistics",
    "store": "Files and stored runs",
    "workbench": "The workbench",
}


@cache
def pages() -> dict[str, str]:
    """Return the one page."""
    parts = [MARK, "# Errors\n\n", _INTRODUCTION]
    for chapter, cases in CASES.items():
        parts.append(f"## {chapter}\n\n")
        parts += [_shown(case) for case in cases]
    parts.append(_EVERY)
    sites = error_sites()
    for room in sorted({site.room for site in sites}, key=lambda room: ROOMS[room]):
        rows = dict.fromkeys((_code(site.told), _code(site.fix or "")) for site in sites if site.room == room)
        parts.append(f"\n### {ROOMS[room]}\n\n")
        parts.append(table(["message", "fix"], [list(row) for row in rows]))
    return {"reference/errors.md": "".join(parts)}


def _shown(case: Case) -> str:
    code, told = outcome(case)
    call = shlex.join(["assay", *case.call])
    return f"### {case.title}\n\n```text\n$ {call}\n{told}\n```\n\nExit code {code}.\n\n"


def _code(text: str) -> str:
    return f"`` {' '.join(text.split())} ``" if text.strip() else ""


_INTRODUCTION = """\
An error says where, what is wrong with the value, and the fix. All faults of a file come at once. Exit codes: 0 fine, 1 a gate
or a check failed, 2 the input or the call is wrong. A mistake never shows a traceback; if one does, that is our
error: `assay --version --verbose` prints what a report of it needs.

Each error below was made when this page was built, and is made again by a test.

"""
_EVERY = """## Every message

What depends on the case is written ‹so›, or … where it has no short name; of texts divided by / one is told. A message
without a fix either says what is right (‹k› must be at least 1, not 0), or is the reason inside of another error, which has
the fix. The tests make each of these, and fail when one of them is not made.
"""
