"""Equal keys by tables: the same as looking every pair up, however keys crowd one place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.store.rankings import keyed
from assay.store.rankings.ids import scattered
from assay.store.rankings.keyed import Listed, Wanted, distinct_keys, wanted_rows_of_distinct

LIST = st.lists(st.integers(0, 12), max_size=16)
TWO_SIDES = st.one_of(
    st.lists(st.tuples(LIST, LIST), min_size=1, max_size=6),
    st.lists(st.tuples(st.permutations(range(8)), st.permutations(range(4))), min_size=1, max_size=6),
)
"""Rows and what is wanted of them, list by list; lists of any length, or all of one."""
SHIFTS = st.sampled_from([0, 30, 57, 60])
"""All keys of a list in one place of the first table, in one of the second, or in many."""


def listed(lists: Sequence[Sequence[int]], shift: int) -> Listed:
    keys = np.array([key for one in lists for key in one], np.uint64) << np.uint64(shift)
    return Listed(keys, np.array([len(one) for one in lists], np.int64))


def pairs_by_looking(rows: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    mine = [(place, key) for place, one in enumerate(rows) for key in one]
    theirs = [(place, key) for place, one in enumerate(wanted) for key in one]
    return [(r, w) for r, one in enumerate(mine) for w, other in enumerate(theirs) if one == other]


@given(TWO_SIDES, SHIFTS)
def test_all_wanted_rows_are_found_also_equal_ones(
    sides: list[tuple[Sequence[int], Sequence[int]]], shift: int
) -> None:
    rows, wanted = zip(*sides, strict=True)
    row, place = Wanted.of(listed(wanted, shift)).rows_in(listed(rows, shift))
    assert row.tolist() == sorted(row.tolist())
    assert sorted(zip(row.tolist(), place.tolist(), strict=True)) == pairs_by_looking(rows, wanted)


@given(TWO_SIDES, SHIFTS, st.booleans())
def test_distinct_rows_are_found_and_equal_keys_are_seen(
    sides: list[tuple[Sequence[int], Sequence[int]]],
    shift: int,
    wide: bool,  # noqa: FBT001
) -> None:
    rows, wanted = zip(*sides, strict=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyed, "PIECE_ROWS", 1 if wide else keyed.PIECE_ROWS)
        found = wanted_rows_of_distinct(listed(rows, shift), listed(wanted, shift))
    looked = pairs_by_looking(rows, wanted)
    if any(len(set(one)) < len(one) for one in rows):
        assert found is None
    elif found is None:  # two wanted keys are equal, and lead to one row
        assert len({r for r, _ in looked}) < len(looked)
    else:
        assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == looked


@given(st.lists(LIST, min_size=1, max_size=6), SHIFTS)
def test_keys_are_distinct_when_no_two_of_a_list_are_equal(rows: list[list[int]], shift: int) -> None:
    assert distinct_keys(listed(rows, shift)) == all(len(set(one)) == len(one) for one in rows)


def test_a_key_of_another_list_is_not_found_where_nothing_stands() -> None:
    # the empty place names no row, and the last row has the wanted key in another list
    rows, wanted = [[1], [2]], [[2], [1]]
    found = wanted_rows_of_distinct(listed(rows, 60), listed(wanted, 60))
    assert found is not None
    assert not len(found[0])


def test_keys_of_two_lists_that_mix_to_one_are_told_apart() -> None:
    # what tells lists apart in the tables that they share is chosen so that two keys become one there
    own = scattered(np.arange(2))
    crowd = np.arange(64, dtype=np.uint64)
    meet = own[0] ^ own[1]
    mine = np.concatenate([crowd, crowd[:8] ^ meet])
    rows = Listed(np.concatenate([mine, mine]), np.array([len(mine)] * 2))
    wanted = Listed(np.concatenate([crowd, crowd[:8] ^ meet]), np.array([len(crowd), 8]))
    row, place = Wanted.of(wanted).rows_in(rows)
    every = [(r, r) for r in range(len(crowd))]
    assert list(zip(row.tolist(), place.tolist(), strict=True)) == [
        *every,
        *((len(mine) + len(crowd) + r, len(crowd) + r) for r in range(8)),
    ]


def test_a_piece_of_the_largest_size_uses_no_number_that_marks_a_contested_place() -> None:
    rng = np.random.default_rng(0)
    keys = rng.permutation(np.arange(keyed.PIECE_ROWS, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    wanted = np.concatenate([keys[::7], keys[:5] + np.uint64(1)])
    found = wanted_rows_of_distinct(
        Listed(keys, np.array([len(keys)])), Listed(wanted, np.array([len(wanted)]))
    )
    assert found is not None
    assert found[0].tolist() == list(range(0, keyed.PIECE_ROWS, 7))
    assert found[1].tolist() == list(range(len(keys[::7])))
