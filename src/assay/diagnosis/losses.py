"""Where each relevant item was lost: certain, read from the trace alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from assay.diagnosis.ranks import ItemRanks, item_ranks
from assay.model.findings import ItemLoss, LostAt
from assay.model.relevance import Relevance
from assay.model.runs import Run, StageTable

Hidden = Mapping[tuple[str, str], str]
"""(query id, item) -> why the reranker could not see the anchor."""


def find_losses(
    run: Run,
    relevance: Relevance,
    *,
    cuts: Mapping[str, int] | None = None,
    hidden: Hidden | None = None,
) -> tuple[ItemLoss, ...]:
    """Say of each relevant item whether it reached the prompt and, if not, where it was lost.

    An item is found when a hit of the final list within the query's cut covers it. Otherwise
    ``lost_at`` is the earliest stage after which it could no longer be found:

    - *not indexed*, *stale label*, *cut by the chunker*: no chunk of the index holds it.
    - *retriever error*: the query failed, or the run has no such query.
    - *first stage*: no first-stage list holds it at all.
    - *fusion*: a single list had it within the size of the pool; the fused list has it below.
    - *pool cut*: below the size of the pool in every list and in the fused list, or below the part of the
      pool that the reranker was sent.
    - *reranker*: the pool had it; the reranker dropped it, or took it from within the cut to below. The
      detail says when the anchor lay beyond the reranker's window.
    - *diversity*: the list before had it within the cut, the diversified one has not.
    - *token budget*: the list before the final one had it within the cut, the budget was full.
    - *final cut*: it was there all the time, below the cut.

    Args:
        run: the run; its traces are enough, nothing is called.
        relevance: which chunks cover which items.
        cuts: query id -> k, where it differs from the run's.
        hidden: anchors that the reranker could not see (``diagnosis/windows.py``).
    """
    return (*_lost_in_run(run, relevance, cuts or {}, hidden or {}), *_never_run(run, relevance))


def _lost_in_run(
    run: Run, relevance: Relevance, cuts: Mapping[str, int], hidden: Hidden
) -> Iterator[ItemLoss]:
    table = item_ranks(run, relevance)
    final, sent = run.final, sent_to_reranker(run)
    for row, item in enumerate(table.item_ids):
        at = int(table.query[row])
        query_id = run.query_ids[at]
        k = cuts.get(query_id, run.k)
        ranks = {name: int(column[row]) or None for name, column in table.ranks.items()}
        reason = relevance.by_query[query_id].lost.get(item)
        chunk = int(table.nearest[row])
        lost_at: LostAt | None
        if reason is not None:
            lost_at, detail = reason, _why_never(relevance, query_id, item)
        elif _within(ranks.get(final.name), k):
            lost_at, detail = None, f"rank {ranks[final.name]} of the final list"
        elif at in final.errors:
            lost_at, detail = "retriever error", final.errors[at]
        else:
            lost_at, detail = _lost_between(run, ranks, at, k, sent)
            if lost_at == "reranker" and (query_id, item) in hidden:
                detail = f"{hidden[query_id, item]}; {detail}"
        yield ItemLoss(
            query_id=query_id,
            item_id=item,
            lost_at=lost_at,
            detail=detail,
            chunk_id=run.chunks.ids[chunk] if chunk >= 0 else None,
            ranks=ranks,
        )


def _never_run(run: Run, relevance: Relevance) -> Iterator[ItemLoss]:
    """Yield the items of queries that the run lacks: they count, and score 0."""
    for one in relevance.queries:
        if one.query_id in run.query_position:
            continue
        for item, grade in one.anchor_grades.items():
            if grade > 0:
                yield ItemLoss(
                    query_id=one.query_id,
                    item_id=item,
                    lost_at=one.lost.get(item, "retriever error"),
                    detail=_why_never(relevance, one.query_id, item)
                    if item in one.lost
                    else "the run has no such query",
                    ranks=dict.fromkeys([stage.name for stage in run.stages]),
                )


def sent_to_reranker(run: Run) -> int | None:
    """Return how many rows of the pool the reranker was sent, where the run's settings say so.

    Foreign runs say it in ``meta["reranker_sent"]``.
    """
    said = run.meta.get("reranker_sent")
    at: Any = run.pipeline
    for name in ("pipeline", "reranker"):
        at = cast("Mapping[str, object]", at).get(name) if isinstance(at, Mapping) else None
    if said is None and isinstance(at, Mapping):
        said = cast("Mapping[str, object]", at).get("top_n")
    return said if isinstance(said, int) else None


def _within(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def _why_never(relevance: Relevance, query_id: str, item: str) -> str:
    one = relevance.by_query[query_id]
    part = one.best_part.get(item)
    if one.lost[item] == "cut by the chunker" and part is not None:
        return f"no chunk holds the whole anchor; the best holds {part:.0%} of it"
    return {
        "not indexed": "its document is not in the index",
        "stale label": "the phrase no longer stands in its document",
        "cut by the chunker": "no chunk holds the whole anchor",
    }[one.lost[item]]


def _lost_between(
    run: Run, ranks: Mapping[str, int | None], query: int, k: int, sent: int | None
) -> tuple[LostAt, str]:
    lists = [stage for stage in run.stages if stage.role == "list"]
    known = [f"rank {ranks[stage.name]} of {stage.name}" for stage in lists if ranks[stage.name]]
    if lists and not known:
        return "first stage", f"in no list of the first stage ({', '.join(stage.name for stage in lists)})"
    before = ranks[lists[0].name] if len(lists) == 1 else None
    for stage in run.stages[len(lists) :]:
        if stage.role == "rerank" and not ranks[stage.name] and sent is not None and before and before > sent:
            return "pool cut", f"rank {before} before {stage.name}, which was sent {sent}; k = {k}"
        lost = _lost_in(stage, before, ranks[stage.name], size=_size(stage, query), k=k)
        if lost == "pool cut" and any(_within(ranks[one.name], _size(stage, query)) for one in lists):
            lost = "fusion" if len(lists) > 1 else "pool cut"
        if lost is not None:
            now = ranks[stage.name]
            here = f"rank {now} in {stage.name}" if now else f"absent from {stage.name}"
            was = f"rank {before} before" if before else "; ".join(known)
            return lost, f"{here}{f' ({was})' if was else ''}; k = {k}"
        before = ranks[stage.name]
    return "final cut", f"{f'rank {before}' if before else 'absent'} in the final list; k = {k}"


def _size(stage: StageTable, query: int) -> int:
    span = stage.hits_of(query)
    return span.stop - span.start


def _lost_in(stage: StageTable, before: int | None, now: int | None, *, size: int, k: int) -> LostAt | None:
    """Say whether an item was lost in one stage after the first, and as what."""
    match stage.role:
        case "pool":
            return None if _within(now, size) else "pool cut"
        case "rerank":
            demoted = before is not None and before <= k and not _within(now, k)
            return "reranker" if now is None or now > size or demoted else None
        case "diversify":
            return "diversity" if _within(before, k) and not _within(now, k) else None
        case "final" if before is not None:
            return "token budget" if before <= k and not _within(now, k) else "final cut"
        case _:
            return None if now is not None else "first stage"


def by_query(losses: tuple[ItemLoss, ...]) -> dict[str, list[ItemLoss]]:
    """Group losses by their query, in the order in which they stand."""
    groups: dict[str, list[ItemLoss]] = {}
    for loss in losses:
        groups.setdefault(loss.query_id, []).append(loss)
    return groups


__all__ = ["Hidden", "ItemRanks", "by_query", "find_losses", "sent_to_reranker"]
