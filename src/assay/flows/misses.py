"""The queries that lack something, each with its evidence: anchors, passages, hits, ranks, finding, remedy.

Rooms: diagnosis (through ``diagnose``), and what ``explain`` shows of one query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assay.flows.diagnose import Diagnosed
from assay.flows.evaluate import Evaluation
from assay.flows.explain import show_hit, show_item
from assay.flows.summarise import stage_of
from assay.model.explanation import ShownHit
from assay.model.findings import Finding, LostAt, Remedy
from assay.model.golden import Query
from assay.model.report import MissedItem, MissedQuery, ShownPassage
from assay.model.runs import Hit

MOST_CHARS = 1200
"""Characters of one passage."""
AROUND = 240
"""Characters shown before and after an anchor that no chunk holds."""


def missed_queries(diagnosed: Diagnosed, passages: int) -> tuple[MissedQuery, ...]:
    """Return the queries that lack something, in the order of the golden set.

    Args:
        diagnosed: the run.
        passages: how many of them are shown with their passages, evenly over kinds and places of loss.
    """
    evaluation = diagnosed.evaluation
    findings: dict[str, list[Finding]] = {}
    for finding in diagnosed.diagnosis.findings:
        findings.setdefault(finding.query_id, []).append(finding)
    needs = Counter(loss.query_id for loss in evaluation.losses)
    missed = [query for query in evaluation.prepared.golden.queries if query.id in findings]
    chosen = _evenly([(query.kind, findings[query.id][0].lost_at) for query in missed], passages)
    remedies = {(one.query_id, one.item): one for one in diagnosed.diagnosis.remedies}
    row_of = {query: row for row, query in enumerate(evaluation.scores.query_ids)}
    return tuple(
        MissedQuery(
            query_id=query.id,
            kind=query.kind,
            split=query.split,
            text=" ".join(query.text.split()),
            k=evaluation.cuts.get(query.id, evaluation.run.k),
            of=needs[query.id],
            items=tuple(
                _item(evaluation, query, finding, remedies.get((query.id, finding.item)), shown=at in chosen)
                for finding in findings[query.id]
            ),
            shown=at in chosen,
            hits=_hits(evaluation, query) if at in chosen else (),
            values=_values(evaluation, row_of[query.id]),
            error=_error(evaluation, query),
        )
        for at, query in enumerate(missed)
    )


def _evenly(groups: Sequence[tuple[str, LostAt]], most: int) -> set[int]:
    """Choose positions so that no group is left out for another: the first of each, then the second, ..."""
    turn: Counter[tuple[str, LostAt]] = Counter()
    order: list[tuple[int, int]] = []
    for at, group in enumerate(groups):
        order.append((turn[group], at))
        turn[group] += 1
    return {at for _, at in sorted(order)[:most]}


def _hits(evaluation: Evaluation, query: Query) -> tuple[ShownHit, ...]:
    run = evaluation.run
    if query.id not in run.query_position:
        return ()
    relevance = evaluation.relevance.by_query[query.id]
    hits: list[ShownHit] = []
    for hit in run.trace(query.id).final.hits:
        told = show_hit(evaluation, relevance, hit)
        text, marks = excerpt(told.text, told.marks)
        hits.append(replace(told, text=text, marks=marks))
    return tuple(hits)


def _values(evaluation: Evaluation, row: int) -> dict[str, float | None]:
    scores = {name: float(column[row]) for name, column in evaluation.scores.values.items()}
    return {name: None if np.isnan(value) else value for name, value in scores.items()}


def _error(evaluation: Evaluation, query: Query) -> str | None:
    at = evaluation.run.query_position.get(query.id)
    return None if at is None else evaluation.run.final.errors.get(at)


def _item(
    evaluation: Evaluation, query: Query, finding: Finding, remedy: Remedy | None, *, shown: bool
) -> MissedItem:
    loss = finding.loss
    assert loss is not None
    made = MissedItem(
        item=finding.item,
        lost_at=finding.lost_at,
        stage=stage_of(evaluation.run, finding.lost_at),
        detail=loss.detail,
        ranks=loss.ranks,
        finding=finding,
        remedy=remedy,
    )
    if not shown:
        return made
    relevance = evaluation.relevance.by_query[query.id]
    told = show_item(evaluation, query, relevance, loss)
    return replace(
        made,
        quotes=told.quotes,
        places=told.places,
        twins=told.twins,
        passage=_passage(evaluation, query, finding),
    )


def _passage(evaluation: Evaluation, query: Query, finding: Finding) -> ShownPassage | None:
    """The chunk that came nearest; where no chunk holds the anchor, the text around it."""
    run = evaluation.run
    relevance = evaluation.relevance.by_query[query.id]
    loss = finding.loss
    if loss is not None and loss.chunk_id is not None:
        at = run.chunks.position[loss.chunk_id]
        start = int(run.chunks.starts[at])
        hit = Hit(
            rank=1,
            chunk_id=loss.chunk_id,
            doc_id=run.chunks.doc_ids[at],
            start=None if start < 0 else start,
            end=None if start < 0 else int(run.chunks.ends[at]),
            score=None,
            text=run.chunks.texts[at],
        )
        told = show_hit(evaluation, relevance, hit)
        if not told.text:
            return None
        text, marks = excerpt(told.text, told.marks)
        return ShownPassage(chunk_id=loss.chunk_id, doc_id=hit.doc_id, text=text, marks=marks)
    for place in relevance.places.get(finding.item, ()):
        document = evaluation.prepared.corpus.by_id.get(place.doc_id)
        if document is not None:
            start, end = max(0, place.start - AROUND), min(len(document.text), place.end + AROUND)
            text, marks = excerpt(
                document.text[start:end],
                ((place.start - start, place.end - start),),
                before=start > 0,
                after=end < len(document.text),
            )
            return ShownPassage(chunk_id=None, doc_id=place.doc_id, text=text, marks=marks)
    return None


def excerpt(
    text: str,
    marks: Sequence[tuple[int, int]],
    *,
    most: int = MOST_CHARS,
    before: bool = False,
    after: bool = False,
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Cut a passage to so many characters around its first mark, and move the marks with it.

    Args:
        text: the passage.
        marks: spans of it.
        most: characters that are kept.
        before: whether more text stood before the passage already.
        after: whether more stood after it.

    >>> excerpt("one two three four", [(8, 13)], most=9)
    ('… o three f …', ((4, 9),))
    """
    start = 0
    if len(text) > most:
        first, end = marks[0] if marks else (0, 0)
        room = max(0, most - (end - first)) // 2
        start = min(max(0, first - room), len(text) - most) if marks else 0
    stop = min(len(text), start + most)
    head = "… " if before or start > 0 else ""
    tail = " …" if after or stop < len(text) else ""
    moved = [
        (max(first, start) - start + len(head), min(end, stop) - start + len(head))
        for first, end in marks
        if first < stop and end > start
    ]
    return f"{head}{text[start:stop]}{tail}", tuple(moved)
