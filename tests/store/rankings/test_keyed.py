"""Equal keys by tables: the same as looking every pair up, however keys crowd one place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.store.rankings import keyed
from assay.store.rankings.keyed import Wanted, distinct_keys, wanted_rows_of_distinct

NUMBERS = st.lists(st.integers(0, 40), max_size=40)
SHIFTS = st.sampled_from([0, 51, 58])
"""All keys in one place of the first table, in one of the second, or each in its own."""


def keys_of(numbers: list[int], shift: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(numbers, np.uint64) << np.uint64(shift)


def pairs_by_looking(rows: list[int], wanted: list[int]) -> list[tuple[int, int]]:
    return [(r, w) for r, one in enumerate(rows) for w, other in enumerate(wanted) if one == other]


@given(NUMBERS, st.lists(st.integers(0, 40), min_size=1, max_size=40), SHIFTS)
def test_all_wanted_rows_are_found_also_equal_ones(rows: list[int], wanted: list[int], shift: int) -> None:
    row, place = Wanted.of(keys_of(wanted, shift)).rows_in(keys_of(rows, shift))
    assert row.tolist() == sorted(row.tolist())
    assert sorted(zip(row.tolist(), place.tolist(), strict=True)) == pairs_by_looking(rows, wanted)


@given(NUMBERS, NUMBERS, SHIFTS, st.booleans())
def test_distinct_rows_are_found_and_equal_keys_are_seen(
    rows: list[int],
    wanted: list[int],
    shift: int,
    wide: bool,  # noqa: FBT001
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyed, "PIECE_ROWS", 1 if wide else keyed.PIECE_ROWS)
        found = wanted_rows_of_distinct(keys_of(rows, shift), keys_of(wanted, shift))
    if len(set(rows)) < len(rows):
        assert found is None
    elif found is None:  # two wanted keys are equal, and lead to one row
        assert len({r for r, _ in pairs_by_looking(rows, wanted)}) < len(pairs_by_looking(rows, wanted))
    else:
        assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == pairs_by_looking(rows, wanted)


@given(NUMBERS, SHIFTS)
def test_keys_are_distinct_when_no_two_are_equal(rows: list[int], shift: int) -> None:
    assert distinct_keys(keys_of(rows, shift)) == (len(set(rows)) == len(rows))


def test_a_piece_of_the_largest_size_uses_no_number_that_marks_a_contested_place() -> None:
    rng = np.random.default_rng(0)
    keys = rng.permutation(np.arange(keyed.PIECE_ROWS, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    wanted = np.concatenate([keys[::7], keys[:5] + np.uint64(1)])
    found = wanted_rows_of_distinct(keys, wanted)
    assert found is not None
    assert found[0].tolist() == list(range(0, keyed.PIECE_ROWS, 7))
    assert found[1].tolist() == list(range(len(keys[::7])))
