"""The recall waterfall: of all that was relevant, what each place kept and lost. Exact, in fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from assay.model.findings import PLACES, ItemLoss, LostAt, Waterfall, WaterfallPart


def waterfalls(
    losses: Sequence[ItemLoss], kind_of: Mapping[str, str], *, kinds: Sequence[str] = ()
) -> tuple[Waterfall, ...]:
    """Return the waterfall of all queries, then of each kind.

    Args:
        losses: what became of every relevant item.
        kind_of: query id -> its kind.
        kinds: the kinds in their order; those that only queries name follow.

    >>> losses = [ItemLoss(query_id="q1", item_id="a1", lost_at=None)]
    >>> [(one.group, one.recall) for one in waterfalls(losses, {"q1": "factual"})]
    [(None, Fraction(1, 1)), ('factual', Fraction(1, 1))]
    """
    groups: dict[str, list[ItemLoss]] = {kind: [] for kind in kinds}
    for loss in losses:
        groups.setdefault(kind_of[loss.query_id], []).append(loss)
    return (
        waterfall(losses),
        *(waterfall(some, group=kind) for kind, some in groups.items()),
    )


def waterfall(losses: Sequence[ItemLoss], *, group: str | None = None) -> Waterfall:
    """Return what each place lost of the macro recall, counted in items.

    Each query weighs 1 / queries and each of its items alike, so that what is left at the end is recall at
    the final cut in the anchor unit, to the last digit.

    >>> losses = [
    ...     ItemLoss(query_id="q1", item_id="a1", lost_at=None),
    ...     ItemLoss(query_id="q1", item_id="a2", lost_at="fusion"),
    ...     ItemLoss(query_id="q2", item_id="a1", lost_at="reranker"),
    ... ]
    >>> [(part.lost_at, str(part.lost), str(part.kept)) for part in waterfall(losses).parts]
    [('fusion', '1/4', '3/4'), ('reranker', '1/2', '1/4')]
    """
    items_of = Counter(loss.query_id for loss in losses)
    # Fractions are slow one by one: items are counted by (place, size of the query) first.
    counts: Counter[tuple[LostAt | None, int]] = Counter()
    queries_at: dict[LostAt, set[str]] = {}
    for loss in losses:
        counts[loss.lost_at, items_of[loss.query_id]] += 1
        if loss.lost_at is not None:
            queries_at.setdefault(loss.lost_at, set()).add(loss.query_id)
    parts: list[WaterfallPart] = []
    kept = Fraction(1)
    for place in PLACES:
        if place not in queries_at:
            continue
        lost = _weight(counts, place, len(items_of))
        kept -= lost
        parts.append(
            WaterfallPart(
                lost_at=place,
                items=sum(n for (where, _), n in counts.items() if where == place),
                queries=len(queries_at[place]),
                lost=lost,
                kept=kept,
            )
        )
    return Waterfall(
        group=group,
        queries=len(items_of),
        items=len(losses),
        found=sum(loss.found for loss in losses),
        recall=kept if items_of else None,
        parts=tuple(parts),
    )


def _weight(counts: Counter[tuple[LostAt | None, int]], place: LostAt, queries: int) -> Fraction:
    return sum(
        (Fraction(n, size * queries) for (where, size), n in counts.items() if where == place), Fraction(0)
    )
