"""The exact sum: what ``math.fsum`` gives, whatever the values and their order."""

from __future__ import annotations

from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.scores import exact_sum

SCALES = st.sampled_from([1.0, 1000.0, 2.0**-30, 2.0**-60, 2.0**-300, 1e300])


@given(st.integers(0, 2**32 - 1), SCALES, SCALES, st.sampled_from([1, 1023, 1024, 5000]))
def test_a_long_column_has_the_sum_of_fsum(seed: int, scale: float, other: float, length: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.random(length) * scale
    values[rng.random(length) < 0.3] *= -1
    values[rng.random(length) < 0.1] = rng.random() * other
    assert exact_sum(values) == fsum(values.tolist())
    assert exact_sum(values[::-1]) == exact_sum(values)


@given(st.integers(0, 2**32 - 1))
def test_shares_of_small_numbers_have_the_sum_of_fsum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 20, 3000) / rng.integers(1, 1000, 3000)
    assert exact_sum(values) == fsum(values.tolist())


@pytest.mark.parametrize("odd", [np.inf, -np.inf, 2.0**10, 5e-324, -0.0])
def test_a_value_out_of_the_common_range_is_summed_as_it_is(odd: float) -> None:
    values = np.full(2000, 0.1)
    values[7] = odd
    assert exact_sum(values) == fsum(values.tolist())


def test_values_whose_parts_would_be_too_many_are_summed_one_by_one() -> None:
    values = np.full(1 << 22, 1023.9)
    values[::2] = 0.1
    assert exact_sum(values) == fsum(values.tolist())
