"""Where a relevant item was lost, why, and which fix was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

from assay.model.comparison import Interval
from assay.model.notices import Notice
from assay.model.showing import Showable

LostAt = Literal[
    "not indexed",
    "stale label",
    "cut by the chunker",
    "retriever error",
    "first stage",
    "fusion",
    "pool cut",
    "reranker",
    "diversity",
    "final cut",
    "token budget",
]
"""The earliest stage after which an item could no longer reach the prompt, in the order of the pipeline."""

PLACES: tuple[LostAt, ...] = get_args(LostAt)
"""The places of loss, in the order of the pipeline."""

KINDS = ("vocabulary-gap", "chunk-boundary", "ranking", "reranker-demotion", "anchor-ambiguity")
"""The kinds of failure that Assay's own rules propose; a team adds its own in ``assay.toml``."""
FIXES = (
    "hybrid-weights",
    "smaller-chunks",
    "contextual-chunk-headers",
    "query-rewrite",
    "better-embedder",
)
"""The fixes that findings name; a team adds its own in ``assay.toml``."""
UNEXPLAINED = "unexplained"
"""What tables call the kind of a miss of which no rule speaks; in data it is None."""

Status = Literal["proposed", "confirmed", "changed"]
"""``proposed`` by a rule; ``confirmed`` by a person; ``changed``: a person said another kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLoss:
    """What became of one relevant item of one query on its way to the prompt."""

    query_id: str
    item_id: str
    """The anchor's id, or the label's."""
    lost_at: LostAt | None
    """None: the item reached the prompt."""
    detail: str = ""
    """The place in words and numbers: ``rank 8 of the pool, rank 23 after the reranker; k = 10``."""
    chunk_id: str | None = None
    """The chunk that came nearest to the prompt, of those that cover the item."""
    ranks: Mapping[str, int | None] = field(default_factory=dict[str, int | None])
    """Stage -> best rank of a chunk that covers the item; None where no list that is known holds one."""

    @property
    def found(self) -> bool:
        return self.lost_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for a kind, in the words of the case."""

    sentence: str
    """For people: one or two sentences with the words, ranks and shares."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """The same as plain JSON values: ``shared``, ``missing``, ``near``, ``hit``, ``alike``, ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Showable):
    """One miss: where it was lost (certain) and why (a proposal, until a person has looked)."""

    query_id: str
    kind_of_query: str
    item: str
    """The anchor's id, or the label's."""
    query: str = ""
    """The words of the query."""
    quote: str = ""
    """The anchor; empty for a plain label."""
    lost_at: LostAt
    kind: str | None
    """The person's word where there is one, else the rule's; None: no rule speaks of it (unexplained)."""
    fix: str | None
    """What is likely to bring it back; None where no setting can."""
    evidence: Evidence
    status: Status = "proposed"
    proposed: str | None = None
    """The kind that the rules propose, whatever people said."""
    by: str | None = None
    """Who confirmed or changed it."""
    when: str | None = None
    """When, as an ISO date and time in UTC."""
    stale: bool = False
    """Whether the trace has changed since a person looked: their word stands until they look again."""
    note: str | None = None
    """What the person wrote beside the decision."""
    trace: str = ""
    """Digest of what a person would look at: where it was lost, its ranks, and the hits of the prompt."""
    loss: ItemLoss | None = None
    """Ranks at every stage, and the place in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person said of one finding; kept in ``findings.jsonl`` beside the golden set."""

    query_id: str
    item: str
    lost_at: LostAt
    kind: str | None
    """The kind that the person gave; None: they say that it is unexplained."""
    proposed: str | None
    """What the rules had proposed then."""
    by: str
    when: str
    """ISO date and time in UTC."""
    trace: str
    """Digest of the trace that the person saw."""
    note: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What a later run finds it by."""
        return (self.query_id, self.item, self.lost_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallPart:
    """What was lost at one place, as a part of the recall that was there to be had."""

    lost_at: LostAt
    items: int
    """How many items."""
    queries: int
    """In how many queries."""
    lost: Fraction
    """The part of the macro recall that went here: each query counts 1 / queries, each of its items alike."""
    kept: Fraction
    """What is left after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """From all that was relevant (1) to the recall of the prompt, place by place; exact.

    ``1 - sum(part.lost) == recall``, to the last digit, because the figures are fractions.
    """

    group: str | None
    """A kind of query; None: all of them."""
    queries: int
    """Labelled queries."""
    items: int
    """Relevant items, each anchor (with its alternatives) or label once."""
    found: int
    recall: Fraction | None
    """Macro recall at the final cut, counted in items; None when there is no query."""
    parts: tuple[WaterfallPart, ...]
    """In the order of the pipeline; a place that lost nothing is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How often people confirmed what the rules proposed."""

    reviewed: int
    confirmed: int
    share: float | None
    """None when nothing was reviewed."""
    interval: Interval | None
    """Wilson's, of the share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a change costs."""

    rebuild: bool
    """Whether chunks, embeddings or an index have to be made again."""
    chunks: int
    index_bytes: int
    """Vectors and postings of the index."""
    build_ms: float | None = None
    """Measured: cutting, embedding, indexing; what another trial had made already is not in it."""
    query_ms: float | None = None
    """Measured: one query, on the average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A fix that was really run."""

    fix: str
    change: Mapping[str, object]
    """Setting -> value, as ``assay run --set`` takes them."""
    recovered: tuple[str, ...]
    """Queries that gained an item and lost none."""
    broken: tuple[str, ...]
    """Queries that lost an item."""
    recovered_items: tuple[tuple[str, str], ...]
    """(query id, item) of every miss that came back."""
    base: float | None
    """Macro recall (items) before; None when there is no labelled query."""
    value: float | None
    """The same after; None where the trial was not run over the whole set."""
    net: float | None
    """``value - base``; None where the trial recovered no miss, and was not run over the whole set."""
    interval: Interval | None
    """Of the net change, by resampling queries."""
    cost: Cost
    whole: bool = True
    """Whether it was run over the whole set; False: it recovered none of the misses, and was left there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What a proposed configuration brings on one part of the set."""

    split: str
    """``dev``, ``heldout`` or ``all``."""
    queries: int
    base: float | None
    value: float | None
    net: float | None
    interval: Interval | None
    recovered: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The best combination of what was tried, as a change of ``assay.toml``."""

    fixes: tuple[str, ...]
    change: Mapping[str, object]
    diff: str
    """Unified diff of ``assay.toml``."""
    gains: tuple[Gain, ...]
    """Where it was chosen first, then where it is reported."""
    optimistic: bool
    """Whether it was chosen and measured on the same queries, because the set has no splits."""
    sentence: str
    cost: Cost
    run_id: str = ""
    """Content address of the run that the figures are of: running the proposal gives the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """The cheapest fix that brought one miss back."""

    query_id: str
    item: str
    fix: str | None
    """None: none of those tried."""
    change: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, kw_only=True)
class Diagnosis(Showable):
    """Everything that is known of the misses of one run: what reports show."""

    run_id: str
    name: str
    golden_name: str
    k: int
    queries: int
    """Labelled queries."""
    findings: tuple[Finding, ...]
    waterfall: tuple[Waterfall, ...]
    """All queries first, then each kind."""
    proposed_kinds: Mapping[str, int]
    """Kind -> how many misses the rules propose it for; ``unexplained`` last."""
    confirmed_kinds: Mapping[str, int]
    """The same for what people said."""
    agreement: Agreement
    trials: tuple[Trial, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    proposal: Proposal | None = None
    tried: bool = False
    """Whether trials were asked for at all."""
    seed: int = 0
    notices: tuple[Notice, ...] = ()
