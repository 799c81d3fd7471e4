"""``assay golden``: the group of verbs that build and keep a golden set; each is loaded when it is called.

A verb is one file that defines ``command``, and one line here.
"""

from __future__ import annotations

from cyclopts import App

VERBS: dict[str, tuple[str, str]] = {
    "draft": ("golden_draft", "draft questions with anchors from the documents; --review reads them"),
    "import-log": ("golden_import_log", "take a stratified sample of the queries that people really asked"),
    "pool": ("golden_pool", "gather candidates of several retrievers for people to judge blind"),
    "split": ("golden_split", "split the set into a dev and a held-out part that do not know each other"),
    "export": ("golden_export", "write golden.jsonl from the label store, sorted and stable"),
    "import": ("golden_import", "bring hand edits of golden.jsonl back into the label store"),
    "drift": ("golden_drift", "find anchors that moved, changed or vanished with their documents"),
    "repair": ("golden_repair", "mend offsets and quotes where only the presentation differs"),
}
"""Verb -> its file under ``assay.cli``, and one line for the help."""

app = App(name="assay golden", help="Build and keep a golden set.", version_flags=())
for _verb, (_module, _summary) in VERBS.items():
    app.command(f"assay.cli.{_module}:command", name=_verb, help=_summary)
