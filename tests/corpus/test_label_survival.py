"""The two tables of the chunking report that need no retriever, from our own cuts.

The report's code knows only the texts of chunks and puts each on the first copy of that text in its document
(so that a repeated page is counted where its first copy stands), and lets a chunk that only meets an anchor's
edge count as touching it. Both are followed here, and nowhere else; what our exact places say stands beside.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from assay.corpus import make_chunker, read_corpus
from assay.corpus.chunkers.spans import Span
from assay.measures.spans import Spans, precision_omega, span_scores, touching
from assay.model.documents import Document
from shared_data import DATASETS, needs_shared

pytestmark = [needs_shared, pytest.mark.peer]
pytest.importorskip("tiktoken")

FOLDER = DATASETS / "chroma-chunking"
REPORT_SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]

# chunking, size, overlap (cl100k tokens): whole spans by first copies, and by exact places
WHOLE = [
    ("Recursive", 800, 400, 790, 790),
    ("TokenText", 800, 400, 790, 790),
    ("Recursive", 400, 200, 784, 784),
    ("TokenText", 400, 200, 789, 789),
    ("Recursive", 400, 0, 760, 759),
    ("TokenText", 400, 0, 727, 722),
    ("Recursive", 200, 0, 727, 727),
    ("TokenText", 200, 0, 663, 645),
]
SETTINGS = [row[:3] for row in WHOLE]


@cache
def documents() -> tuple[Document, ...]:
    return read_corpus(FOLDER / "corpora").documents


@cache
def labels() -> tuple[tuple[int, str, int, int], ...]:
    """Query position, document, start and end of all 790 spans."""
    with (FOLDER / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            (number, f"{row['corpus_id']}.md", int(label["start_index"]), int(label["end_index"]))
            for number, row in enumerate(csv.DictReader(file))
            for label in json.loads(row["references"])
        )


@cache
def exact_places(chunking: str, size: int, overlap: int) -> dict[str, list[Span]]:
    if chunking == "Recursive":
        shape = {"unit": "cl100k", "separators": REPORT_SEPARATORS, "separator_side": "after"}
        chunker = make_chunker("recursive", {"size": size, "overlap": overlap, **shape})
    else:
        chunker = make_chunker("tokens", {"size": size, "overlap": overlap, "counter": "cl100k"})
    return {one.id: [(chunk.start, chunk.end) for chunk in chunker.chunk(one)] for one in documents()}


def first_copies(places: dict[str, list[Span]]) -> dict[str, list[Span]]:
    """Put each chunk on the first copy of its text."""
    moved: dict[str, list[Span]] = {}
    for one in documents():
        firsts = [(one.text.find(one.text[start:end]), end - start) for start, end in places[one.id]]
        moved[one.id] = [(first, first + length) for first, length in firsts]
    return moved


def whole(places: dict[str, list[Span]]) -> int:
    return sum(
        any(first <= start and end <= last for first, last in places[doc_id])
        for _, doc_id, start, end in labels()
    )


def columns(rows: Sequence[tuple[int, str, int, int]]) -> Spans:
    codes = {one.id: code for code, one in enumerate(documents())}
    return Spans(
        query=np.array([row[0] for row in rows]),
        doc=np.array([codes[row[1]] for row in rows]),
        start=np.array([row[2] for row in rows]),
        end=np.array([row[3] for row in rows]),
    )


@pytest.mark.parametrize(("chunking", "size", "overlap", "by_first_copy", "by_place"), WHOLE)
def test_whole_spans(chunking: str, size: int, overlap: int, by_first_copy: int, by_place: int):
    places = exact_places(chunking, size, overlap)
    assert whole(first_copies(places)) == by_first_copy
    assert whole(places) == by_place


def published(chunking: str, size: int, overlap: int) -> tuple[str, str]:
    with (FOLDER / "published_results.csv").open(encoding="utf-8", newline="") as file:
        [row] = [
            row
            for row in csv.DictReader(file)
            if row["embedding_model"] == "text-embedding-3-large"
            and (row["chunking"], row["size_tokens"], row["overlap_tokens"])
            == (chunking, str(size), str(overlap))
        ]
    return row["precision_omega_pct"], row["precision_omega_sd"]


@pytest.mark.parametrize(("chunking", "size", "overlap"), SETTINGS)
def test_precision_omega_as_published(chunking: str, size: int, overlap: int):
    places = first_copies(exact_places(chunking, size, overlap))
    chunks = columns([(0, doc_id, *span) for doc_id, spans in places.items() for span in spans])
    anchors = columns(labels())
    n = int(anchors.query.max()) + 1
    # A chunk that ends where an anchor begins shares no character with it; wider anchors let it touch.
    wider = Spans(query=anchors.query, doc=anchors.doc, start=anchors.start - 1, end=anchors.end + 1)
    scores = 100 * span_scores(touching(chunks, wider), anchors, n).precision
    assert n == 472
    assert (f"{scores.mean():.1f}", f"{scores.std():.1f}") == published(chunking, size, overlap)


@pytest.mark.parametrize(("chunking", "size", "overlap"), SETTINGS)
def test_precision_omega_of_exact_places_is_near_the_published_one(chunking: str, size: int, overlap: int):
    places = exact_places(chunking, size, overlap)
    chunks = columns([(0, doc_id, *span) for doc_id, spans in places.items() for span in spans])
    scores = 100 * precision_omega(chunks, columns(labels()), 472)
    # Fewer chunks touch, so that the figure is a little higher (0.05: the published one is rounded).
    assert -0.05 <= scores.mean() - float(published(chunking, size, overlap)[0]) < 0.9


def test_our_recursive_cuts_are_those_of_the_report():
    splitters = pytest.importorskip("langchain_text_splitters")
    from assay.corpus.tokens import token_counter  # noqa: PLC0415 - after the skip

    theirs = splitters.RecursiveCharacterTextSplitter(
        chunk_size=200,
        chunk_overlap=0,
        separators=REPORT_SEPARATORS,
        length_function=token_counter("cl100k").count,
    )
    ours = exact_places("Recursive", 200, 0)
    for one in documents():
        assert [one.text[start:end] for start, end in ours[one.id]] == theirs.split_text(one.text)
