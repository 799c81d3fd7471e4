"""The JSON Schemas of what measuring, comparing and diagnosing print."""

from __future__ import annotations

from collections.abc import Mapping

from assay.model.comparison import Difference, Interval, Moved, SideBySide
from assay.model.explanation import Explanation, ShownHit
from assay.model.gates import Cause
from assay.model.report import RankHistogram, RecallCurves, ShownPassage
from assay.model.summary import Miss, Surfaced
from assay.store.runs import RunSummary
from docsite.schema_forms import (
    AVERAGES,
    COUNT,
    FLAG,
    GROUP,
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
    table,
)

STAGE = closed(
    {
        "role": (TEXT, "list, pool, rerank, diversify or final."),
        "depth": (COUNT, "Most hits that the stage passed on for one query."),
        "recall": (MEAN, "Of its whole list."),
        "recall_at_k": (MEAN, "Of its first k: what the prompt would get if it were the last stage."),
        "by_kind": (table(closed({"n": (COUNT, ""), "recall": (MEAN, ""), "recall_at_k": (MEAN, "")})), ""),
        "lost": (COUNT, "Items that were lost here."),
    }
)
RUN = closed(
    {
        "run": (TEXT, "Id of the run: the content address of its inputs and results."),
        "name": (TEXT, "The project's name."),
        "golden": (TEXT, "The golden set's name."),
        "k": (COUNT, "How many chunks the prompt gets."),
        "k_by_kind": (table(COUNT), "Kind -> its k, where it differs."),
        "unit": ({"enum": ["chunk", "anchor", "document"]}, "What the headline counts."),
        "measures": (AVERAGES, "Measure -> mean over all labelled queries."),
        "by_kind": (table(GROUP), "Kind -> n and means."),
        "ceilings": (table(AVERAGES), "overall and each kind -> measure -> the best that the set allows."),
        "winnable": (GROUP, "n and means over the queries that can be won at all."),
        "units": (table(AVERAGES), "anchor, document -> measure -> mean, beside the headline's unit."),
        "spans": (AVERAGES, "Characters of evidence: recall, precision, IoU."),
        "budgets": (AVERAGES, "Tokens of prompt -> recall within them."),
        "stages": (table(STAGE), "Stage -> what it still holds, in the order in which they ran."),
        "misses": (listed(noun(Miss)), "Queries that lack at least one item."),
        "unanswerable": (maybe(noun(Surfaced)), "What came back for queries without an answer."),
        "counts": (table(COUNT), "documents, chunks, queries, scored, undefined, unwinnable, ..."),
        "unwinnable": (table(TEXT), "Query -> why it can never be won."),
        "failed": (table(TEXT), "Query -> what its retriever said."),
        "digests": (table(TEXT), "corpus, golden, pipeline, run."),
        "pipeline": (PLAIN, "The settings that made the run."),
        "seed": (WHOLE, ""),
        "notices": NOTICES,
    }
)
_SCORED = {
    "run": (TEXT, "The file, or what the caller calls it."),
    "measures": (AVERAGES, "Measure -> mean over the queries with a value."),
    "counts": (table(COUNT), "queries, answered, missing, extra, hits, judged, relevant, found, ..."),
    "undefined": (table(COUNT), "Measure -> queries without a value."),
    "ceilings": (AVERAGES, "Measure -> the best that the judgements allow."),
    "ties": (table(listed(NUMBER)), "Measure -> lowest and highest mean over orders of equal scores."),
    "by": (table(table(GROUP)), "Column -> value -> n and means."),
    "notices": NOTICES,
    "queries": (table(AVERAGES), "Query -> measure -> value; with --per-query."),
}
_HEAD = {
    "judgements": (TEXT, "The file of judgements."),
    "compat": (TEXT, "The tool whose figures these are; with --compat."),
}
SCORE = {
    "oneOf": [
        closed({**_HEAD, **_SCORED}, optional=("compat", "queries")),
        closed(
            {
                **_HEAD,
                "runs": (listed(closed(_SCORED, optional=("queries",))), "One each, as for a single run."),
            },
            optional=("compat",),
        ),
    ]
}
COMPARISON = closed(
    {
        "base": (TEXT, "The base run's name."),
        "candidate": (TEXT, ""),
        "by": (maybe(TEXT), "The column that groups are values of."),
        "rows": (listed(noun(Difference)), "For each measure: all queries first, then each group."),
        "moved": (
            table(listed({**noun(Moved), "properties": {**noun(Moved)["properties"], "difference": NUMBER}})),
            "Measure -> the queries that differ, largest difference first.",
        ),
        "lists": (
            listed(noun(SideBySide, relevant=listed(TEXT))),
            "Queries that moved most, with both lists.",
        ),
        "only_base": (listed(TEXT), "Queries that only the base run has."),
        "only_candidate": (listed(TEXT), ""),
        "seed": (WHOLE, ""),
        "alpha": (NUMBER, "The chance of a false alarm that is taken, over all tests together."),
        "draws": (COUNT, "Of the bootstrap."),
        "tests": (COUNT, "How many tests Holm's correction was made over."),
        "notices": NOTICES,
    }
)
COMPARE = {
    "oneOf": [
        COMPARISON,
        closed(
            {
                "runs": (listed(TEXT), "Names, in the order given."),
                "n": (COUNT, "Queries that every run has."),
                "means": (table(listed(MEAN)), "Measure -> the mean of each run."),
                "pairs": (listed(COMPARISON), "Each run against each later one."),
                "seed": (WHOLE, ""),
                "alpha": (NUMBER, ""),
                "notices": NOTICES,
            }
        ),
    ]
}
GATE = closed(
    {
        "passed": (FLAG, "Whether every gate holds."),
        "run": (TEXT, "The run that was checked."),
        "baseline": (maybe(TEXT), "The run of the baseline, where one was used."),
        "gates": (
            listed(
                closed(
                    {
                        "gate": (TEXT, "Its name in assay.toml."),
                        "rule": (TEXT, "As it is written."),
                        "stage": (maybe(TEXT), "None: what the prompt gets."),
                        "measure": (TEXT, ""),
                        "column": (maybe(TEXT), "kind, or another column of groups."),
                        "group": (maybe(TEXT), "A value of that column."),
                        "passed": (FLAG, ""),
                        "value": (MEAN, "The figure."),
                        "exact": (maybe(TEXT), "The same as a fraction."),
                        "shown": (TEXT, "Figure and rule, in words."),
                        "n": (COUNT, "Queries that the figure is over."),
                        "reason": (maybe(TEXT), "Why it fell."),
                        "queries": (listed(noun(Cause)), "The queries that caused it, worst first."),
                        "reachable": (
                            maybe(listed(NUMBER)),
                            "The values next to the floor that can be reached.",
                        ),
                        "lint": (maybe(TEXT), "What is odd about the rule."),
                        "errors": (COUNT, "Queries whose retriever failed."),
                    }
                )
            ),
            "In the order of assay.toml.",
        ),
        "notices": NOTICES,
    }
)
_COST = closed(
    {
        "rebuild": (FLAG, "Whether a new index is needed."),
        "chunks": (COUNT, ""),
        "index_bytes": (maybe(COUNT), ""),
    }
)
_EVIDENCE = {"type": "object", "properties": {"sentence": TEXT}, "required": ["sentence"]}
_FINDING = closed(
    {
        "query_id": (TEXT, ""),
        "kind_of_query": (TEXT, ""),
        "query": (TEXT, "Its words."),
        "item": (TEXT, "The anchor's id, or the label's."),
        "quote": (TEXT, "The anchor; empty for a plain label."),
        "lost_at": (TEXT, "Where it was lost: certain."),
        "detail": (TEXT, "The place in words."),
        "chunk": (maybe(TEXT), "The chunk that holds it."),
        "ranks": (table(maybe(COUNT)), "Stage -> rank; null: not in its list."),
        "kind": (maybe(TEXT), "The person's word where there is one, else the rule's; null: unexplained."),
        "fix": (maybe(TEXT), "What is likely to bring it back."),
        "evidence": (_EVIDENCE, "A sentence, and its facts."),
        "status": ({"enum": ["proposed", "confirmed", "changed"]}, ""),
        "proposed": (maybe(TEXT), "The kind that the rules propose."),
        "by": (maybe(TEXT), "Who confirmed or changed it."),
        "when": (maybe(TEXT), "ISO date and time in UTC."),
        "note": (maybe(TEXT), ""),
        "stale": (FLAG, "Whether the trace has changed since a person looked."),
        "brought_back_by": (
            maybe(closed({"fix": (maybe(TEXT), ""), "change": (PLAIN, "Setting -> value.")})),
            "The cheapest fix that was tried and brought it back; with --try.",
        ),
    },
    optional=("brought_back_by",),
)
_PART = {
    "lost_at": (TEXT, ""),
    "items": (COUNT, ""),
    "queries": (COUNT, ""),
    "lost": (NUMBER, ""),
    "kept": (NUMBER, ""),
}
_FALL = closed(
    {
        "queries": (COUNT, ""),
        "items": (COUNT, ""),
        "found": (COUNT, ""),
        "recall": (MEAN, "By item."),
        "recall_exact": (maybe(TEXT), "The same as a fraction."),
        "parts": (
            listed(closed({**_PART, "lost_exact": (TEXT, ""), "kept_exact": (TEXT, "")})),
            "They add up exactly.",
        ),
    }
)
_INTERVAL = maybe(noun(Interval))
_TRIAL = closed(
    {
        "fix": (TEXT, ""),
        "change": (PLAIN, "Setting -> value."),
        "recovered": (listed(TEXT), "Queries that gained an item and lost none."),
        "broken": (listed(TEXT), "Queries that lost an item."),
        "recovered_items": (listed(closed({"query_id": (TEXT, ""), "item": (TEXT, "")})), ""),
        "base": (MEAN, "Recall (items) before."),
        "value": (MEAN, "After; null where it was not run over the whole set."),
        "net": (MEAN, "value - base."),
        "interval": (_INTERVAL, "Of the net change."),
        "cost": (_COST, ""),
        "whole_set": (FLAG, "Whether it was run over the whole set."),
    }
)
_GAIN = closed(
    {
        "queries": (COUNT, ""),
        "base": (MEAN, ""),
        "value": (MEAN, ""),
        "net": (MEAN, ""),
        "interval": (_INTERVAL, ""),
        "recovered": (listed(TEXT), ""),
        "broken": (listed(TEXT), ""),
    }
)
DIAGNOSE = closed(
    {
        "run": (TEXT, ""),
        "name": (TEXT, ""),
        "golden": (TEXT, ""),
        "k": (COUNT, ""),
        "queries": (COUNT, "Labelled queries."),
        "findings": (listed(_FINDING), "Every missed item."),
        "waterfall": (table(_FALL), "overall and each kind -> what each place lost."),
        "kinds": (table(table(COUNT)), "proposed and confirmed: kind -> misses."),
        "agreement": (
            closed(
                {
                    "reviewed": (COUNT, ""),
                    "confirmed": (COUNT, ""),
                    "share": (MEAN, ""),
                    "interval": (_INTERVAL, "Wilson's."),
                }
            ),
            "How often people confirmed the rules.",
        ),
        "trials": (listed(_TRIAL), "Fixes that were really run; with --try."),
        "proposal": (
            maybe(
                closed(
                    {
                        "fixes": (listed(TEXT), ""),
                        "change": (PLAIN, ""),
                        "diff": (TEXT, "Unified diff of assay.toml."),
                        "gains": (table(_GAIN), "dev, heldout or all -> what it brings."),
                        "optimistic": (FLAG, "Chosen and measured on the same queries."),
                        "sentence": (TEXT, ""),
                        "cost": (_COST, ""),
                        "run": (TEXT, "Content address of the run that the figures are of."),
                    }
                )
            ),
            "The best combination of what was tried.",
        ),
        "seed": (WHOLE, ""),
        "notices": NOTICES,
        "times": (PLAIN, "What was measured with a clock; with --times."),
    },
    optional=("times",),
)
_MISS = closed(
    {
        "query_id": (TEXT, ""),
        "kind": (TEXT, ""),
        "split": (maybe(TEXT), "dev, heldout, or null."),
        "query": (TEXT, "Its words."),
        "k": (COUNT, ""),
        "of": (COUNT, "How many items it needs."),
        "values": (AVERAGES, "Measure -> value."),
        "error": (maybe(TEXT), "What the retriever said, where it failed."),
        "items": (
            listed(
                closed(
                    {
                        "item": (TEXT, "The anchor's id, or the label's."),
                        "lost_at": (TEXT, ""),
                        "stage": (maybe(TEXT), "The stage of the run in which it was lost."),
                        "quotes": (listed(TEXT), "The phrases, any one of which serves."),
                        "places": (listed(TEXT), ""),
                        "twins": (listed(TEXT), "Other documents in which the same phrase stands."),
                        "passage": (maybe(noun(ShownPassage)), "The chunk that came nearest to the prompt."),
                    }
                )
            ),
            "Those that are missing.",
        ),
        "hits": (maybe(listed(noun(ShownHit))), "What the prompt got; null in large reports."),
    }
)
REPORT = closed(
    {
        "summary": (RUN, "What assay run --json prints."),
        "intervals": (
            table(table(maybe(noun(Interval)))),
            "overall and each kind -> measure -> its interval.",
        ),
        "ranks": (noun(RankHistogram), "Where the relevant chunks stand, stage by stage."),
        "curves": (noun(RecallCurves), "Recall at k for every stage, and what bounds it."),
        "diagnosis": (DIAGNOSE, "What assay diagnose --json prints."),
        "misses": (listed(_MISS), "Queries that lack an item, with the evidence."),
        "comparison": (maybe(COMPARISON), "What assay compare --json prints; null without a baseline."),
        "making": (
            closed(
                {
                    "command": (TEXT, "Writes this report again."),
                    "versions": (table(TEXT), ""),
                    "draws": (COUNT, "Resamples of the intervals."),
                    "seed": (WHOLE, ""),
                }
            ),
            "How it was made.",
        ),
    }
)
MEASURING: Mapping[str, tuple[str, Schema]] = {
    "run": ("What assay run --json, assay show --json and assay demo --json print", RUN),
    "runs": ("What assay runs --json prints", listed(noun(RunSummary))),
    "score": ("What assay score --json prints", SCORE),
    "explain": ("What assay explain --json prints", noun(Explanation)),
    "compare": ("What assay compare --json prints", COMPARE),
    "gate": ("What assay gate --json prints", GATE),
    "diagnose": ("What assay diagnose --json prints", DIAGNOSE),
    "report": ("What assay report --format json writes", REPORT),
}
"""Name -> title and schema."""
