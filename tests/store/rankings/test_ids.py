"""Columns of ids: every kind answers alike."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.store.rankings.ids import CodeDocs, Docs, FrameDocs, ListDocs, joined
from assay.store.rankings.packed import PackedDocs, packed

IDS = st.text("abé~\U0001f600#", min_size=1, max_size=20)


def kinds_of(ids: list[str]) -> list[Docs]:
    return [ListDocs(ids), FrameDocs(pl.Series(ids, dtype=pl.String)), packed(ids)]


@given(st.lists(IDS, min_size=1, max_size=12), st.lists(IDS, min_size=1, max_size=12))
def test_equal_ids_and_only_they_have_equal_keys(mine: list[str], theirs: list[str]) -> None:
    every = [*mine, *theirs, *mine]
    for docs in kinds_of(every):
        keys = docs.keys()
        for other in kinds_of(theirs):
            alike = docs.like(other)
            same = keys[:, None] == alike.keys()[None, :]
            assert same.tolist() == [[a == b for b in theirs] for a in every]


@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=12))
def test_same_compares_row_by_row(pairs: list[tuple[str, str]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    for docs in kinds_of(left):
        for other in kinds_of(right):
            assert docs.same(docs.like(other)).tolist() == [a == b for a, b in pairs]


@given(st.lists(IDS, min_size=2, max_size=12), st.data())
def test_rows_are_taken_cut_and_joined(ids: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(ids) - 1), min_size=1))
    for docs in kinds_of(ids):
        assert docs.take(np.array(rows)).texts() == [ids[row] for row in rows]
        assert docs.cut(1, len(ids)).texts() == ids[1:]
        assert len(docs) == len(ids)
        for other in kinds_of(ids[:1]):
            assert joined([docs, other]).texts() == [*ids, ids[0]]


@given(st.lists(IDS, min_size=1, max_size=12))
def test_places_go_down_by_utf_8_bytes_inside_each_group(ids: list[str]) -> None:
    group = np.arange(len(ids)) // 3
    for docs in kinds_of(ids):
        places = docs.places_down(group).tolist()
        for number in range(int(group.max()) + 1):
            inside = [row for row in range(len(ids)) if group[row] == number]
            shown = sorted(inside, key=lambda row: places[row])
            assert [ids[row] for row in shown] == sorted(
                (ids[row] for row in inside), key=str.encode, reverse=True
            )


def test_ids_that_begin_alike_or_hold_zeros_stay_apart() -> None:
    ids = ["a", "a\0", "aaaaaaaa", "aaaaaaaa\0", "aaaaaaaaa", ""]
    docs = packed(ids)
    assert len(set(docs.keys().tolist())) == len(ids)
    assert docs.texts() == ids
    assert docs.same(packed(ids)).all()
    assert not docs.same(packed([*ids[1:], ids[0]])).any()


def test_codes_compare_with_codes_and_with_numbers_as_text() -> None:
    docs = CodeDocs(np.array([7, 3, 11]))
    assert docs.same(ListDocs(["7", "4", "11"])).tolist() == [True, False, True]
    assert docs.places_down(np.zeros(3, np.intp)).tolist() == [1, 2, 0]
    assert docs.texts() == ["7", "3", "11"]
    assert docs.below([docs]).codes.tolist() == [7, 3, 11, 7, 3, 11]


def test_a_column_may_be_empty() -> None:
    for docs in kinds_of([]):
        assert (len(docs), docs.texts(), docs.keys().tolist()) == (0, [], [])
    assert PackedDocs(b"\0" * 8, np.zeros(0, np.int64), np.zeros(0, np.int64)).same(packed([])).tolist() == []


@pytest.mark.parametrize("text", ["1", "x" * 200])
def test_long_and_short_ids_have_the_same_code_in_any_company(text: str) -> None:
    for alone, among in zip(kinds_of([text]), kinds_of(["y" * 300, text, "z"]), strict=True):
        assert alone.keys()[0] == among.keys()[1]
