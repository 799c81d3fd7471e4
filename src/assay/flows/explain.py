"""``assay explain``: one query of a run, with its anchors, its ranks and its arithmetic.

Rooms: matching (places), measures (worked arithmetic), diagnosis (ranks, losses).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.diagnosis.ranks import stage_ranks
from assay.flows.evaluate import Evaluation
from assay.flows.scoring import headline_measures
from assay.matching import judge
from assay.measures.worked import work_list
from assay.measures.working import Item, OneList
from assay.model.errors import InputError, nearest
from assay.model.explanation import Explanation, ShownChunk, ShownHit, ShownItem
from assay.model.findings import ItemLoss
from assay.model.golden import Query
from assay.model.relevance import Place, QueryRelevance
from assay.model.runs import Hit


def explain(evaluation: Evaluation, query_id: str) -> Explanation:
    """Lay one query open.

    Raises:
        InputError: the golden set has no such query.
    """
    golden, run = evaluation.prepared.golden, evaluation.run
    query = next((query for query in golden.queries if query.id == query_id), None)
    if query is None or query_id not in run.query_position:
        close = nearest(query_id, run.query_ids)
        fix = f"did you mean {close!r}?" if close else "the ids stand in the golden set: one query a line"
        raise InputError(f"there is no query {query_id!r} in this run", fix=fix)
    relevance = evaluation.relevance.by_query[query_id]
    k = evaluation.cuts.get(query_id, run.k)
    trace = run.trace(query_id)
    return Explanation(
        run_id=run.id,
        query_id=query_id,
        text=query.text,
        kind=query.kind,
        split=query.split,
        k=k,
        unit=evaluation.unit,
        searched=None,
        items=tuple(
            show_item(evaluation, query, relevance, loss)
            for loss in evaluation.losses
            if loss.query_id == query_id
        ),
        hits=tuple(show_hit(evaluation, relevance, hit) for hit in trace.final.hits),
        relevant=_relevant(evaluation, relevance),
        stages=tuple(stage.name for stage in run.stages),
        values={name: evaluation.scores.value(name, query_id) for name in evaluation.scores.measures},
        arithmetic=_arithmetic(evaluation, query_id, k),
        error=trace.final.error,
    )


def show_item(evaluation: Evaluation, query: Query, relevance: QueryRelevance, loss: ItemLoss) -> ShownItem:
    """Return one thing that a query needs, with its phrases and where they stand."""
    anchor = next((anchor for anchor in query.anchors if anchor.id == loss.item_id), None)
    quotes = (loss.item_id,) if anchor is None else tuple(one.quote for one in anchor.any_of)
    twins = relevance.twins.get(loss.item_id, ())
    return ShownItem(
        id=loss.item_id,
        grade=relevance.anchor_grades[loss.item_id],
        quotes=quotes,
        places=tuple(_told(evaluation, place) for place in relevance.places.get(loss.item_id, ())),
        loss=loss,
        twins=tuple(dict.fromkeys(place.doc_id for place in twins)),
    )


def _told(evaluation: Evaluation, place: Place) -> str:
    document = evaluation.prepared.corpus.by_id.get(place.doc_id)
    line = f", line {document.text.count(chr(10), 0, place.start) + 1}" if document else ""
    return f"{place.doc_id} [{place.start}, {place.end}){line}"


def show_hit(evaluation: Evaluation, relevance: QueryRelevance, hit: Hit) -> ShownHit:
    """Return one hit with its text, and the query's anchors marked in it."""
    text, marks = hit.text or "", []
    document = evaluation.prepared.corpus.by_id.get(hit.doc_id)
    if hit.start is not None and hit.end is not None and document is not None:
        text = document.text[hit.start : hit.end]
        places = [place for some in relevance.places.values() for place in some if place.doc_id == hit.doc_id]
        marks = [
            (max(place.start, hit.start) - hit.start, min(place.end, hit.end) - hit.start)
            for place in places
            if place.start < hit.end and place.end > hit.start
        ]
    return ShownHit(
        rank=hit.rank,
        chunk_id=hit.chunk_id,
        score=hit.score,
        earns=relevance.covers.get(hit.chunk_id, ()),
        text=text,
        marks=_joined(marks),
    )


def _joined(marks: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Join spans that overlap, so that a mark never stands inside another."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(marks):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _relevant(evaluation: Evaluation, relevance: QueryRelevance) -> tuple[ShownChunk, ...]:
    run = evaluation.run
    ids = [chunk for chunk in relevance.covers if chunk in run.chunks.position]
    chunk = np.array([run.chunks.position[one] for one in ids], np.int64)
    query = np.full(len(ids), run.query_position[relevance.query_id], np.int64)
    ranks = {
        stage.name: stage_ranks(stage, query, chunk, n_chunks=len(run.chunks)).tolist()
        for stage in run.stages
    }
    return tuple(
        ShownChunk(
            chunk_id=one,
            covers=relevance.covers[one],
            ranks={name: column[row] or None for name, column in ranks.items()},
        )
        for row, one in enumerate(ids)
    )


def _arithmetic(evaluation: Evaluation, query_id: str, k: int) -> tuple[tuple[str, ...], ...]:
    made = _one_list(evaluation, query_id)
    measures = headline_measures(evaluation.project.measure.names, k)
    return tuple(tuple(work_list(made, measure).lines()) for measure in measures)


def _one_list(evaluation: Evaluation, query_id: str) -> OneList:
    """Take one query's list out of the judged columns, with names for people."""
    run, golden, unit = evaluation.run, evaluation.prepared.golden, evaluation.unit
    judged = judge(run.final, run, evaluation.relevance, golden, unit)
    row = judged.query_ids.index(query_id)
    hits = run.trace(query_id).final.hits
    relevance = evaluation.relevance.by_query[query_id]
    grades = {
        "chunk": relevance.chunk_grades,
        "anchor": relevance.anchor_grades,
        "document": relevance.document_grades,
    }[unit]
    best = sorted((name for name in grades if grades[name] > 0), key=lambda name: (-grades[name], name))
    lost = [f"{item} ({why})" for item, why in relevance.lost.items()]
    found, ideal = judged.found, judged.ideal
    here, there = found.query == row, ideal.query == row
    names = [*best, *lost]
    return OneList(
        met=tuple(
            Item(rank=rank, grade=grade, name=_named(hits, rank, unit))
            for rank, grade in zip(found.rank[here].tolist(), found.grade[here].tolist(), strict=True)
        ),
        ideal=tuple(
            Item(rank=rank, grade=grade, name=names[at] if at < len(names) else f"item {at + 1}")
            for at, (rank, grade) in enumerate(
                zip(ideal.rank[there].tolist(), ideal.grade[there].tolist(), strict=True)
            )
        ),
        retrieved=int(judged.retrieved[row]),
    )


def _named(hits: Sequence[Hit], rank: int, unit: str) -> str:
    hit = hits[rank - 1]
    return hit.doc_id if unit == "document" else hit.chunk_id
