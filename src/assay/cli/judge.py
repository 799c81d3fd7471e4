"""``assay judge``: the group of verbs around automatic judges; each is loaded when it is called."""

from __future__ import annotations

from cyclopts import App

VERBS: dict[str, tuple[str, str]] = {
    "run": ("judge_run", "let a language model grade the candidates of pools"),
    "report": ("judge_report", "hold a judge against people: do its labels count?"),
}
"""Verb -> its file under ``assay.cli``, and one line for the help."""

app = App(name="assay judge", help="Automatic judges, validated before they are believed.", version_flags=())
for _verb, (_module, _summary) in VERBS.items():
    app.command(f"assay.cli.{_module}:command", name=_verb, help=_summary)
