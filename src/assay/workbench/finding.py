"""Candidates that somebody found in the documents: for what no retriever returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.building.pools import Spot, best_spot, pool_id
from assay.model.errors import InputError
from assay.model.golden import Anchor
from assay.model.labels import Candidate, Pool
from assay.workbench.anchoring import Span
from assay.workbench.bench import Workbench
from assay.workbench.labelling import marks_of, title_of

MOST_WORDS = 400
"""Signs of what is searched for; more are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One passage that was found."""

    candidate: Candidate
    title: str
    marks: tuple[Span, ...]
    """Spans of its text that are anchors of the query."""
    number: int | None
    """The candidate of the pool that is the same place, from 1; None: it is none yet."""


def clean_words(text: str) -> str:
    """Return what is searched for: one line, at most 400 signs."""
    return " ".join(text.split())[:MOST_WORDS].strip()


def find_passages(bench: Workbench, pool: Pool, anchors: Sequence[Anchor], words: str) -> tuple[Found, ...]:
    """Return the passages of the documents that hold some words, the best first; none for no words."""
    if not words:
        return ()  # and no index is made for who does not search
    documents = bench.corpus.by_id
    return tuple(
        Found(
            candidate=one,
            title=title_of(documents, one.doc_id),
            marks=marks_of(one, anchors),
            number=_number_of(one, pool),
        )
        for one in bench.finder.find(words)
    )


def add_candidate(bench: Workbench, pool: Pool, words: str, place: str, *, by: str) -> tuple[Pool, int]:
    """Put a passage that some words found at the end of a query's candidates.

    Pools never change: a wider one is appended, and is the query's from then on. A place that is among the
    candidates already is not put there twice.

    Returns:
        The pool as it is then, and the number of the candidate in it.

    Raises:
        InputError: the words do not find that place (any more).
    """
    found = next((one for one in bench.finder.find(words) if one.place == place), None)
    if found is None:
        raise InputError(f"{place!r} is not among what these words find", fix="search for it again")
    with bench.deciding:
        latest = bench.labels.pools(name=pool.name, query_id=pool.query_id)[-1]
        number = _number_of(found, latest)
        if number is not None:
            return latest, number
        wider = replace(latest, candidates=(*latest.candidates, found), by=by, at="", seq=0)
        (kept,) = bench.labels.add_pools([replace(wider, id=pool_id(wider))])
    return kept, len(kept.candidates)


def _number_of(candidate: Candidate, pool: Pool) -> int | None:
    at = best_spot(Spot.of(candidate), [Spot.of(one) for one in pool.candidates])
    return None if at is None else at + 1
