"""One query on the bench: its candidates in the order of the pool, and what was said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.building.standing import standings
from assay.flows.golden_exchange import import_golden
from assay.model.documents import Document
from assay.model.errors import InputError
from assay.model.golden import Anchor, Provenance, Query
from assay.model.labels import Candidate, Decision, Edit, Judgement, Pool, settling
from assay.workbench.anchoring import Span
from assay.workbench.bench import Workbench

GRADES: tuple[tuple[int, str], ...] = (
    (0, "not relevant"),
    (1, "helps"),
    (2, "answers"),
    (3, "answers in full"),
)
"""What the keys 0 to 3 say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One query in the list of what is to be labelled, for one person."""

    query_id: str
    text: str
    kind: str
    done: int
    """Candidates that this person has looked at."""
    total: int
    answerless: bool
    """Whether somebody said that the corpus holds no answer."""

    @property
    def finished(self) -> bool:
        return self.answerless or (self.total > 0 and self.done >= self.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One candidate as it is shown: not where it was found, and no grade of others before one's own."""

    number: int
    """From 1, in the order of the pool."""
    candidate: Candidate
    title: str
    marks: tuple[Span, ...]
    """Spans of its text that are anchors of the query."""
    state: Mapping[str, object]
    """``mine``, ``seen``, ``others``, ``conflict``, ``settled``: see ``place_state``."""


def open_pools(bench: Workbench, name: str | None = None) -> dict[str, Pool]:
    """Return query id -> its latest pool, in the order in which the queries were first pooled.

    Args:
        bench: the workbench.
        name: the pooling; None: all of them.
    """
    pools: dict[str, Pool] = {}
    for pool in bench.labels.pools(name=name):
        pools[pool.query_id] = pool
    return pools


def poolings(bench: Workbench) -> tuple[str, ...]:
    """Return the names of the poolings, the first one first."""
    return tuple(dict.fromkeys(pool.name for pool in bench.labels.pools()))


def tasks(bench: Workbench, pools: Mapping[str, Pool], by: str) -> tuple[Task, ...]:
    """Return the queries that can be labelled, with how far one person is."""
    seen = latest_grades(bench.labels.judgements(by=by, origin="person", standing=True))
    answerless = {
        one.subject for one in bench.labels.decisions(standing=True) if one.verdict == "unanswerable"
    }
    return tuple(
        Task(
            query_id=pool.query_id,
            text=" ".join(pool.query.split()),
            kind=pool.kind,
            done=sum((pool.query_id, one.place) in seen for one in pool.candidates),
            total=len(pool.candidates),
            answerless=pool.query_id in answerless,
        )
        for pool in pools.values()
    )


def latest_grades(rows: Sequence[Judgement]) -> dict[tuple[str, str], Judgement]:
    """Return (query id, place) -> the last judgement, of one person's rows in their order."""
    return {(row.query_id, row.place): row for row in rows}


def place_states(bench: Workbench, query_id: str, by: str) -> dict[str, dict[str, object]]:
    """Return place -> what one person may know of it.

    ``mine``: the own grade, None where it was left open. ``id``: the own judgement's. ``others``: what other
    people said, once one has said something oneself. ``conflict``: whether people disagree. ``settled``: who
    settled it, and as what.
    """
    rows = bench.labels.judgements(query_id=query_id, standing=True)
    people = [row for row in rows if row.origin == "person"]
    mine = latest_grades([row for row in people if row.by == by])
    states: dict[str, dict[str, object]] = {}
    for one in standings(people, bench.labels.decisions(standing=True)):
        own = mine.get((query_id, one.place))
        if own is None:
            continue
        others = {name: grade for name, grade in one.people.items() if name != by}
        states[one.place] = {
            "mine": own.grade,
            "id": own.id,
            "others": others,
            "conflict": one.conflict and by in one.people,
            "settled": None if one.settled_by is None else {"by": one.settled_by, "grade": one.grade},
        }
    return states


