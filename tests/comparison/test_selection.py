from __future__ import annotations

import numpy as np
import pytest

from assay.comparison.selection import selection_shrinkage


def drawn(rng: np.random.Generator, truth: list[float], queries: int, *, together: float) -> np.ndarray:
    """Draw hits of configurations whose queries are easy or hard together, with known true rates."""
    shared = rng.random(queries)
    own = rng.random((len(truth), queries))
    mixed = np.where(rng.random((len(truth), queries)) < together, shared, own)
    return (mixed < np.array(truth)[:, None]).astype(float)


def test_by_simulation_the_expected_score_of_equal_configurations_is_their_true_rate():
    # Twelve configurations that are all right on half of the queries: the best of them shows about 0.57 on
    # 100 queries, and 0.5 is what any of them has on others.
    rng = np.random.default_rng(7)
    bests: list[float] = []
    expected: list[float] = []
    lifted: list[float] = []
    for trial in range(150):
        found = selection_shrinkage(drawn(rng, [0.5] * 12, 100, together=0.3), seed=trial, draws=200)
        assert found is not None
        bests.append(found.best)
        expected.append(found.expected)
        lifted.append(found.if_alike)
    assert np.mean(bests) > 0.555
    assert np.mean(expected) == pytest.approx(0.5, abs=0.01)
    # What chance alone lifts the best by is what it was lifted by.
    assert np.mean(lifted) == pytest.approx(np.mean(bests) - 0.5, abs=0.012)


def test_by_simulation_a_winner_that_is_far_ahead_shrinks_by_nothing():
    rng = np.random.default_rng(8)
    shrunk: list[float] = []
    for trial in range(100):
        found = selection_shrinkage(
            drawn(rng, [0.9, 0.4, 0.4, 0.4], 100, together=0.0), seed=trial, draws=200
        )
        assert found is not None
        shrunk.append(found.shrinkage)
    assert np.mean(shrunk) == pytest.approx(0.0, abs=0.005)


def test_by_simulation_configurations_that_succeed_together_shrink_less():
    rng = np.random.default_rng(9)
    apart: list[float] = []
    alike: list[float] = []
    for trial in range(60):
        for together, kept in ((0.0, apart), (0.95, alike)):
            found = selection_shrinkage(drawn(rng, [0.5] * 12, 100, together=together), seed=trial, draws=100)
            assert found is not None
            kept.append(found.if_alike)
    assert np.mean(alike) < 0.6 * np.mean(apart)


def test_identical_configurations_shrink_by_nothing_but_resampling_noise():
    row = np.array([1.0, 0.0] * 50)
    found = selection_shrinkage(np.stack([row] * 8), draws=2000)
    assert found is not None
    assert found.best == 0.5
    assert found.expected == pytest.approx(0.5, abs=0.01)


def test_two_queries_by_hand():
    # A is right on q1, B on q2. A draw of (q1, q1) chooses A, and scores it on q2: 0; of (q2, q2) chooses B,
    # and scores it on q1: 0; of both leaves nothing out. So 0 is expected, whatever the draws.
    found = selection_shrinkage(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert found is not None
    assert (found.best, found.expected, found.shrinkage) == (0.5, 0.0, 0.5)


def test_one_configuration_or_one_query_says_nothing():
    assert selection_shrinkage(np.array([[1.0, 0.0, 1.0]])) is None
    assert selection_shrinkage(np.array([[1.0], [0.0]])) is None
    assert selection_shrinkage(np.array([[1.0, np.nan], [0.0, 1.0]])) is None
    assert selection_shrinkage(np.zeros((0, 0))) is None


def test_queries_without_a_value_are_left_out():
    found = selection_shrinkage(np.array([[1.0, 0.0, np.nan, 1.0], [0.0, 0.0, 1.0, 1.0]]))
    assert found is not None
    assert found.queries == 3
    assert found.best == pytest.approx(2 / 3)


def test_the_same_seed_gives_the_same_figures():
    scores = drawn(np.random.default_rng(1), [0.5] * 5, 40, together=0.2)
    assert selection_shrinkage(scores, seed=3) == selection_shrinkage(scores, seed=3)
    assert selection_shrinkage(scores, seed=3) != selection_shrinkage(scores, seed=4)


def test_no_draws_are_refused():
    with pytest.raises(ValueError, match="draws"):
        selection_shrinkage(np.ones((2, 2)), draws=0)
