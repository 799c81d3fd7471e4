"""The figures of Chroma's chunking report, counted as its released code counts them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.flows.beside import as_spans
from assay.flows.evaluate import Evaluation
from assay.flows.scoring import cut_columns, score_stage
from assay.matching import SpanCodes, golden_lists
from assay.measures.spans import Spans, covered, span_scores, touching
from assay.model.runs import ChunkTable

Label = tuple[int, str, int, int]
"""Place of the question, document, start, end."""


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


def measure(evaluation: Evaluation, source: Path) -> Measured:
    """Return what came out, as the report counts, and strictly.

    Args:
        evaluation: the run.
        source: the folder of the report's set.
    """
    counted = figures(evaluation, labels(source))
    columns = cut_columns(evaluation, ["recall"])
    strict = score_stage(evaluation, evaluation.run.final, columns, unit="anchor").average("recall@5").mean
    return Measured(
        recall=round(counted.recall, 3),
        precision=round(counted.precision, 3),
        omega=round(counted.omega, 3),
        iou=round(counted.iou, 3),
        strict=round(strict or 0.0, 4),
        chunks=len(evaluation.prepared.chunks),
    )


def labels(source: Path) -> list[Label]:
    """Return the labels as they are: 217 begin or end with white space, which an import leaves out."""
    with (source / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        return [
            (place, f"{row['corpus_id']}.md", label["start_index"], label["end_index"])
            for place, row in enumerate(csv.DictReader(file))
            for label in json.loads(row["references"])
        ]


def figures(evaluation: Evaluation, labelled: list[Label]) -> Figures:
    """Return recall, precision, precision-omega and IoU in percent."""
    golden = evaluation.prepared.golden
    n = len(golden.queries)
    texts = {document.id: document.text for document in evaluation.prepared.corpus.documents}
    run = replace(evaluation.run, chunks=first_places(evaluation.run.chunks, texts))
    codes = SpanCodes(run.chunks)
    wanted = spans_of(labelled, codes)
    shown = as_spans(codes.retrieved(golden_lists(run.final, run, golden)))
    sizes = _sizes(wanted, n)
    both = covered(wanted, n) + covered(shown, n) - covered(shown.joined(wanted), n)
    # A character that two of the retrieved chunks hold is retrieved twice.
    whole = _sizes(shown, n)
    return Figures(
        recall=100 * float((both / sizes).mean()),
        precision=100 * float((both / whole).mean()),
        omega=100 * float(omega(as_spans(codes.all_chunks()), wanted, n).mean()),
        iou=100 * float((both / (whole + sizes - both)).mean()),
    )


def spans_of(labelled: list[Label], codes: SpanCodes) -> Spans:
    """Return labels as spans."""
    query, docs, start, end = zip(*labelled, strict=True)
    return Spans(
        query=np.array(query),
        doc=np.array([codes.of(doc) for doc in docs]),
        start=np.array(start),
        end=np.array(end),
    )


def first_places(chunks: ChunkTable, texts: Mapping[str, str]) -> ChunkTable:
    """Return the chunks where the released code finds them.

    It looks a chunk's text up in its document, from the beginning, without a last full stop. Of a text that
    stands there several times all copies stand at the first, as do the labels.
    """
    starts, ends = chunks.starts.copy(), chunks.ends.copy()
    for row, (doc_id, start, end) in enumerate(zip(chunks.doc_ids, chunks.starts, chunks.ends, strict=True)):
        text = texts[doc_id][start:end].removesuffix(".")
        starts[row] = texts[doc_id].find(text)
        ends[row] = starts[row] + len(text)
    return replace(chunks, starts=starts, ends=ends)


def omega(chunks: Spans, wanted: Spans, n: int) -> NDArray[np.float64]:
    """Return precision-omega as the released code has it: labels that no chunk holds are divided by as well.

    A chunk that ends where a label begins counts as one that touches it. Assay asks for a character in
    common: its omega is up to a point higher.
    """
    wider = replace(wanted, start=wanted.start - 1, end=wanted.end + 1)
    return span_scores(touching(chunks, wider), wanted, n).iou


def _sizes(spans: Spans, n: int) -> NDArray[np.float64]:
    return np.bincount(spans.query, weights=spans.end - spans.start, minlength=n)
