"""Everything that a report of one run shows, as plain values: pages are made of this, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model.comparison import Comparison, Interval
from assay.model.explanation import ShownHit
from assay.model.findings import Diagnosis, Finding, LostAt, Remedy
from assay.model.runs import Role
from assay.model.scores import Average
from assay.model.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measure over some queries, with its interval."""

    measure: str
    average: Average
    interval: Interval | None
    """Of the mean, by resampling queries; None below two queries with a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRow:
    """One kind of query."""

    kind: str
    k: int
    queries: int
    misses: int
    """Queries that lack at least one of their items."""
    headline: Figure
    """The first measure, with its interval."""
    others: tuple[Average, ...]
    """The other measures, in the order of the headline's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankBin:
    """Ranks from ``first`` to ``last``, both included."""

    first: int
    last: int
    within_cut: bool
    """Whether the prompt reaches this far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRanks:
    """Where the relevant chunks of all queries stand in the lists of one stage."""

    stage: str
    role: Role
    depth: int
    """Most hits that the stage passed on for one query; chunks below are known by rank alone."""
    counts: tuple[int, ...]
    """Relevant chunks a bin."""
    absent: int
    """Relevant chunks in no known place of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankHistogram:
    """The ranks of the relevant chunks, stage by stage."""

    bins: tuple[RankBin, ...]
    stages: tuple[StageRanks, ...]
    chunks: int
    """Relevant chunks, counted once a query that they are relevant to: each stage's counts add up to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCurve:
    """Recall of one stage's lists, cut at one k after the other."""

    stage: str
    role: Role
    ks: tuple[int, ...]
    """Cuts, up to the depth of the stage."""
    recall: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCurves:
    """Recall at k for every stage, and what bounds it."""

    curves: tuple[StageCurve, ...]
    """In the order of the pipeline."""
    k: int
    """The cut of the prompt."""
    pool: str | None
    """The stage whose whole list bounds what follows it; None: there is one stage alone."""
    pool_recall: float | None
    """The recall of that whole list: no later stage can have more."""
    limit: tuple[tuple[int, float | None], ...]
    """(k, the recall of the best list that this golden set allows)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """A passage of the corpus, with spans that are anchors."""

    chunk_id: str | None
    """None: no chunk holds the anchor whole, and the text around it is shown."""
    doc_id: str
    text: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedItem:
    """One thing that a query needs and the prompt lacks."""

    item: str
    lost_at: LostAt
    stage: str | None
    """The stage of the run in which it was lost; None: it was lost before any stage."""
    detail: str
    ranks: Mapping[str, int | None]
    """Stage -> best rank, however deep."""
    finding: Finding | None
    remedy: Remedy | None
    """What brought it back; None: nothing was tried."""
    quotes: tuple[str, ...] = ()
    """The phrases, any one of which serves; empty where the passages of the query were left out."""
    places: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()
    """Other documents in which the same phrase stands."""
    passage: ShownPassage | None = None
    """The chunk that came nearest to the prompt, with the anchor marked; None where no text is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedQuery:
    """A query that lacks at least one of its items, with the evidence."""

    query_id: str
    kind: str
    split: str | None
    text: str
    k: int
    of: int
    """How many items it needs."""
    items: tuple[MissedItem, ...]
    """Those that are missing; never empty."""
    shown: bool
    """Whether passages and hits are here; they are left out of large reports, which say so."""
    hits: tuple[ShownHit, ...] = ()
    """What the prompt got."""
    values: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    error: str | None = None
    """What the retriever said, where it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """How the run and the report were made."""

    command: str
    """The command line that writes this report again."""
    versions: Mapping[str, str]
    """Program or package -> version, of the run; empty where the run is not stored."""
    digests: Mapping[str, str]
    settings: Mapping[str, object]
    """The pipeline's settings, as plain JSON values."""
    seed: int


@dataclass(frozen=True, kw_only=True)
class ReportPage:
    """One run, laid open."""

    summary: Summary
    diagnosis: Diagnosis
    figures: tuple[Figure, ...]
    """One a measure, the headline first."""
    kinds: tuple[KindRow, ...]
    ranks: RankHistogram
    curves: RecallCurves
    misses: tuple[MissedQuery, ...]
    """In the order of the golden set."""
    most_lost: tuple[LostAt, int] | None
    """The place that lost most items, and how many; None: nothing was lost."""
    making: Making
    comparison: Comparison | None = None
    """Against the baseline, where one was named."""
    draws: int = 10_000
    """Resamples of the intervals."""

    @property
    def headline(self) -> Figure:
        """The first measure of the project."""
        return self.figures[0]

    @property
    def shown(self) -> int:
        """How many misses have their passages here."""
        return sum(miss.shown for miss in self.misses)
