"""``assay golden``: the verbs that build and keep a golden set; each is loaded when it is called.

A verb is one file that defines ``command``, and one line here.
"""

from __future__ import annotations

from assay.cli.commands import Verb

VERBS: dict[str, Verb] = {
    "draft": Verb("golden_draft", "draft questions with anchors from the documents; --review reads them"),
    "import-log": Verb("golden_import_log", "take a stratified sample of the queries that people asked"),
    "pool": Verb("golden_pool", "gather candidates of several retrievers for people to judge blind"),
    "split": Verb("golden_split", "split the set into a dev and a held-out part that do not know each other"),
    "export": Verb("golden_export", "write golden.jsonl from the label store, sorted and stable"),
    "import": Verb("golden_import", "bring hand edits of golden.jsonl back into the label store"),
    "drift": Verb("golden_drift", "find anchors that moved, changed or vanished with their documents"),
    "repair": Verb("golden_repair", "mend offsets and quotes where only the presentation differs"),
}
"""Verb -> its file under ``assay.cli``, and one line for the help, in the order of display."""
