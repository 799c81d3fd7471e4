"""What stands beside the headline: recall within a token budget, and character-level scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.corpus import count_tokens
from assay.matching import SpanCodes, SpanRows, golden_lists, judge
from assay.measures.batch import ceilings, score
from assay.measures.budget import cut_lists, hits_within
from assay.measures.spans import Spans
from assay.measures.spans import span_scores as score_spans
from assay.measures.spec import parse_measures
from assay.model.documents import Document
from assay.model.runs import ChunkTable
from assay.model.scores import Average, ScoreTable

if TYPE_CHECKING:
    from assay.flows.evaluate import Evaluation


def budget_recall(evaluation: Evaluation) -> dict[int, Average]:
    """Return the recall of evidence (anchor unit) within so many tokens of prompt.

    The final list is filled into the prompt from the top, and stops at the first chunk that does not fit.
    Empty where the text of the chunks is not known.
    """
    run, golden = evaluation.run, evaluation.prepared.golden
    tokens = _chunk_tokens(evaluation)
    if tokens is None:
        return {}
    lists = golden_lists(run.final, run, golden)
    judged = judge(run.final, run, evaluation.relevance, golden, "anchor")
    (recall,) = parse_measures([f"recall@{run.k}"])
    best = ceilings(judged, [recall])[str(recall)]
    result: dict[int, Average] = {}
    for budget in evaluation.project.measure.budgets:
        cut = cut_lists(judged, hits_within(lists.offsets, tokens[lists.chunks], budget))
        table = ScoreTable(
            query_ids=judged.query_ids, values=score(cut, [recall]), ceilings={str(recall): best}
        )
        result[budget] = table.average(str(recall))
    return result


def _chunk_tokens(evaluation: Evaluation) -> NDArray[np.int64] | None:
    """Count the tokens of the chunks that the final list names; None where a text is not known."""
    table, documents = evaluation.run.chunks, evaluation.prepared.corpus.by_id
    tokens = np.zeros(len(table), np.int64)
    for chunk in np.unique(evaluation.run.final.chunks).tolist():
        text = _text_of(table, int(chunk), documents)
        if text is None:
            return None
        tokens[chunk] = count_tokens(text)
    return tokens


def _text_of(table: ChunkTable, chunk: int, documents: Mapping[str, Document]) -> str | None:
    if table.texts[chunk] is not None:
        return table.texts[chunk]
    document = documents.get(table.doc_ids[chunk])
    if document is None or table.starts[chunk] < 0:
        return None
    return document.text[int(table.starts[chunk]) : int(table.ends[chunk])]


def span_scores(evaluation: Evaluation) -> dict[str, Average]:
    """Return character-level recall, precision and IoU of the final list; empty where places are unknown."""
    table = span_table(evaluation)
    return {} if table is None else {name: table.average(name) for name in table.measures}


def span_table(evaluation: Evaluation) -> ScoreTable | None:
    """Return the character-level scores query by query; None where places are unknown."""
    run, golden = evaluation.run, evaluation.prepared.golden
    lists = golden_lists(run.final, run, golden)
    if not len(lists.chunks) or (run.chunks.starts[lists.chunks] < 0).any():
        return None
    codes = SpanCodes(run.chunks)
    cuts = [evaluation.cuts.get(query.id, run.k) for query in golden.queries]
    retrieved = codes.retrieved(lists, cuts)
    anchors = codes.anchors(evaluation.relevance, golden, retrieved)
    if not len(anchors.query):
        return None
    scores = score_spans(as_spans(retrieved), as_spans(anchors), len(golden.queries))
    return ScoreTable(
        query_ids=tuple(query.id for query in golden.queries),
        values={"recall": scores.recall, "precision": scores.precision, "IoU": scores.iou},
    )


def as_spans(rows: SpanRows) -> Spans:
    """Hand the places that matching found to the measures."""
    return Spans(query=rows.query, doc=rows.doc, start=rows.start, end=rows.end)
