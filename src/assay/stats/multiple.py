"""Several tests at once: p-values that stay honest."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values after Holm's correction, in the order given.

    The chance that any test at all gives a false alarm stays below alpha, whatever ties the tests together
    (the same queries, nested groups). Each lies between its own p and 1; an empty family gives an empty one.

    Raises:
        ValueError: a p-value is not between 0 and 1.

    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scand. J. Statist. 6 (1979).

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    if not all(0.0 <= p <= 1.0 for p in p_values):
        raise ValueError("a p-value is not between 0 and 1")
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = largest
    return tuple(corrected)
