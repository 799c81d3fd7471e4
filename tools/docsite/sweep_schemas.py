"""The JSON Schemas of a sweep: what it prints, and the files of its folder."""

from __future__ import annotations

from assay.flows.sweep_final import FinalFile
from assay.flows.sweep_plan import SweepTable
from assay.model.sweep import COSTS, TIMED, Shrinkage
from assay.store.sweeps import Line
from docsite.schema_forms import (
    AVERAGES,
    COUNT,
    MEAN,
    NOTICES,
    NUMBER,
    PLAIN,
    TEXT,
    WHOLE,
    Schema,
    closed,
    listed,
    maybe,
    noun,
    schema_of,
    table,
)


def _without(schema: Schema, *names: str) -> Schema:
    return {
        **schema,
        "properties": {key: value for key, value in schema["properties"].items() if key not in names},
        "required": [key for key in schema["required"] if key not in names],
    }


_METHOD = {"enum": ["grid", "random", "halving"]}
_ENDS = maybe({"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2})
_COSTS = {
    "prompt_tokens": (MEAN, "Tokens of a prompt's k chunks, mean over queries."),
    "index_bytes": (maybe(COUNT), "All indexes that it needs."),
    "p50_ms": (MEAN, "Time of one query on its own, warm: the middle one of those that were timed."),
    "p95_ms": (MEAN, ""),
    "build_ms": (MEAN, "Time of building its indexes, as if it stood alone."),
}
_FRONT = listed(COUNT)
_ROW = closed(
    {
        "configuration": (COUNT, "Its number, from 1, in the order of the plan."),
        "knobs": (table(TEXT), "Knob -> the label of its value."),
        "settings": (PLAIN, "All settings that differ from the project's: path -> value."),
        "rounds": (COUNT, "Halving: how many rounds it stayed in."),
        "queries": (COUNT, "Queries that it was asked."),
        "means": (AVERAGES, "Column -> mean over its queries."),
        "undefined": (table(COUNT), "Column -> queries without a value, where there are such."),
        "by_kind": (
            table(closed({"n": (COUNT, ""), "mean": (MEAN, "")})),
            "Kind -> mean of the target column.",
        ),
        "interval": (_ENDS, "Of the target's mean, over queries."),
        "behind": (_ENDS, "Of the winner's target minus this one's, paired; null for the winner itself."),
        "chunks": (COUNT, ""),
        "costs": (
            closed(_COSTS, optional=tuple(sorted(TIMED))),
            "What it costs; in results.json without what a clock gave.",
        ),
    }
)
SWEEP = closed(
    {
        "sweep": (TEXT, "Content address of the plan, the golden set, the corpus and the settings."),
        "name": (TEXT, "The project's name."),
        "method": (_METHOD, ""),
        "seed": (WHOLE, ""),
        "k": (COUNT, ""),
        "split": (maybe(TEXT), "The queries that it tunes on: dev, or null for all."),
        "queries": (COUNT, ""),
        "target": (TEXT, "The column that decides."),
        "columns": (listed(TEXT), "In the order of display."),
        "knobs": (
            listed(
                closed(
                    {
                        "name": (TEXT, ""),
                        "values": (
                            listed(
                                closed(
                                    {
                                        "label": (TEXT, "As people wrote it."),
                                        "settings": (PLAIN, "What it sets."),
                                    }
                                )
                            ),
                            "",
                        ),
                    }
                )
            ),
            "What is varied.",
        ),
        "rows": (listed(_ROW), "Configurations, the best first."),
        "winner": (COUNT, "The number of the best."),
        "fronts": (
            closed(
                dict.fromkeys(COSTS, (_FRONT, "")),
                optional=tuple(sorted(TIMED)),
            ),
            "Cost -> configurations that none beats in quality at the same cost or less, the cheapest first.",
        ),
        "effects": (
            listed(
                closed(
                    {
                        "knob": (TEXT, ""),
                        "from": (TEXT, "The first value: what the others are held against."),
                        "to": (TEXT, ""),
                        "difference": (
                            MEAN,
                            "Of the target, all else equal; null where the sweep cannot tell.",
                        ),
                        "interval": (_ENDS, "Over queries."),
                        "pairs": (
                            COUNT,
                            "Pairs of configurations that differ in this alone; 0: a fit over all.",
                        ),
                        "queries": (COUNT, ""),
                    }
                )
            ),
            "What each knob does.",
        ),
        "kinds": (
            listed(
                closed(
                    {
                        "kind": (TEXT, ""),
                        "n": (COUNT, ""),
                        "configuration": (COUNT, "The best for this kind."),
                        "mean": (MEAN, "What it has there."),
                        "overall_winner": (MEAN, "What the overall winner has there."),
                    }
                )
            ),
            "A row a kind.",
        ),
        "shrinkage": (maybe(noun(Shrinkage)), "How much of the best score is owed to having been chosen."),
        "final": (
            maybe(
                closed(
                    {
                        "configuration": (COUNT, ""),
                        "run": (TEXT, "The id of the run on the held-out queries."),
                        "measure": (TEXT, ""),
                        "dev": (closed({"mean": (MEAN, ""), "n": (COUNT, "")}), ""),
                        "heldout": (
                            closed({"mean": (MEAN, ""), "n": (COUNT, ""), "interval": (_ENDS, "")}),
                            "",
                        ),
                        "columns": (table(closed({"dev": (MEAN, ""), "heldout": (MEAN, "")})), ""),
                    }
                )
            ),
            "The winner on held-out queries; with --final.",
        ),
        "rounds": (
            listed(closed({"configurations": (COUNT, ""), "queries": (COUNT, "")})),
            "Halving: what each round had.",
        ),
        "left_out": (
            listed(closed({"configuration": (COUNT, ""), "knobs": (table(TEXT), ""), "why": (TEXT, "")})),
            "Configurations that could not run.",
        ),
        "notices": NOTICES,
    }
)
_TABLE = schema_of(SweepTable)
_KNOB = {"type": "array", "prefixItems": [TEXT, listed(TEXT), listed(PLAIN)], "minItems": 3, "items": False}
PLAN = closed(
    {
        "form": (COUNT, "Of this file."),
        "assay": (TEXT, "The version that measures."),
        "project": (PLAIN, "The project's own settings that decide."),
        "corpus": (TEXT, "Digest of the documents."),
        "golden": (TEXT, "Digest of the golden set."),
        "target": (TEXT, "The column that decides."),
        "queries": (TEXT, "Digest of the queries, in their order."),
        "plan": (
            closed(
                {
                    "knobs": (listed(_KNOB), "Each a name, the labels of its values, and what each sets."),
                    "numbers": (listed(COUNT), "The configurations."),
                    "table": (_without(_TABLE, "knobs", "timed"), "The rest of sweep.toml."),
                }
            ),
            "What is varied, and how.",
        ),
    }
)
SWEEPING = {
    "sweep": ("What assay sweep --json prints, and results.json of a sweep's folder", SWEEP),
    "sweep-plan": ("plan.json of a sweep's folder: all that its results depend on", PLAN),
    "sweep-measured": ("One line of measured.jsonl in a sweep's folder", noun(Line)),
    "sweep-final": ("final.json of a sweep's folder", noun(FinalFile)),
}
"""Name -> title and schema."""
