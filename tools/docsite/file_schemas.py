"""The JSON Schemas of the files that a project keeps beside its golden set."""

from __future__ import annotations

from typing import get_type_hints

from assay.comparison.baseline import BaselineFile
from assay.connectors.hits import RawHit
from assay.flows.looks import LookRow
from assay.model.judges import JudgeRecord
from assay.store.run_form import StageTimings
from docsite.schema_forms import ANY, COUNT, TEXT, Schema, closed, listed, noun, row, schema_of, table
from docsite.words import field_docs

_HIT = ("id", "doc_id", "start", "end", "score", "text")


def _hit() -> Schema:
    hints, docs = get_type_hints(RawHit), field_docs(RawHit)
    keys = {name: (schema_of(hints[name]), docs.get(name, "")) for name in _HIT}
    return closed(keys, optional=_HIT)


RECORDING = {
    "oneOf": [
        closed(
            {
                "asked": (closed({"query": (TEXT, ""), "k": (COUNT, "")}), "Of a function."),
                "answered": (table(listed(_hit())), "Stage -> its hits; the last is final."),
            }
        ),
        closed(
            {
                "asked": (
                    closed(
                        {
                            "method": (TEXT, ""),
                            "url": (TEXT, "As the settings write it: no secret is in it."),
                            "params": (table(TEXT), ""),
                            "body": (ANY, ""),
                        },
                        optional=("params", "body"),
                    ),
                    "Of a server.",
                ),
                "answered": (ANY, "The JSON of its answer."),
            }
        ),
    ]
}
DOCUMENT = {
    "type": "object",
    "properties": {
        "id": {**TEXT, "description": "Unique in the file."},
        "text": {**TEXT, "description": "Kept exactly as it is: anchors are places in it."},
        "title": TEXT,
    },
    "required": ["id", "text"],
    "additionalProperties": {**TEXT, "description": "A column of the set's own."},
}
FILES = {
    "baseline": ("A baseline: what assay gate --update writes", row(BaselineFile)),
    "documents": ("One line of documents.jsonl in an imported set", DOCUMENT),
    "heldout-looks": ("One line of heldout-looks.jsonl", noun(LookRow)),
    "judges": ("One line of judges.jsonl: a look of a judge at the test part", noun(JudgeRecord)),
    "stage-timings": ("One line of timings.jsonl of a stored run", noun(StageTimings)),
    "recording": ("One line of a recording of a retriever", RECORDING),
}
"""Name -> title and schema."""
