"""The JSON Schemas of what building a golden set prints: checks, drafts, pools, splits, judges, imports."""

from __future__ import annotations

from assay.building.judge_job import JudgeOutcome
from assay.building.pool_bounds import PoolVerdict
from assay.flows.index import IndexReport
from assay.model.checks import CheckFinding
from assay.model.judges import JudgeReport
from docsite.schema_forms import (
    COUNT,
    FLAG,
    MEAN,
    NOTICES,
    NUMBER,
    PLAIN,
    TEXT,
    WHOLE,
    closed,
    listed,
    maybe,
    noun,
    table,
)

CHECK = closed(
    {
        "counts": (table(COUNT), "error, warning, note: how many."),
        "findings": (listed(noun(CheckFinding)), "Every remark."),
        "survival": (
            table(
                closed(
                    {
                        "chunks": (COUNT, ""),
                        "anchors": (COUNT, ""),
                        "whole": (COUNT, "Anchors that some chunk holds from end to end."),
                        "duplicated": (COUNT, "Of these, in two chunks or more."),
                        "split": (COUNT, "Anchors that several chunks hold in part, and none whole."),
                        "lost": (COUNT, "Anchors that stand nowhere: stale labels."),
                        "precision_omega": (MEAN, "Share of evidence in the chunks that touch an anchor."),
                    }
                )
            ),
            "Chunker -> what becomes of the anchors when it cuts.",
        ),
    }
)
DRAFT = closed(
    {
        "job": (TEXT, "The drafting job's name."),
        "wanted": (table(COUNT), "Kind -> how many were asked for."),
        "missing": (table(COUNT), "Kind -> how many no passage gave."),
        "asked": (COUNT, "Replies asked for now."),
        "replayed": (COUNT, "Replies that were stored already."),
        "failed": (COUNT, "Requests to which no answer came."),
        "refused": (table(COUNT), "Rule -> drafts that broke it."),
        "calls": (COUNT, "Requests of the job, over all its starts."),
        "tokens": (COUNT, ""),
        "stopped": (maybe(TEXT), "Why it ended early."),
        "drafts": (
            listed(
                closed(
                    {
                        "id": (TEXT, ""),
                        "query": (TEXT, "Its words."),
                        "kind": (TEXT, ""),
                        "anchors": (listed(closed({"doc": (TEXT, ""), "quote": (TEXT, "")})), ""),
                        "notes": (listed(TEXT), "What a person should know of it."),
                    }
                )
            ),
            "All drafts of the job.",
        ),
    }
)
DRIFT = closed(
    {
        "counts": (table(COUNT), "What became of anchors -> how many."),
        "anchors": (
            listed(
                closed(
                    {
                        "query": (TEXT, "The query's id."),
                        "anchor": (TEXT, "The anchor's id."),
                        "kind": (TEXT, "What became of it."),
                        "document": (TEXT, ""),
                        "quote": (TEXT, ""),
                        "text": (TEXT, "The same in words."),
                        "line": (maybe(COUNT), "Of the golden file, from 1."),
                        "proposed": (maybe(TEXT), "The phrase that stands there now."),
                        "mended": (FLAG, "Whether the file says so now."),
                    }
                )
            ),
            "Those that are not where they were, the worst first.",
        ),
    }
)
EXCHANGE = closed(
    {
        "queries": (COUNT, "In the set afterwards."),
        "waiting": (
            listed(TEXT),
            "Queries that changed in the store, and that the file does not have so yet.",
        ),
        "changed": (table(listed(TEXT)), "Query -> what changed, field by field."),
        "conflicts": (
            table(
                closed(
                    {
                        "file": (maybe(PLAIN), "Its line in the file; null: removed."),
                        "store": (maybe(PLAIN), "Its line by the store; null: removed."),
                    }
                )
            ),
            "Queries that changed on both sides; nothing was done about them.",
        ),
        "notices": NOTICES,
    }
)
LOG = closed(
    {
        "source": (TEXT, "The log's file."),
        "job": (TEXT, "What the sample is called in the store."),
        "rows": (COUNT, "Queries in the log."),
        "distinct": (COUNT, "Different questions among them."),
        "masked": (table(COUNT), "What was masked -> how often."),
        "detector": (maybe(TEXT), "The package that looked for names; null: none is installed."),
        "true_shares": (FLAG, "Whether the set has the log's own distribution."),
        "half_width": (MEAN, "Half the 95 % interval of a share, over the whole set."),
        "plan": (
            listed(
                closed(
                    {
                        "kind": (TEXT, ""),
                        "distinct": (COUNT, "Different questions in the log."),
                        "asked": (NUMBER, "How often they were asked."),
                        "share": (NUMBER, "Of what was asked."),
                        "picked": (COUNT, "In the set."),
                        "half_width": (MEAN, ""),
                    }
                )
            ),
            "A row a kind.",
        ),
        "queries": (
            listed(closed({"id": (TEXT, ""), "query": (TEXT, "Masked."), "kind": (TEXT, "")})),
            "Those that were taken.",
        ),
        "stored": (FLAG, "Whether they wait in the label store."),
    }
)
POOL = closed(
    {
        "name": (TEXT, "The pooling's name."),
        "queries": (COUNT, ""),
        "candidates": (COUNT, "Over all queries."),
        "sources": (listed(TEXT), "The retrievers that were pooled."),
        "without_candidates": (listed(TEXT), "Queries that no retriever answered."),
        "unplaced": (COUNT, "Hits of unknown place; they are left out."),
        "stored": (FLAG, ""),
        "verdict": (noun(PoolVerdict), "Who leads, what is open, and which labels to give next."),
    }
)
SPLIT = closed(
    {
        "seed": (WHOLE, "Decides between groups that fit equally well."),
        "wanted": (NUMBER, "The share that was asked for."),
        "share": (NUMBER, "The share that is held out."),
        "groups": (COUNT, "Queries that stay together are a group."),
        "largest": (COUNT, "Queries in the largest group."),
        "kept": (COUNT, "Queries that had a part, and keep it."),
        "torn": (listed(listed(TEXT)), "Groups that stand in both parts already."),
        "kinds": (
            listed(
                closed(
                    {
                        "kind": (TEXT, ""),
                        "queries": (COUNT, ""),
                        "heldout": (COUNT, ""),
                        "share": (NUMBER, ""),
                    }
                )
            ),
            "A row a kind.",
        ),
        "parts": (table({"enum": ["dev", "heldout"]}), "Query -> its part."),
        "changed": (COUNT, "Queries whose part is another than it was."),
        "written": (FLAG, "Whether the file says so now."),
    }
)
IMPORT = closed(
    {
        "form": (TEXT, "The form of the set."),
        "source": (TEXT, "Its file or folder."),
        "options": (table(TEXT), "What was chosen."),
        "golden_digest": (TEXT, ""),
        "documents": (maybe(TEXT), "Where they are, from the project's folder; null: the set came without."),
        "counts": (table(COUNT), "What was met -> how often."),
        "runs": (listed(TEXT), "Ids of ranked lists that lay beside the set."),
        "notices": NOTICES,
    }
)
BUILDING = {
    "check": ("What assay check --json prints", CHECK),
    "golden-draft": ("What assay golden draft --json prints", DRAFT),
    "golden-drift": ("What assay golden drift --json and assay golden repair --json print", DRIFT),
    "golden-exchange": ("What assay golden export --json and assay golden import --json print", EXCHANGE),
    "golden-import-log": ("What assay golden import-log --json prints", LOG),
    "golden-pool": ("What assay golden pool --json prints", POOL),
    "golden-split": ("What assay golden split --json prints", SPLIT),
    "import": ("What assay import --json prints, and import.json of an imported set", IMPORT),
    "index": ("What assay index --json prints", noun(IndexReport)),
    "judge-run": ("What assay judge run --json prints", noun(JudgeOutcome)),
    "judge-report": ("What assay judge report --json prints", noun(JudgeReport)),
}
"""Name -> title and schema."""
