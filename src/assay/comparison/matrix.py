"""Several runs at once: each against each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from assay.comparison.paired import Settings, Tested, common_measures, finish_pair, weigh_pair
from assay.comparison.pairing import pair_queries
from assay.model.comparison import Comparison, Matrix
from assay.model.errors import InputError
from assay.model.scores import ScoreTable
from assay.stats.multiple import holm


def compare_many(
    tables: Mapping[str, ScoreTable],
    measures: Sequence[str] | None = None,
    *,
    seed: int = 0,
    alpha: float = 0.05,
    draws: int = 10_000,
) -> Matrix:
    """Compare several runs, each with each, over the queries that all of them have.

    Every cell is a paired comparison of its own; Holm's correction runs over all cells and measures
    together, because the best of many is chosen by looking at all.

    Args:
        tables: name -> scores, in the order of display.
        measures: what to compare; None: all measures that every table has.
        seed: of the generators.
        alpha: the chance of a false alarm that is taken, over all cells together; 1 - alpha is the
            confidence of each interval.
        draws: of the bootstrap, and of the test where it is not exact.

    Raises:
        InputError: fewer than two runs, no query in all of them, or a measure that one lacks.
    """
    if len(tables) < 2:
        raise InputError(f"a comparison takes two runs or more, not {len(tables)}")
    names = tuple(tables)
    chosen = common_measures(list(tables.values()), measures)
    everything = pair_queries(list(tables.values()), by=None)
    settings = Settings(seed=seed, alpha=alpha, draws=draws)
    common = [_cut(tables[name], places) for name, places in zip(names, everything.places, strict=True)]
    tested: dict[tuple[int, int], list[Tested]] = {}
    notices = list(everything.notices)
    for first, second in combinations(range(len(names)), 2):
        pairing = pair_queries((common[first], common[second]), by=None)
        tested[first, second], said = weigh_pair(common[first], common[second], chosen, pairing, settings)
        notices += [notice for notice in said if notice not in notices]
    corrected = iter(holm([test.p for tests in tested.values() for test in tests if len(test.base)]))
    total = sum(bool(len(test.base)) for tests in tested.values() for test in tests)
    pairs: dict[tuple[str, str], Comparison] = {}
    for (first, second), tests in tested.items():
        pairs[names[first], names[second]] = finish_pair(
            (common[first], common[second]),
            tests,
            [next(corrected) for test in tests if len(test.base)],
            pair_queries((common[first], common[second]), by=None),
            settings,
            names=(names[first], names[second]),
            notices=(),
            tests=total,
        )
    return Matrix(
        names=names,
        n=len(everything.query_ids),
        means={measure: _means(common, measure) for measure in chosen},
        pairs=pairs,
        seed=seed,
        alpha=alpha,
        notices=tuple(notices),
    )


def _cut(table: ScoreTable, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> ScoreTable:
    return ScoreTable(
        query_ids=tuple(table.query_ids[place] for place in places.tolist()),
        values={measure: values[places] for measure, values in table.values.items()},
    )


def _means(tables: Sequence[ScoreTable], measure: str) -> tuple[float | None, ...]:
    defined = np.all([~np.isnan(table.values[measure]) for table in tables], axis=0)
    return tuple(table.average(measure, defined).mean for table in tables)
