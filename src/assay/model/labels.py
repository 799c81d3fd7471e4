"""What people and judges say while a golden set is built: appended, never changed.

Every noun here is a row of the label store. A row has an ``id`` that its maker gives (``new_id``), so that
the same row sent twice is kept once; ``at`` and ``seq`` are filled in by the store when it acknowledges it.
Nothing is overwritten: what takes a row back is another row that names it in ``undoes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from uuid import uuid4

from assay.model.documents import chunk_id
from assay.model.golden import Anchor, Query

Labeller = Literal["person", "judge"]
Verdict = Literal["accepted", "edited", "refused", "unanswerable", "settled"]
"""``accepted``, ``edited``, ``refused``: of a draft. ``unanswerable``: of a query, the corpus has no answer.
``settled``: of a place of a query about which people disagree; the decision's grade stands."""
EditAction = Literal["put", "remove", "anchor", "undo"]
"""``put``: the whole query as it shall be. ``remove``: the query leaves the set. ``anchor``: one anchor more.
``undo``: an earlier edit is taken back."""
ReplyStatus = Literal["accepted", "refused", "failed"]
"""``accepted``: it was what was asked for. ``refused``: an answer, but not the JSON asked for, or not true of
the documents. ``failed``: no answer came (an error, a time-out)."""


def new_id() -> str:
    """Return an id that no other row has: 32 hex digits."""
    return uuid4().hex


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A place of a document that may answer a query, as it is shown."""

    doc_id: str
    start: int
    """First code point of the place."""
    end: int
    text: str
    """The text that is shown: the slice of the document."""
    ranks: Mapping[str, int] = field(default_factory=dict[str, int])
    """Retriever or run -> rank, from 1. Never shown to who labels."""

    @property
    def place(self) -> str:
        """The identity: ``doc_id#start-end``."""
        return chunk_id(self.doc_id, self.start, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The candidates of one query, in the order in which they are shown."""

    id: str
    name: str
    """The pooling that it belongs to: all pools of one ``assay golden pool`` have one name."""
    query_id: str
    query: str
    """The words of the query."""
    kind: str = "unspecified"
    candidates: tuple[Candidate, ...] = ()
    """Shuffled by the seed. Empty: nothing was retrieved; the query is labelled from the corpus."""
    seed: int = 0
    depth: int = 0
    """How many hits of each list were taken."""
    sources: tuple[str, ...] = ()
    """The lists that candidates came from."""
    by: str = ""
    at: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One grade, as it was given: who, when, what was shown, why."""

    id: str = field(default_factory=new_id)
    query_id: str
    doc_id: str
    start: int
    end: int
    grade: float | None
    """0 and below: not relevant. None: looked at and left open (skipped, cannot tell)."""
    shown: str = ""
    """The text that was shown, in full."""
    why: str = ""
    by: str
    """The person; for a judge its name, which holds the model and its prompt's digest."""
    origin: Labeller = "person"
    model: str | None = None
    """The judge's model; None for a person."""
    pool_id: str | None = None
    """The pool that it was shown from; None: found in the corpus by hand."""
    margin: float | None = None
    """How sure the judge was, 0 to 1, where it says so."""
    elapsed_ms: float | None = None
    undoes: str | None = None
    """The judgement that this one takes back; its own grade then says nothing."""
    at: str = ""
    seq: int = 0

    @property
    def place(self) -> str:
        """What was judged: ``doc_id#start-end``."""
        return chunk_id(self.doc_id, self.start, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of one place for one query, from all rows that still stand."""

    query_id: str
    place: str
    grade: float | None
    """The grade that counts; None while people disagree, or when nobody graded it."""
    people: Mapping[str, float] = field(default_factory=dict[str, float])
    """Person -> latest grade."""
    judges: Mapping[str, float] = field(default_factory=dict[str, float])
    """Judge -> latest grade."""
    settled_by: str | None = None
    """Who settled a disagreement."""

    @property
    def conflict(self) -> bool:
        """Whether people disagree and nobody has settled it."""
        return self.settled_by is None and len(set(self.people.values())) > 1

    @property
    def automatic(self) -> bool:
        """Whether the grade is a judge's alone."""
        return not self.people and self.settled_by is None and bool(self.judges)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A query that a model, a rule or a log offers. It is in no set until a person says yes."""

    id: str = field(default_factory=new_id)
    job: str
    """The run of ``assay golden draft`` or ``import-log`` that made it."""
    query: Query
    """As it would enter the set; its id is the one it would have."""
    evidence: Mapping[str, str] = field(default_factory=dict[str, str])
    """Place (``doc_id#start-end``) -> the passage that it was made from."""
    notes: tuple[str, ...] = ()
    """What the checks said of it: repaired anchors, words shared with the passage, twins."""
    reply_id: str | None = None
    """The reply that it was read from."""
    by: str
    """The model or the rule."""
    at: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person decided of a draft, a query or a place."""

    id: str = field(default_factory=new_id)
    subject: str
    """A draft's id, a query's id, or ``query_id|place`` (see ``settling``)."""
    verdict: Verdict
    by: str
    why: str = ""
    query: Query | None = None
    """An edited draft, as it enters the set."""
    grade: float | None = None
    """The grade that settles a disagreement."""
    undoes: str | None = None
    """The decision that this one takes back."""
    at: str = ""
    seq: int = 0


def settling(query_id: str, place: str) -> str:
    """Return the subject of a decision that settles one place of one query."""
    return f"{query_id}|{place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change of the golden set."""

    id: str = field(default_factory=new_id)
    query_id: str
    action: EditAction
    by: str
    why: str = ""
    query: Query | None = None
    """With ``put``."""
    anchor: Anchor | None = None
    """With ``anchor``; its id is given by the store when it is empty."""
    undoes: str | None = None
    """With ``undo``: the edit that is taken back."""
    at: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at labels that are to be looked at once."""

    id: str = field(default_factory=new_id)
    what: str
    """``judge-test``, ``heldout``."""
    of: str
    """Digest of the labels that were looked at."""
    by: str
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """What was seen, as plain JSON values."""
    at: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of a model, kept word for word: a job that is started again asks nothing twice."""

    id: str = field(default_factory=new_id)
    job: str
    """What it was asked for: ``judge gpt-x/3f2a...``, ``draft 2026-05-01``."""
    task: str
    """Digest of what was asked: the same task is not asked again once a reply to it was accepted."""
    attempt: int = 1
    model: str
    request: str = ""
    """The body that was sent, as JSON; never a key."""
    text: str = ""
    """What came back, word for word."""
    status: ReplyStatus
    reason: str = ""
    """Why it was refused or failed."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    elapsed_ms: float | None = None
    at: str = ""
    seq: int = 0
