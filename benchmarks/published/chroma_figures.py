"""The figures of Chroma's chunking report, counted as its released code counts them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.flows.beside import as_spans, span_table
from assay.flows.evaluate import Evaluation
from assay.flows.scoring import cut_columns, score_stage
from assay.matching import SpanCodes, golden_lists
from assay.measures.spans import Spans, covered, span_scores, touching


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A row's figures, in percent."""

    recall: float
    precision: float
    omega: float
    iou: float


@dataclass(frozen=True, kw_only=True)
class Measured(Figures):
    """A row as it came out here."""

    strict: float
    """Anchor recall@5: the whole anchor in one chunk."""
    chunks: int


def measure(evaluation: Evaluation) -> Measured:
    """Return what came out, as the report counts, and strictly."""
    recall, precision, omega, iou = figures(as_placed(evaluation))
    columns = cut_columns(evaluation, ["recall"])
    strict = score_stage(evaluation, evaluation.run.final, columns, unit="anchor").average("recall@5").mean
    return Measured(
        recall=round(recall, 3),
        precision=round(precision, 3),
        omega=round(omega, 3),
        iou=round(iou, 3),
        strict=round(strict or 0.0, 4),
        chunks=len(evaluation.prepared.chunks),
    )


def as_placed(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with each chunk where the released code finds it.

    It looks a chunk's text up in its document, from the beginning, without a last full stop. Of a text that
    stands there several times all copies stand at the first, as do the labels.
    """
    run, chunks = evaluation.run, evaluation.run.chunks
    texts = {document.id: document.text for document in evaluation.prepared.corpus.documents}
    starts, ends = chunks.starts.copy(), chunks.ends.copy()
    for row, (doc_id, start, end) in enumerate(zip(chunks.doc_ids, chunks.starts, chunks.ends, strict=True)):
        text = texts[doc_id][start:end].removesuffix(".")
        starts[row] = texts[doc_id].find(text)
        ends[row] = starts[row] + len(text)
    return replace(evaluation, run=replace(run, chunks=replace(chunks, starts=starts, ends=ends)))


def figures(evaluation: Evaluation) -> tuple[float, float, float, float]:
    """Return recall, precision, precision-omega and IoU in percent."""
    spans = span_table(evaluation)
    assert spans is not None  # all places are known
    recall, precision, iou = (spans.values[name] for name in ("recall", "precision", "IoU"))
    codes = SpanCodes(evaluation.run.chunks)
    everything = codes.all_chunks()
    golden = evaluation.prepared.golden
    anchors = codes.anchors(evaluation.relevance, golden, everything)
    omega = touched_precision(as_spans(everything), as_spans(anchors), len(golden.queries))
    by_sum, iou_by_sum = as_published(evaluation, precision, iou)
    return 100 * float(recall.mean()), 100 * by_sum, 100 * float(omega.mean()), 100 * iou_by_sum


def touched_precision(chunks: Spans, anchors: Spans, n: int) -> NDArray[np.float64]:
    """Return precision-omega as the released code has it: a chunk that ends where an anchor begins counts.

    Assay asks for a character in common: its omega is up to a point higher.
    """
    wider = replace(anchors, start=anchors.start - 1, end=anchors.end + 1)
    return span_scores(touching(chunks, wider), anchors, n).precision


def as_published(
    evaluation: Evaluation, precision: NDArray[np.float64], iou: NDArray[np.float64]
) -> tuple[float, float]:
    """Return mean precision and IoU as the released code divides: by the sum of the chunks' lengths.

    Assay divides by their union: where chunks overlap, a character that two of them hold counts once.
    """
    run = evaluation.run
    lengths = (run.chunks.ends - run.chunks.starts)[run.final.chunks]
    plain = np.add.reduceat(lengths, run.final.offsets[:-1])
    rows = SpanCodes(run.chunks).retrieved(golden_lists(run.final, run, evaluation.prepared.golden))
    union = covered(as_spans(rows), len(run.query_ids))
    both = precision * union  # characters that are retrieved and asked for
    with np.errstate(divide="ignore", invalid="ignore"):
        either = np.where(both > 0, both / iou, 0.0)  # characters in one of the two
    whole = np.where(both > 0, plain + (either - union), 1.0)
    return float((both / plain).mean()), float((both / whole).mean())
