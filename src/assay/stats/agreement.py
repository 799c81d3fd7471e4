"""Do two or more people (or a person and a judge) agree beyond what chance gives?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.model.comparison import Interval

Scale = Literal["nominal", "ordinal", "interval"]
"""What a difference of labels means: only same or not; their order; or their distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How two labellers agree: these figures are shown together, since each alone misleads."""

    n: int
    """Items that both labelled."""
    agreement: float | None
    """Share of equal labels; None without items."""
    expected: float | None
    """The share that chance gives, from how often each uses each label."""
    kappa: float | None
    """(agreement - expected) / (1 - expected): 1 is full, 0 what chance gives; None when undefined."""
    base_rate: float | None
    """Share of the first labeller's commonest label: near 1, agreement is cheap."""
    interval: Interval | None
    """Of kappa: bootstrap over items; None when kappa is."""
    why_undefined: str | None = None
    """What to do about it; None when kappa is defined."""


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    draws: int = 10_000,
) -> Agreement:
    """Return agreement, chance agreement and Cohen's kappa of two labellers over the same items.

    Kappa is computed in fractions and undefined (None, never NaN or 1) when both use one and the same
    label throughout: chance alone would agree as well.

    Raises:
        ValueError: the two do not label the same number of items.

    Source: Cohen, Educational and Psychological Measurement 20 (1960).

    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0], np.random.default_rng(0)).kappa
    0.5
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels stand against {len(second)}")
    n = len(first)
    if n == 0:
        return Agreement(
            n=0,
            agreement=None,
            expected=None,
            kappa=None,
            base_rate=None,
            interval=None,
            why_undefined="undefined: no item has two labels",
        )
    cells = Counter(zip(first, second, strict=True))
    rows, columns = Counter(first), Counter(second)
    agreed = Fraction(sum(count for (one, other), count in cells.items() if one == other), n)
    chance = Fraction(sum(count * columns[label] for label, count in rows.items()), n * n)
    kappa = None if chance == 1 else float((agreed - chance) / (1 - chance))
    return Agreement(
        n=n,
        agreement=float(agreed),
        expected=float(chance),
        kappa=kappa,
        base_rate=max(rows.values()) / n,
        interval=None if kappa is None else _kappa_interval(cells, n, rng, confidence, draws),
        why_undefined="undefined: only one class; add negative examples" if kappa is None else None,
    )


def _kappa_interval(
    cells: Counter[tuple[Hashable, Hashable]],
    n: int,
    rng: np.random.Generator,
    confidence: float,
    draws: int,
) -> Interval | None:
    """Resample items: as many draws of a table whose cells keep their shares."""
    labels = {label: place for place, label in enumerate(dict.fromkeys(x for pair in cells for x in pair))}
    counts = np.array(list(cells.values()), dtype=np.float64)
    row = np.array([labels[one] for one, _ in cells])
    column = np.array([labels[other] for _, other in cells])
    drawn = rng.multinomial(n, counts / counts.sum(), size=draws).astype(np.float64) / n
    rows = drawn @ np.eye(len(labels))[row]
    columns = drawn @ np.eye(len(labels))[column]
    agreed = drawn[:, row == column].sum(axis=1)
    chance = (rows * columns).sum(axis=1)
    defined = chance < 1.0 - 1e-12
    if not defined.any():
        return None
    kappas = (agreed[defined] - chance[defined]) / (1.0 - chance[defined])
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(kappas, [tail, 1.0 - tail]).tolist()
    return Interval(low=low, high=high, confidence=confidence, method="percentile")


def krippendorff_alpha(labels: Sequence[Sequence[float | None]], *, scale: Scale = "nominal") -> float | None:
    """Return Krippendorff's alpha of any number of labellers, of whom any may have left items out.

    ``labels`` has one row a labeller and one column an item; None where there is no label. 1 is full
    agreement, 0 what chance gives, below 0 systematic disagreement. None when no item has two labels, or
    when only one label was ever used.

    Raises:
        ValueError: the rows are not equally long.

    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).

    >>> round(krippendorff_alpha([[1, 2, 3, 3, None], [1, 2, 3, 4, 1]]), 3)
    0.696
    """
    if len({len(row) for row in labels}) > 1:
        raise ValueError("every labeller needs one label (or None) an item")
    values = sorted({label for row in labels for label in row if label is not None})
    if len(values) < 2:
        return None
    place = {value: index for index, value in enumerate(values)}
    coincidence = np.zeros((len(values), len(values)))
    for item in zip(*labels, strict=True):
        counts = np.zeros(len(values))
        for label in item:
            if label is not None:
                counts[place[label]] += 1
        given = counts.sum()
        if given >= 2:
            coincidence += (np.outer(counts, counts) - np.diag(counts)) / (given - 1)
    totals = coincidence.sum(axis=1)
    distance = _distances(np.array(values, dtype=np.float64), totals, scale)
    expected = float((np.outer(totals, totals) * distance).sum())
    if expected == 0.0:
        return None
    return 1.0 - (float(totals.sum()) - 1.0) * float((coincidence * distance).sum()) / expected


def _distances(values: NDArray[np.float64], totals: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    if scale == "nominal":
        return 1.0 - np.eye(len(values))
    if scale == "ordinal":
        middle = np.cumsum(totals) - totals / 2.0
        return (middle[:, None] - middle[None, :]) ** 2
    return (values[:, None] - values[None, :]) ** 2
