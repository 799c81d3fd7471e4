"""One order: scores down, NaN last, ties by rule; ranks and tie groups against a plain sort."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.store.rankings.batch import Batch, folded, repeats, together
from assay.store.rankings.ids import CodeDocs, Docs, FrameDocs, ListDocs
from assay.store.rankings.ordering import Ordering, Ties
from assay.store.rankings.packed import packed

SCORES = st.sampled_from([1.0, 2.0, 2.0000000001, -1.0, math.inf, -math.inf, math.nan, 0.0])


def kinds_of(ids: list[str]) -> list[Docs]:
    """Return the same ids in every kind of column; codes keep the order of the ids."""
    codes = {text: code for code, text in enumerate(sorted(set(ids)))}
    return [
        ListDocs(ids),
        packed(ids),
        FrameDocs(pl.Series(ids, dtype=pl.String)),
        CodeDocs(np.array([codes[text] for text in ids], np.int64)),
    ]


@st.composite
def runs(draw: st.DrawFn) -> list[tuple[str, list[tuple[str, float]]]]:
    return [
        (
            f"q{number}",
            draw(
                st.lists(
                    st.tuples(st.text("abé~\U0001f600", min_size=1, max_size=2), SCORES),
                    min_size=1, max_size=8, unique_by=lambda row: row[0],
                )
            ),
        )
        for number in range(draw(st.integers(1, 3)))
    ]  # fmt: skip


def plain_order(rows: list[tuple[str, float]], ties: Ties) -> list[str]:
    """Sort one list the slow way."""
    if ties == "trec":
        rows = sorted(rows, key=lambda row: row[0].encode(), reverse=True)
    elif ties == "up":
        rows = sorted(rows, key=lambda row: row[0].encode())
    return [doc for doc, _ in sorted(rows, key=lambda row: (math.isnan(row[1]), -row[1]))]


@given(runs(), st.sampled_from(["trec", "given", "up"]))
def test_ranks_are_those_of_a_plain_sort(run: list[tuple[str, list[tuple[str, float]]]], ties: Ties) -> None:
    ids = [doc for _, rows in run for doc, _ in rows]
    for docs in kinds_of(ids):
        batch = Batch(
            queries=[query for query, _ in run],
            lengths=np.array([len(rows) for _, rows in run]),
            docs=docs,
            scores=np.array([score for _, rows in run for _, score in rows]),
        )
        ordering = Ordering(batch, ties)
        expected = [plain_order(rows, ties).index(doc) + 1 for _, rows in run for doc, _ in rows]
        every = np.arange(len(ids))
        assert ordering.places(every).rank.tolist() == expected
        assert [ids[row] for row in ordering.whole().tolist()] == [
            doc for _, rows in run for doc in plain_order(rows, ties)
        ]
        some = every[::2]
        assert ordering.places(some).rank.tolist() == expected[::2]


@given(runs())
def test_a_tie_group_stretches_over_the_ranks_of_equal_scores(
    run: list[tuple[str, list[tuple[str, float]]]],
) -> None:
    batch = Batch(
        queries=[query for query, _ in run],
        lengths=np.array([len(rows) for _, rows in run]),
        docs=ListDocs([doc for _, rows in run for doc, _ in rows]),
        scores=np.array([score for _, rows in run for _, score in rows]),
    )
    places = Ordering(batch, "trec").places(np.arange(len(batch)))
    expected: list[tuple[int, int]] = []
    for _, rows in run:
        for _, score in rows:
            above = sum(not math.isnan(s) and (math.isnan(score) or s > score) for _, s in rows)
            equal = sum(s == score or (math.isnan(s) and math.isnan(score)) for _, s in rows)
            expected.append((above + 1, above + equal))
    assert list(zip(places.first.tolist(), places.last.tolist(), strict=True)) == expected


def test_scores_that_differ_beyond_32_bits_tie_only_when_asked() -> None:
    batch = Batch(
        queries=["q"], lengths=np.array([2]), docs=ListDocs(["a", "b"]), scores=np.array([1.00000001, 1.0])
    )
    rows = np.arange(2)
    assert Ordering(batch, "trec").places(rows).rank.tolist() == [1, 2]
    assert Ordering(batch, "trec", single=True).places(rows).rank.tolist() == [2, 1]


def test_a_rank_column_is_contradicted_by_scores_and_not_by_ties() -> None:
    def contradicted(ranks: list[int], scores: list[float]) -> list[int]:
        batch = Batch(
            queries=["q", "r"],
            lengths=np.array([len(ranks) - 1, 1]),
            docs=ListDocs([f"d{n}" for n in range(len(ranks))]),
            scores=np.array(scores),
            ranks=np.array(ranks),
        )
        return Ordering(batch, "trec").contradicted().tolist()

    assert contradicted([1, 2, 1], [0.2, 0.9, 5.0]) == [0]
    assert contradicted([2, 1, 1], [0.2, 0.9, 5.0]) == []
    assert contradicted([2, 1, 1], [0.5, 0.5, 5.0]) == []
    assert contradicted([1, 1, 1], [0.9, 0.5, 5.0]) == []


@pytest.mark.parametrize(("how", "scores"), [("first", [1.0, 5.0, 4.0]), ("best", [2.0, 5.0, 4.0])])
def test_repeats_fold_to_the_first_or_the_best_row(how: str, scores: list[float]) -> None:
    for docs in kinds_of(["a", "b", "a", "a"]):
        batch = Batch(
            queries=["q", "r"], lengths=np.array([3, 1]), docs=docs, scores=np.array([1.0, 5.0, 2.0, 4.0])
        )
        assert repeats(batch).tolist() == [2]
        kept = folded(batch, "best" if how == "best" else "first")
        assert kept.scores is not None
        assert sorted(kept.scores.tolist()) == sorted(scores)
        assert kept.lengths.tolist() == [2, 1]


def test_rows_of_a_query_are_brought_together_in_their_order() -> None:
    batch = Batch(
        queries=["q", "r", "q"],
        lengths=np.array([1, 1, 2]),
        docs=ListDocs(["a", "b", "c", "d"]),
        scores=np.array([4.0, 3.0, 2.0, 1.0]),
    )
    joined = together(batch)
    assert (joined.queries, joined.lengths.tolist(), joined.docs.texts()) == (
        ["q", "r"], [3, 1], ["a", "c", "d", "b"],
    )  # fmt: skip
