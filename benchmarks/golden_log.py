"""How long a log takes to become a plan: read, masked, merged, typed, sampled; each step on its own.

Run it: ``python benchmarks/golden_log.py [ROWS ...]``
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from query_log import write_log

from assay.building.logged import read_log
from assay.building.masking import Masker
from assay.building.merging import MergedQuery, merge_queries
from assay.building.query_types import query_type
from assay.building.sampling import plan_sample, sample
from assay.flows.golden_log import mask_log

T = TypeVar("T")


def measure(rows: int, folder: Path) -> list[tuple[str, float, str]]:
    """Return each step with its seconds and what it made."""
    steps: list[tuple[str, float, str]] = []

    def timed(name: str, step: Callable[[], T], told: Callable[[T], str]) -> T:
        begun = time.perf_counter()
        made = step()
        steps.append((name, time.perf_counter() - begun, told(made)))
        return made

    path = folder / "log.csv"
    write_log(path, rows)
    logged = timed("read", lambda: read_log(path), lambda made: f"{len(made):,} rows")
    masked, _ = timed(
        "mask", lambda: mask_log(logged, Masker()), lambda made: f"{sum(made[1].values()):,} masks"
    )
    merged = timed("merge", lambda: merge_queries(masked), lambda made: f"{len(made):,} questions")

    def typed() -> dict[str, list[MergedQuery]]:
        kinds: dict[str, list[MergedQuery]] = {}
        for one in merged:
            kinds.setdefault(query_type(one.text), []).append(one)
        return kinds

    kinds = timed("type", typed, lambda made: f"{len(made)} kinds")

    def planned() -> list[MergedQuery]:
        rng = np.random.default_rng(0)
        plan = plan_sample(kinds, 80)
        return [one for part in plan.strata for one in sample(kinds[part.kind], part.picked, rng)]

    timed("plan", planned, lambda made: f"{len(made)} queries")
    return steps


def main() -> None:
    for rows in map(int, sys.argv[1:] or ["1000", "10000", "100000"]):
        with tempfile.TemporaryDirectory() as folder:
            steps = measure(rows, Path(folder))
        print(f"\n{rows:,} rows: {sum(seconds for _, seconds, _ in steps):.2f} s")
        for name, seconds, told in steps:
            print(f"  {name:<6} {seconds:7.3f} s  {told}")


if __name__ == "__main__":
    main()