def shown_candidates(bench: Workbench, pool: Pool, query: Query | None, by: str) -> tuple[Shown, ...]:
    """Return the candidates of a pool as one person sees them."""
    states = place_states(bench, pool.query_id, by)
    documents = bench.corpus.by_id
    anchors = query.anchors if query is not None else ()
    return tuple(
        Shown(
            number=number,
            candidate=one,
            title=title_of(documents, one.doc_id),
            marks=marks_of(one, anchors),
            state=states.get(one.place, {}),
        )
        for number, one in enumerate(pool.candidates, start=1)
    )


def title_of(documents: Mapping[str, Document], doc_id: str) -> str:
    """Return the title of a document; "" where it has none, or is there no longer."""
    return (documents[doc_id].title if doc_id in documents else None) or ""


def marks_of(candidate: Candidate, anchors: Sequence[Anchor]) -> tuple[Span, ...]:
    """Return where anchors stand in a candidate's text, none inside another.

    >>> place = Candidate(doc_id="a.md", start=0, end=20, text="Keys rotate yearly.")
    >>> marks_of(place, [Anchor(id="a1", doc_id="a.md", quote="rotate yearly")])
    ((5, 18),)
    """
    spans: list[Span] = []
    for anchor in (one for each in anchors for one in each.any_of):
        if anchor.doc_id != candidate.doc_id:
            continue
        at = candidate.text.find(anchor.quote)
        if anchor.start is not None:
            at = anchor.start - candidate.start
            if candidate.text[at : at + len(anchor.quote)] != anchor.quote or at < 0:
                at = -1
        if at >= 0:
            spans.append((at, at + len(anchor.quote)))
    kept: list[Span] = []
    for start, end in sorted(spans):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return tuple(kept)


def stored_query(bench: Workbench, query_id: str) -> Query | None:
    """Return a query of the golden set as the store has it; None where it has none of that id."""
    return next((query for query in bench.labels.queries() if query.id == query_id), None)


def find_pool(bench: Workbench, pool_id: str) -> Pool:
    """Return the pool with an id.

    Raises:
        InputError: there is none.
    """
    found = bench.labels.pools(pool_id=pool_id)
    if not found:
        raise InputError(f"there is no pool {pool_id!r}", fix="reload the page: what it shows has changed")
    return found[0]


def find_candidate(pool: Pool, number: int) -> Candidate:
    """Return the candidate of a pool with a number, from 1.

    Raises:
        InputError: there is none.
    """
    if not 1 <= number <= len(pool.candidates):
        raise InputError(
            f"there is no candidate {number} in this pool", fix="reload the page: what it shows has changed"
        )
    return pool.candidates[number - 1]


def add_anchor(bench: Workbench, pool: Pool, anchor: Anchor, *, edit_id: str, by: str) -> Query:
    """Give a query one anchor more, and return the query as it is then.

    A query that the store does not have yet comes from the golden file, or else from its pool.
    """
    edits: list[Edit] = []
    with bench.deciding:
        if stored_query(bench, pool.query_id) is None:
            if bench.project.golden_path.is_file():
                import_golden(bench.project, by=by)
            if stored_query(bench, pool.query_id) is None:
                edits.append(_entering(pool, by))
        why = "marked in the workbench"
        edits.append(Edit(id=edit_id, query_id=pool.query_id, action="anchor", by=by, why=why, anchor=anchor))
        bench.labels.edit(edits)
    query = stored_query(bench, pool.query_id)
    assert query is not None, "it was put just now"
    return query


def _entering(pool: Pool, by: str) -> Edit:
    query = Query(
        id=pool.query_id,
        text=pool.query,
        kind=pool.kind,
        provenance=Provenance(origin="log", source=pool.name, verified_by=by),
    )
    return Edit(
        # The same for whoever is first, so that two at once put it once.
        id=f"pooled {pool.id}"[:64],
        query_id=pool.query_id,
        action="put",
        by=by,
        why="pooled",
        query=query,
    )


def settle_place(
    bench: Workbench, query_id: str, place: str, grade: float | None, *, decision_id: str, by: str
) -> None:
    """Settle what people disagree about."""
    bench.labels.decide(
        [Decision(id=decision_id, subject=settling(query_id, place), verdict="settled", by=by, grade=grade)]
    )
