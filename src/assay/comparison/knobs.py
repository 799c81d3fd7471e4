"""What one knob does on its own: configurations that differ in it alone, paired, averaged over the others.

In a grid every value of a knob stands beside every other with all else equal, and the effect of a query is
the plain mean over those pairs. Where a sweep has only some configurations (random, or some left out), the
effect is that of a least-squares fit: score = what the other knobs add up to + what this one adds. Where the
configurations that ran cannot tell the two apart, there is no effect, and none is made up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

import numpy as np
from numpy.typing import NDArray

from assay.model.sweep import Knob, KnobEffect
from assay.stats.bootstrap import mean_interval

Floats = NDArray[np.float64]
_DIGITS = 12
"""To which an effect is rounded: sums of thirds are not told from zero by their last bit."""
_TELLS = 1e-8
"""How far a fit may miss a contrast that it can tell."""


def knob_effects(
    knobs: Sequence[Knob], labels: Sequence[Mapping[str, str]], scores: Floats, *, seed: int = 0
) -> tuple[KnobEffect, ...]:
    """Return the effect of each value of each knob against the knob's first value.

    The interval is over queries: each query's effect is worked out first, then they are resampled (BCa).

    Args:
        knobs: what was varied.
        labels: for each configuration that ran, knob -> the label of its value.
        scores: one row a configuration, one column a query; queries without a value somewhere are left out.
        seed: of the resampling.

    >>> knob = Knob(name="pool", labels=("20", "50"), changes=({}, {}))
    >>> scores = np.array([[0.0, 0.5, 1.0], [0.5, 0.5, 1.0]])
    >>> effect = knob_effects([knob], [{"pool": "20"}, {"pool": "50"}], scores)[0]
    >>> round(effect.difference, 4), effect.pairs
    (0.1667, 1)
    """
    held = scores[:, ~np.isnan(scores).any(axis=0)] if len(scores) else scores
    found: list[KnobEffect] = []
    for at, knob in enumerate(knobs):
        base = knob.labels[0]
        for place, value in enumerate(knob.labels[1:], start=1):
            weights, pairs = _weights(knobs, knob.name, base, value, labels)
            effect = _rounded(weights, held)
            found.append(
                KnobEffect(
                    knob=knob.name,
                    base=base,
                    value=value,
                    difference=None if effect is None else fsum(effect.tolist()) / len(effect),
                    interval=None
                    if effect is None
                    else mean_interval(effect, np.random.default_rng([seed, at, place])),
                    pairs=pairs,
                    queries=held.shape[1] if held.ndim == 2 else 0,
                )
            )
    return tuple(found)


def _rounded(weights: Floats | None, scores: Floats) -> Floats | None:
    """Return each query's effect; None where there is none to be told."""
    if weights is None or not scores.shape[1]:
        return None
    effect: Floats = np.asarray(weights @ scores, np.float64)
    return effect.round(_DIGITS) + 0.0


def _weights(
    knobs: Sequence[Knob], name: str, base: str, value: str, labels: Sequence[Mapping[str, str]]
) -> tuple[Floats | None, int]:
    """Return what each configuration's score counts in the effect, and how many pairs it is made of."""
    without = [tuple((knob, label) for knob, label in one.items() if knob != name) for one in labels]
    first = {
        rest: at for at, (rest, one) in enumerate(zip(without, labels, strict=True)) if one[name] == base
    }
    second = {
        rest: at for at, (rest, one) in enumerate(zip(without, labels, strict=True)) if one[name] == value
    }
    if not first or not second:
        return None, 0
    if first.keys() == second.keys():
        weights = np.zeros(len(labels))
        weights[list(first.values())] = -1.0 / len(first)
        weights[list(second.values())] = 1.0 / len(second)
        return weights, len(first)
    return _fitted(knobs, name, base, value, labels), 0


def _fitted(
    knobs: Sequence[Knob], name: str, base: str, value: str, labels: Sequence[Mapping[str, str]]
) -> Floats | None:
    """Return the weights of a least-squares contrast, or None where the configurations cannot tell it."""
    columns = [(knob.name, label) for knob in knobs for label in knob.labels[1:]]
    design = np.array(
        [[1.0, *(float(one[knob] == label) for knob, label in columns)] for one in labels], np.float64
    )
    contrast = np.zeros(len(columns) + 1)
    if base != next(knob.labels[0] for knob in knobs if knob.name == name):
        contrast[1 + columns.index((name, base))] = -1.0
    contrast[1 + columns.index((name, value))] = 1.0
    weights = np.asarray(np.linalg.pinv(design).T @ contrast, np.float64)
    return weights if np.allclose(weights @ design, contrast, atol=_TELLS) else None
