"""What one measured run says, as plain values: every report shows this, and computes nothing.

``assay run --json`` is this page as JSON (``docs/schemas/run.schema.json``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model.findings import LostAt
from assay.model.notices import Notice
from assay.model.relevance import Unit
from assay.model.runs import Role
from assay.model.scores import Average
from assay.model.showing import Showable

ALL = "overall"
"""The name of the group that holds every query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSummary:
    """How much of what is relevant one stage still holds."""

    name: str
    role: Role
    depth: int
    """Most hits that this stage passed on for one query."""
    recall: Mapping[str, Average]
    """``overall`` and each kind -> recall of this stage's whole list (at its depth)."""
    recall_at_k: Mapping[str, Average]
    """The same at the final cut: what the prompt would get if this stage were the last."""
    lost: int
    """Items that were lost at this stage, of ``Summary.counts["items"]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A query that lacks at least one of its items in the prompt."""

    query_id: str
    kind: str
    text: str
    lost_at: LostAt
    """Where the first missing item was lost."""
    detail: str
    items: tuple[str, ...]
    """The items that are missing."""
    of: int
    """How many items the query needs."""
    ranks: Mapping[str, int | None]
    """Stage -> best rank of the first missing item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaced:
    """What came back for the queries that have no answer."""

    queries: int
    surfaced: int
    """How many of them got at least one hit."""
    top_scores: tuple[float, ...]
    """The best score of each that got one, highest first."""
    answerable_top_scores: tuple[float, ...]
    """The same for the answerable queries, to compare."""


@dataclass(frozen=True, kw_only=True)
class Summary(Showable):
    """One run, measured."""

    run_id: str
    name: str
    golden_name: str
    k: int
    k_by_kind: Mapping[str, int]
    unit: Unit
    kinds: tuple[str, ...]
    measures: Mapping[str, Average]
    """Measure -> mean over all labelled queries, with its ceiling."""
    by_kind: Mapping[str, Mapping[str, Average]]
    """Kind -> measure -> mean. A declared kind without queries has n = 0 and no number."""
    winnable: Mapping[str, Average]
    """Measure -> mean over the queries that can be won at all."""
    units: Mapping[str, Mapping[str, Average]]
    """``anchor``, ``document`` -> measure -> mean, beside the headline's unit."""
    spans: Mapping[str, Average]
    """Character-level recall, precision, IoU of the retrieved text; empty where places are unknown."""
    budgets: Mapping[int, Average]
    """Tokens of prompt -> recall of items within that many tokens."""
    stages: tuple[StageSummary, ...]
    misses: tuple[Miss, ...]
    unanswerable: Surfaced | None
    counts: Mapping[str, int]
    """documents, chunks, queries, scored, undefined, unwinnable, unanswerable, failed, items, found,
    unvalidated (queries that carry labels of a judge without a licence)."""
    unwinnable: Mapping[str, str]
    """Query id -> why it can never be won."""
    failed: Mapping[str, str]
    """Query id -> what its retriever said."""
    digests: Mapping[str, str]
    """corpus, golden, pipeline, run."""
    pipeline: Mapping[str, object]
    seed: int = 0
    notices: tuple[Notice, ...] = ()
    meta: Mapping[str, object] = field(default_factory=dict[str, object])
