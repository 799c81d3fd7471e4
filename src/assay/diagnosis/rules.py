"""Why a miss was lost: one function a kind. Each proposes, with evidence; people decide.

The first rule that fires wins, in this order:

1. *chunk-boundary*, when no chunk holds the whole anchor: nothing else can be said then.
2. *anchor-ambiguity*: a hit of the prompt says the same, so that the label is in doubt, not the retriever.
3. *reranker-demotion*: two ranks say so.
4. *ranking*, when one list had the chunk within the cut and fusion did not.
5. *chunk-boundary*, when the words that would have matched stand just outside of the chunk.
6. *vocabulary-gap*: no list reaches the chunk, and it shares no (or hardly a) telling word with the query.
7. *ranking*, when the chunk was in the pool, or within its size in one list.

A miss of which none of them speaks stays unexplained: a rule that always finds a cause has stopped looking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.diagnosis.alike import likest, worded
from assay.diagnosis.cases import Case, Passage, words_of
from assay.model.findings import Evidence

ALIKE = 0.7
"""From which part of the anchor's content words on a hit is taken to say the same."""
FEWEST = 4
"""Content words that have to stand together before another text is called alike by its words."""
FEWEST_OF_A_CHUNK = 12
"""The same where a whole chunk is compared, because a plain label names no phrase."""
NEAR = 0.25
"""The part of the query that has to stand just outside of the chunk before the cut is blamed."""
HARDLY = 0.2
"""The part of the query up to which a chunk hardly shares a word with it."""
FIX_OF = {
    "vocabulary-gap": "better-embedder",
    "chunk-boundary": "smaller-chunks",
    "ranking": "hybrid-weights",
    "reranker-demotion": "smaller-chunks",
    "anchor-ambiguity": "contextual-chunk-headers",
}
"""What each kind names where nothing in the case speaks for another fix."""
_NEVER_SEARCHED = ("not indexed", "stale label", "retriever error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What a rule says of a case."""

    kind: str
    fix: str | None
    evidence: Evidence


Rule = Callable[[Case], Proposed | None]


def severed(case: Case) -> Proposed | None:
    """*chunk-boundary*: the cut went through the anchor, so that no chunk holds it whole."""
    if case.loss.lost_at != "cut by the chunker":
        return None
    part = case.relevance.best_part.get(case.item)
    held = "" if part is None else f"; the best holds {part:.0%} of it"
    return Proposed(
        kind="chunk-boundary",
        fix="smaller-chunks",
        evidence=Evidence(
            sentence=f"No chunk holds the whole anchor{held}: the cut went through it.",
            facts={"best_part": part},
        ),
    )


def anchor_ambiguity(case: Case) -> Proposed | None:
    """*anchor-ambiguity*: another hit of the prompt says what the anchor says.

    A twin (the same phrase in another document) is certain, unless the phrase is of a few words only ("in
    1899"): then the hit has to hold as much of the query as the chunk does. Else ``ALIKE`` of the anchor's
    content words stand together in the hit. Hits that hold a part of the anchor itself are left to the
    chunk boundary.
    """
    if case.loss.lost_at in _NEVER_SEARCHED:
        return None
    twins = case.relevance.twins.get(case.item, ())
    for hit in case.top:
        if any(hit.covers(twin) for twin in twins) and _answers(case, hit):
            return _ambiguous(hit.chunk_id, hit.rank, 1.0, "the same phrase stands in it, word for word", ())
    if case.anchor is None:
        quotes = [case.passage.text] if case.passage is not None else []
        fewest = FEWEST_OF_A_CHUNK
    else:
        quotes = [anchor.quote for anchor in case.anchor.any_of]
        fewest = FEWEST
    others = [hit for hit in case.top if not any(hit.touches(place) for place in case.places)]
    best = likest(quotes, others, fewest=fewest, least=ALIKE)
    if best is None:
        return None
    what = f"{worded(best.shared)} stand together in it"
    return _ambiguous(best.hit.chunk_id, best.hit.rank, best.alike, what, best.shared)


def _answers(case: Case, hit: Passage) -> bool:
    """Whether a hit with the anchor's phrase answers as the chunk does: a few words alone are no answer."""
    quotes = [anchor.quote for anchor in case.anchor.any_of] if case.anchor is not None else []
    if any(len(words_of(quote)) >= FEWEST for quote in quotes):
        return True
    held = case.part(word for word in case.query_words if word in hit.words)
    return held > 0 and held >= case.coverage


def _ambiguous(chunk: str, rank: int | None, alike: float, what: str, shared: Sequence[str]) -> Proposed:
    return Proposed(
        kind="anchor-ambiguity",
        fix="contextual-chunk-headers",
        evidence=Evidence(
            sentence=f"Hit {rank} of the prompt ({chunk}) says the same as the anchor, {alike:.0%} alike: "
            f"{what}. If it answers the query, make it an alternative of the anchor.",
            facts={"hit": chunk, "hit_rank": rank, "alike": alike, "shared": list(shared)},
        ),
    )


def reranker_demotion(case: Case) -> Proposed | None:
    """*reranker-demotion*: fusion had the chunk within the cut, the reranker pushed it out."""
    before, after = case.pool_rank, case.reranked_rank
    if case.loss.lost_at != "reranker" or before is None or before > case.k:
        return None
    where = f"put it at {after}" if after is not None else "dropped it"
    flag = case.loss.detail.partition(";")[0] if "reranker window" in case.loss.detail else None
    sentence = f"Fusion had it at {before}, within k = {case.k}; the reranker {where}. "
    if flag is not None:
        sentence += f"It could not see why: {flag}."
    else:
        sentence += f"The chunk holds {len(case.shared)} of the query's {len(case.query_words)} content words"
        sentence += f" (not {worded(case.spelled(case.missing))})." if case.missing else "."
    return Proposed(
        kind="reranker-demotion",
        fix="contextual-chunk-headers" if case.headings and flag is None else "smaller-chunks",
        evidence=Evidence(
            sentence=sentence,
            facts={
                "before": before,
                "after": after,
                "window": flag,
                "shared": case.spelled(case.shared),
                "missing": case.spelled(case.missing),
                "headings": case.spelled(case.headings),
            },
        ),
    )


def split_ranking(case: Case) -> Proposed | None:
    """*ranking*: one list had the chunk within the cut, and the fused list has it below."""
    best, fused = case.best_list_rank, case.pool_rank
    if len(case.list_ranks) < 2 or best is None or best > case.k or (fused is not None and fused <= case.k):
        return None
    return _ranking(case, "one list had it within the cut, and fusion ranks it low")


def chunk_boundary(case: Case) -> Proposed | None:
    """*chunk-boundary*: words of the query stand in the headings or the text beside the chunk, not in it.

    They have to make ``NEAR`` of the query at least, each word by how much it tells, and more than what
    the chunk itself holds; in the top k the chunk would need none of them.
    """
    if case.loss.lost_at in _NEVER_SEARCHED or not (case.headings or case.neighbours):
        return None
    outside = case.by_weight([*case.headings, *case.neighbours])
    telling = [word for word in outside if not case.library.is_common(word)]
    part = case.part(telling)
    if not telling or part < NEAR or part <= case.coverage:
        return None
    places: list[str] = []
    if case.headings:
        places.append(f"{worded(case.spelled(case.headings))} in its headings")
    if case.neighbours:
        places.append(f"{worded(case.spelled(case.neighbours))} in the text beside it")
    return Proposed(
        kind="chunk-boundary",
        fix="contextual-chunk-headers" if case.part(case.headings) >= NEAR / 2 else "smaller-chunks",
        evidence=Evidence(
            sentence=f"The chunk lacks what would have matched: {' and '.join(places)} "
            f"({part:.0%} of the query). {_holds(case)}",
            facts={
                "shared": case.spelled(case.shared),
                "headings": case.spelled(case.headings),
                "near": case.spelled(case.neighbours),
                "part_outside": part,
                "part_inside": case.coverage,
            },
        ),
    )


def vocabulary_gap(case: Case) -> Proposed | None:
    """*vocabulary-gap*: no list reaches the chunk, which shares no telling word with the query.

    Words that every tenth chunk holds tell nothing. A chunk that shares up to ``HARDLY`` of the query, each
    word by how much it tells, shares hardly a word.
    """
    if case.loss.lost_at not in ("first stage", "pool cut", "fusion", "final cut") or case.passage is None:
        return None
    best = case.best_list_rank
    fused = case.pool_rank is not None and case.pool_rank <= case.pool_size
    if not case.query_words or fused or (best is not None and best <= case.pool_size):
        return None
    if case.telling and case.coverage > HARDLY:
        return None
    lists = [f"{name} {rank:,}" if rank else f"{name} not at all" for name, rank in case.list_ranks.items()]
    ranks = f" Ranks: {', '.join(lists)}." if lists else ""
    wanted = worded(case.spelled(case.missing))
    return Proposed(
        kind="vocabulary-gap",
        fix="better-embedder" if "vector" in case.list_ranks else "query-rewrite",
        evidence=Evidence(
            sentence=f"{_holds(case)} The chunk says nothing of {wanted}.{ranks}",
            facts={
                "shared": case.spelled(case.shared),
                "common": case.spelled(word for word in case.shared if word not in case.telling),
                "missing": case.spelled(case.missing),
                "part_inside": case.coverage,
                "list_ranks": dict(case.list_ranks),
            },
        ),
    )


def ranking(case: Case) -> Proposed | None:
    """*ranking*: the chunk was in the pool, or within its size in one list, and stands too low."""
    if case.loss.lost_at not in ("fusion", "pool cut", "final cut", "reranker"):
        return None
    fused, best = case.pool_rank, case.best_list_rank
    in_pool = fused is not None and case.k < fused <= case.pool_size
    in_list = len(case.list_ranks) > 1 and best is not None and best <= case.pool_size
    if not in_pool and not in_list:
        return None
    return _ranking(case, "it was within reach, and stands too low")


def _ranking(case: Case, what: str) -> Proposed:
    lists = [f"{name} {rank:,}" if rank else f"{name} not at all" for name, rank in case.list_ranks.items()]
    fused = f"{case.pool_rank:,}" if case.pool_rank else "not at all"
    after = f", reranked {case.reranked_rank:,}" if case.reranked_rank else ""
    ranks = f"{', '.join([*lists, f'pool {fused}'])}{after}; k = {case.k}"
    return Proposed(
        kind="ranking",
        fix="hybrid-weights" if len(case.list_ranks) > 1 else "better-embedder",
        evidence=Evidence(
            sentence=f"{what[:1].upper()}{what[1:]}: {ranks}. {_holds(case)}",
            facts={
                "list_ranks": dict(case.list_ranks),
                "pool_rank": case.pool_rank,
                "reranked_rank": case.reranked_rank,
                "shared": case.spelled(case.shared),
            },
        ),
    )


def _holds(case: Case) -> str:
    if not case.shared:
        return "Query and chunk share no content word."
    weak = "" if case.telling else ", which many chunks hold"
    return f"Query and chunk share {worded(case.spelled(case.shared))}{weak}."


RULES: tuple[Rule, ...] = (
    severed,
    anchor_ambiguity,
    reranker_demotion,
    split_ranking,
    chunk_boundary,
    vocabulary_gap,
    ranking,
)
"""In the order in which they are asked."""


def propose(case: Case, rules: Sequence[Rule] = RULES) -> Proposed | None:
    """Return what the first rule that fires says; None when none of them speaks of the case."""
    return next((said for rule in rules if (said := rule(case)) is not None), None)


def unexplained(case: Case) -> Evidence:
    """Return what is known of a case of which no rule speaks."""
    sentence = f"No rule speaks of it. Lost at {case.loss.lost_at}: {case.loss.detail}."
    if case.passage is not None and case.query_words and case.loss.lost_at not in _NEVER_SEARCHED:
        sentence += f" {_holds(case)}"
    return Evidence(
        sentence=sentence,
        facts={"shared": case.spelled(case.shared), "list_ranks": dict(case.list_ranks)},
    )
