from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.measures.spans import Spans, covered, precision_omega, span_scores, touching
from assay.model.errors import InputError

Row = tuple[int, int, int, int]


def spans_of(rows: list[Row]) -> Spans:
    table = np.array(rows, np.int64).reshape(-1, 4)
    return Spans(query=table[:, 0], doc=table[:, 1], start=table[:, 2], end=table[:, 3])


def characters(rows: list[Row], query: int) -> set[tuple[int, int]]:
    return {(doc, place) for asked, doc, start, end in rows if asked == query for place in range(start, end)}


rows_of_spans = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 20), st.integers(0, 8)).map(
        lambda row: (row[0], row[1], row[2], row[2] + row[3])
    ),
    max_size=8,
)


@given(rows=rows_of_spans)
def test_the_union_counts_each_character_once(rows: list[Row]):
    assert covered(spans_of(rows), 3).tolist() == [len(characters(rows, query)) for query in range(3)]


@given(retrieved=rows_of_spans, anchors=rows_of_spans)
def test_span_scores_equal_those_of_sets_of_characters(retrieved: list[Row], anchors: list[Row]):
    scores = span_scores(spans_of(retrieved), spans_of(anchors), 3)
    for query in range(3):
        shown, wanted = characters(retrieved, query), characters(anchors, query)
        if not wanted:
            assert math.isnan(scores.recall[query])
            assert math.isnan(scores.precision[query])
            assert math.isnan(scores.iou[query])
            continue
        both = len(shown & wanted)
        assert scores.recall[query] == both / len(wanted)
        assert scores.precision[query] == (both / len(shown) if shown else 0.0)
        assert scores.iou[query] == both / len(shown | wanted)


@given(chunks=rows_of_spans, anchors=rows_of_spans)
def test_the_chunks_that_touch_an_anchor_are_those_that_share_a_character_with_it(
    chunks: list[Row], anchors: list[Row]
):
    chosen = touching(spans_of(chunks), spans_of(anchors))
    found = {
        (query, doc, start, end)
        for query, doc, start, end in zip(
            chosen.query.tolist(),
            chosen.doc.tolist(),
            chosen.start.tolist(),
            chosen.end.tolist(),
            strict=True,
        )
    }
    wanted = {
        (query, doc, start, end)
        for query, doc, first, last in anchors
        for _, held, start, end in chunks
        if held == doc and max(start, first) < min(end, last)
    }
    assert found == wanted


def test_two_hits_that_overlap_on_half_an_anchor():
    # anchor [40, 60); hits [0, 50) and [30, 55): union [0, 55) = 55 characters, 15 of the 20 are in it
    scores = span_scores(spans_of([(0, 0, 0, 50), (0, 0, 30, 55)]), spans_of([(0, 0, 40, 60)]), 1)
    assert scores.recall.tolist() == [15 / 20]
    assert scores.precision.tolist() == [15 / 55]
    assert scores.iou.tolist() == [15 / 60]


def test_the_same_place_in_another_document_does_not_count():
    scores = span_scores(spans_of([(0, 1, 0, 50)]), spans_of([(0, 0, 0, 50)]), 1)
    assert scores.recall.tolist() == scores.precision.tolist() == scores.iou.tolist() == [0.0]


def test_nothing_retrieved_scores_zero_and_no_anchor_is_undefined():
    scores = span_scores(spans_of([]), spans_of([(0, 0, 0, 5)]), 2)
    assert scores.recall[0] == scores.precision[0] == scores.iou[0] == 0.0
    assert np.isnan([scores.recall[1], scores.precision[1], scores.iou[1]]).all()


def test_precision_omega_takes_every_chunk_that_touches_and_no_other():
    # anchor [45, 55) touches [0, 50) and [50, 100), not [100, 150): 10 of 100 characters
    chunks = spans_of([(0, 0, 0, 50), (0, 0, 50, 100), (0, 0, 100, 150)])
    assert precision_omega(chunks, spans_of([(0, 0, 45, 55)]), 1).tolist() == [0.1]


def test_an_anchor_that_no_chunk_touches_has_precision_omega_zero():
    assert precision_omega(spans_of([(0, 0, 0, 10)]), spans_of([(0, 0, 20, 30)]), 1).tolist() == [0.0]


def test_a_span_that_ends_before_it_begins_is_refused():
    with pytest.raises(InputError, match="ends before it begins"):
        covered(spans_of([(0, 0, 9, 3)]), 1)
