"""``assay judge``: the verbs around automatic judges; each is loaded when it is called."""

from __future__ import annotations

from assay.cli.commands import Verb

VERBS: dict[str, Verb] = {
    "run": Verb("judge_run", "let a language model grade the candidates of pools"),
    "report": Verb("judge_report", "hold a judge against people: do its labels count?"),
}
"""Verb -> its file under ``assay.cli``, and one line for the help, in the order of display."""
