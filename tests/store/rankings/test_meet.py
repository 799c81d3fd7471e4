"""Where runs meet judgements: the same as looking every pair up, whatever the keys and the pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.measures.batch import score
from assay.measures.single import ndcg_at_k, reciprocal_rank
from assay.measures.spec import parse_measures
from assay.store.rankings import meet as rooms
from assay.store.rankings.batch import Batch, RepeatedError
from assay.store.rankings.ids import CodeDocs, Keys, ListDocs
from assay.store.rankings.judgements import Judgements
from assay.store.rankings.meet import Meet, Rules
from assay.store.rankings.reading import read_judgements

LISTS = st.lists(st.lists(st.integers(0, 30), max_size=12, unique=True), min_size=1, max_size=6)


def batch_of(lists: list[list[int]]) -> Batch:
    return Batch(
        queries=[f"q{place}" for place in range(len(lists))],
        lengths=np.array([len(one) for one in lists], np.int64),
        docs=CodeDocs(np.array([doc for one in lists for doc in one], np.int64)),
        scores=None,
    )


def judged_of(lists: list[list[int]]) -> Judgements:
    batch = batch_of(lists)
    return Judgements(
        name="made",
        query_ids=tuple(batch.queries),
        query=np.repeat(np.arange(len(lists), dtype=np.int32), batch.lengths),
        docs=batch.docs,
        grades=np.array([place % 3 for one in lists for place in range(len(one))], np.float64),
    )


@given(LISTS, LISTS, st.booleans())
def test_what_is_met_is_what_looking_up_every_pair_gives(
    run: list[list[int]],
    judged: list[list[int]],
    cut: bool,  # noqa: FBT001
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rooms, "_PIECE_ROWS", 2 if cut else 1 << 18)
        found = Meet(judged_of(judged), Rules(ties="given")).take([batch_of(run)]).judged.found
    expected = [
        (query, rank, float(judged[query].index(doc) % 3))
        for query in range(min(len(run), len(judged)))
        for rank, doc in enumerate(run[query], start=1)
        if doc in judged[query]
    ]
    assert list(zip(found.query.tolist(), found.rank.tolist(), found.grade.tolist(), strict=True)) == expected


@dataclass(frozen=True, slots=True)
class OneKey(ListDocs):
    """Ids whose keys are all the same: the worst that could happen."""

    def keys(self) -> Keys:
        return np.zeros(len(self.ids), np.uint64)

    def take(self, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> OneKey:
        return OneKey([self.ids[row] for row in rows.tolist()])


def test_equal_keys_of_unequal_ids_change_nothing() -> None:
    judgements = Judgements(
        name="made",
        query_ids=("q",),
        query=np.zeros(3, np.int32),
        docs=OneKey(["a", "b", "c"]),
        grades=np.array([1.0, 2.0, 3.0]),
    )
    batch = Batch(
        queries=["q"], lengths=np.array([4]), docs=OneKey(["x", "c", "a", "y"]), scores=None, proven=True
    )
    found = Meet(judgements, Rules(ties="given")).take([batch]).judged.found
    assert list(zip(found.rank.tolist(), found.grade.tolist(), strict=True)) == [(2, 3.0), (3, 1.0)]


@given(LISTS, LISTS)
def test_scores_are_those_of_the_textbook(run: list[list[int]], judged: list[list[int]]) -> None:
    judgements = judged_of(judged)
    met = Meet(judgements, Rules(ties="given")).take([batch_of(run)]).judged
    values = score(met, parse_measures(["nDCG@3", "RR"]))
    for query in range(len(judged)):
        ranked = [str(doc) for doc in run[query]] if query < len(run) else []
        grades = {str(doc): float(place % 3) for place, doc in enumerate(judged[query])}
        for name, value in (
            ("nDCG@3", ndcg_at_k(ranked, grades, 3)),
            ("RR", reciprocal_rank(ranked, grades)),
        ):
            np.testing.assert_equal(values[name][query], np.nan if value is None else value)


def test_the_ideal_of_grades_that_are_fractions_or_far_apart() -> None:
    judgements = read_judgements({"q": {"a": 0.5, "b": 2.0, "c": -1}, "r": {"a": 1e9, "b": 3, "c": 70000.5}})
    ideal = judgements.ideal
    rows = list(zip(ideal.query.tolist(), ideal.rank.tolist(), ideal.grade.tolist(), strict=True))
    assert rows == [(0, 1, 2.0), (0, 2, 0.5), (1, 1, 1e9), (1, 2, 70000.5), (1, 3, 3.0)]
    assert judgements.nonrelevant.tolist() == [1, 0]
    assert judgements.negative.tolist() == [1, 0]


def test_repeats_are_named_by_query_and_document() -> None:
    batch = Batch(
        queries=["q", "r"], lengths=np.array([3, 1]), docs=ListDocs(["a", "b", "a", "a"]), scores=None
    )
    with pytest.raises(RepeatedError) as error:
        Meet(read_judgements({"q": {"a": 1}}), Rules()).add(batch)
    assert error.value.pairs == (("q", "a"),)


def test_documents_named_like_the_query_are_left_out_when_asked() -> None:
    batch = Batch(
        queries=["q"], lengths=np.array([2]), docs=ListDocs(["q", "a"]), scores=np.array([2.0, 1.0])
    )
    judgements = read_judgements({"q": {"a": 1}})
    assert Meet(judgements, Rules(unlike_query=True)).take([batch]).judged.found.rank.tolist() == [1]
    assert Meet(judgements, Rules()).take([batch]).judged.found.rank.tolist() == [2]
