from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from assay.comparison.knobs import knob_effects
from assay.model.sweep import Knob

POOL = Knob(name="pool", labels=("20", "50", "99"), changes=({}, {}, {}))
MMR = Knob(name="mmr", labels=("off", "0.9"), changes=({}, {}))


def grid() -> list[dict[str, str]]:
    return [{"pool": pool, "mmr": mmr} for pool, mmr in product(POOL.labels, MMR.labels)]


# Scores of two queries, planted: (pool, mmr) -> q1, q2.
PLANTED = {
    ("20", "off"): (0.0, 1.0),
    ("20", "0.9"): (0.0, 0.5),
    ("50", "off"): (1.0, 1.0),
    ("50", "0.9"): (0.5, 0.5),
    ("99", "off"): (1.0, 0.0),
    ("99", "0.9"): (1.0, 0.0),
}


def planted(labels: list[dict[str, str]]) -> np.ndarray:
    return np.array([PLANTED[one["pool"], one["mmr"]] for one in labels])


def test_effects_of_a_grid_by_hand():
    effects = {(one.knob, one.value): one for one in knob_effects([POOL, MMR], grid(), planted(grid()))}
    # pool 20 -> 50: q1 ((1 - 0) + (0.5 - 0)) / 2 = 0.75, q2 0; mean 0.375, over 2 pairs.
    assert effects["pool", "50"].difference == pytest.approx(0.375)
    assert effects["pool", "50"].pairs == 2
    # pool 20 -> 99: q1 1, q2 ((0 - 1) + (0 - 0.5)) / 2 = -0.75; mean 0.125.
    assert effects["pool", "99"].difference == pytest.approx(0.125)
    # mmr off -> 0.9: q1 (0 - 0.5 + 0) / 3 = -1/6, q2 (-0.5 - 0.5 + 0) / 3 = -1/3; mean -0.25, over 3 pairs.
    assert effects["mmr", "0.9"].difference == pytest.approx(-0.25)
    assert effects["mmr", "0.9"].pairs == 3
    assert effects["mmr", "0.9"].queries == 2


def test_the_order_of_configurations_changes_nothing():
    labels = grid()
    mixed = [labels[at] for at in (4, 1, 5, 0, 3, 2)]
    first = knob_effects([POOL, MMR], labels, planted(labels))
    second = knob_effects([POOL, MMR], mixed, planted(mixed))
    assert [one.difference for one in first] == pytest.approx([one.difference for one in second])


def test_an_interval_is_over_queries_and_holds_the_difference():
    rng = np.random.default_rng(0)
    base = (rng.random(80) < 0.5).astype(float)
    better = np.maximum(base, (rng.random(80) < 0.3).astype(float))
    labels = [{"mmr": "off"}, {"mmr": "0.9"}]
    (effect,) = knob_effects([MMR], labels, np.stack([base, better]))
    assert effect.interval is not None
    difference = float(better.mean() - base.mean())
    assert effect.difference == pytest.approx(difference)
    assert 0.0 < effect.interval.low < difference < effect.interval.high


def test_a_part_of_a_grid_is_fitted_and_finds_effects_that_add_up():
    # score = 0.1 for pool 50, 0.3 for pool 99, -0.2 for mmr, whatever the other is.
    labels = [one for one in grid() if one != {"pool": "50", "mmr": "0.9"}]
    worth = {"20": 0.0, "50": 0.1, "99": 0.3, "off": 0.5, "0.9": 0.3}
    scores = np.array([[worth[one["pool"]] + worth[one["mmr"]]] * 3 for one in labels])
    effects = {(one.knob, one.value): one for one in knob_effects([POOL, MMR], labels, scores)}
    assert effects["pool", "50"].difference == pytest.approx(0.1)
    assert effects["pool", "99"].difference == pytest.approx(0.3)
    assert effects["mmr", "0.9"].difference == pytest.approx(-0.2)
    assert effects["mmr", "0.9"].pairs == 0  # a fit, and said to be one
    assert effects["pool", "99"].pairs == 2  # whose pairs are all there


def test_what_the_configurations_cannot_tell_apart_has_no_effect():
    # pool and mmr were always turned together.
    labels = [{"pool": "20", "mmr": "off"}, {"pool": "50", "mmr": "0.9"}]
    effects = knob_effects([POOL, MMR], labels, np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert [one.difference for one in effects] == [None, None, None]
    assert all(one.interval is None for one in effects)


def test_a_value_that_never_ran_has_no_effect():
    labels = [one for one in grid() if one["pool"] != "99"]
    effects = {(one.knob, one.value): one for one in knob_effects([POOL, MMR], labels, planted(labels))}
    assert effects["pool", "99"].difference is None
    assert effects["pool", "50"].difference == pytest.approx(0.375)


def test_queries_without_a_value_somewhere_are_left_out():
    scores = np.array([[0.0, np.nan, 1.0], [1.0, 1.0, 1.0]])
    (effect,) = knob_effects([MMR], [{"mmr": "off"}, {"mmr": "0.9"}], scores)
    assert (effect.queries, effect.difference) == (2, 0.5)
