from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.rates import corrected_share, exact_interval, judge_rates, wilson_interval

stats = cast("Any", scipy.stats)  # scipy is typed in part only

counts = st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@given(counts)
def test_intervals_of_a_share_agree_with_scipy(share: tuple[int, int]):
    hits, n = share
    if n == 0:
        assert wilson_interval(hits, n) is exact_interval(hits, n) is None
        return
    for ours, method in ((wilson_interval(hits, n), "wilson"), (exact_interval(hits, n), "exact")):
        theirs = stats.binomtest(hits, n).proportion_ci(0.95, method=method)
        assert ours is not None
        assert ours.method == method
        assert (ours.low, ours.high) == (
            pytest.approx(theirs.low, abs=1e-9),
            pytest.approx(theirs.high, abs=1e-9),
        )


def test_impossible_shares_are_refused():
    with pytest.raises(ValueError, match="not a share"):
        wilson_interval(3, 2)
    with pytest.raises(ValueError, match="not a share"):
        exact_interval(-1, 2)


def test_rates_of_a_judge_by_hand():
    human = [True] * 40 + [False] * 10
    judge = [True] * 36 + [False] * 4 + [True] * 5 + [False] * 5
    rates = judge_rates(human, judge)
    assert (rates.true_positive.hits, rates.true_positive.n) == (36, 40)
    assert (rates.true_negative.hits, rates.true_negative.n) == (5, 10)
    assert rates.true_positive.value == 0.9
    assert rates.true_negative.value == 0.5


def test_a_licence_needs_both_lower_bounds():
    many = judge_rates([True] * 100 + [False] * 100, [True] * 95 + [False] * 5 + [False] * 95 + [True] * 5)
    few = judge_rates([True] * 5 + [False] * 5, [True] * 5 + [False] * 5)
    assert many.licensed(0.8)
    assert not many.licensed(0.9)
    assert not few.licensed(0.8)


def test_a_missing_class_has_no_rate_and_gives_no_licence():
    rates = judge_rates([True] * 50, [True] * 50)
    assert rates.true_negative.value is None
    assert rates.true_negative.interval is None
    assert not rates.licensed()


def test_labels_that_do_not_pair_are_refused():
    with pytest.raises(ValueError, match="3 human labels"):
        judge_rates([True, True, False], [True])


def test_corrected_share_by_hand():
    # TPR 0.9, TNR 0.8, observed 0.6: (0.6 + 0.8 - 1) / (0.9 + 0.8 - 1) = 0.4 / 0.7
    rates = judge_rates([True] * 50 + [False] * 50, [True] * 45 + [False] * 45 + [True] * 10)
    share = corrected_share(600, 1000, rates, rng())
    assert share.value == pytest.approx(4 / 7)
    assert share.interval is not None
    assert share.interval.low < 4 / 7 < share.interval.high
    assert share.dropped == 0


def test_a_perfect_judge_corrects_nothing():
    rates = judge_rates([True] * 30 + [False] * 30, [True] * 30 + [False] * 30)
    share = corrected_share(12, 20, rates, rng())
    assert share.value == pytest.approx(0.6)


def test_a_judge_no_better_than_chance_tells_nothing():
    chance = judge_rates([True, True, False, False], [True, False, True, False])
    assert corrected_share(5, 10, chance, rng()).value is None
    missing = judge_rates([True] * 5, [True] * 5)
    assert corrected_share(5, 10, missing, rng()).interval is None


def test_a_corrected_share_stays_between_0_and_1():
    rates = judge_rates([True] * 10 + [False] * 10, [True] * 8 + [False] * 2 + [False] * 9 + [True])
    assert corrected_share(0, 10, rates, rng()).value == 0.0
    assert corrected_share(10, 10, rates, rng()).value == 1.0
    with pytest.raises(ValueError, match="no items"):
        corrected_share(0, 0, rates, rng())


def test_the_corrected_interval_covers_the_truth_as_often_as_it_says():
    draw = np.random.default_rng(11)
    covered = 0
    for _ in range(300):
        truth = draw.random(200) < 0.5
        said = np.where(truth, draw.random(200) < 0.9, draw.random(200) < 0.15)
        rates = judge_rates(truth.tolist(), said.tolist())
        yes = int(draw.binomial(500, 0.3 * 0.9 + 0.7 * 0.15))
        interval = corrected_share(yes, 500, rates, draw, draws=1_000).interval
        assert interval is not None
        covered += interval.low <= 0.3 <= interval.high
    assert 0.91 <= covered / 300 <= 0.99
