"""Two runs side by side: what changed, whether it is proven, and which queries moved."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from assay.flows.compare import Asked, compare_runs
from assay.flows.evaluate import Evaluation
from assay.flows.explain import show_hit
from assay.flows.looks import HELDOUT
from assay.model.comparison import Comparison, SideBySide
from assay.model.errors import InputError
from assay.model.explanation import ShownHit
from assay.model.runs import Hit
from assay.workbench.asked import bench_of
from assay.workbench.bench import Workbench
from assay.workbench.rendering import Keys, render

KEYS: Keys = (("j, k", "next and previous query that moved"), ("o or Enter", "open and close its lists"))
_MOST_LISTS = 40
_ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One query that moved, with both lists as they are shown."""

    query_id: str
    text: str
    kind: str
    base_value: float | None
    candidate_value: float | None
    base: tuple[ShownHit, ...]
    candidate: tuple[ShownHit, ...]

    @property
    def difference(self) -> float | None:
        if self.base_value is None or self.candidate_value is None:
            return None
        return self.candidate_value - self.base_value


def page(request: Request) -> Response:
    """Compare two stored runs; the latest with the one before where none are named."""
    bench = bench_of(request)
    runs = bench.runs()
    if len(runs) < 2:
        return render(request, "compare_empty.html", keys=KEYS, runs=len(runs))
    base = bench.store.find(request.query_params.get("base") or runs[1].id)
    candidate = bench.store.find(request.query_params.get("candidate") or runs[0].id)
    queries = bench.evaluation(candidate).prepared.golden.queries
    known = {query.split for query in queries if query.split is not None}
    # Held-out queries are looked at when somebody asks for them, because every look is written down.
    split = request.query_params.get("split") or ("dev" if "dev" in known else _ALL)
    if split != _ALL and split not in known:
        raise InputError(
            f"no query is in split {split!r}", fix=f"choose one of: {', '.join([_ALL, *sorted(known)])}"
        )
    comparison: Comparison | None = None
    moved: tuple[Moved, ...] = ()
    told = "These are one and the same run."
    if base != candidate:
        try:
            comparison, moved = bench.once(
                ("compare", base, candidate, split), lambda: _compared(bench, base, candidate, split)
            )
        except InputError as error:  # no query or no measure in common: another pair can be chosen
            told = str(error)
    return render(
        request,
        "compare.html",
        keys=KEYS,
        runs=runs,
        base=base,
        candidate=candidate,
        split=split,
        splits=sorted(known),
        heldout=HELDOUT,
        comparison=comparison,
        told=told,
        moved=moved,
        reach=0.0 if comparison is None else _reach(comparison),
    )


def _compared(
    bench: Workbench, base: str, candidate: str, split: str
) -> tuple[Comparison, tuple[Moved, ...]]:
    asked = Asked(split=None if split == _ALL else split, seed=bench.project.seed, lists=_MOST_LISTS)
    comparison = compare_runs(bench.project, base, candidate, asked)
    sides = bench.evaluation(base), bench.evaluation(candidate)
    headline = comparison.measures[0] if comparison.measures else None
    return comparison, tuple(_moved(one, sides, headline) for one in comparison.lists)


def _moved(one: SideBySide, sides: tuple[Evaluation, Evaluation], headline: str | None) -> Moved:
    values = [None if headline is None else side.scores.value(headline, one.query_id) for side in sides]
    return Moved(
        query_id=one.query_id,
        text=one.text,
        kind=one.kind,
        base_value=values[0],
        candidate_value=values[1],
        base=_hits(sides[0], one.query_id, one.base),
        candidate=_hits(sides[1], one.query_id, one.candidate),
    )


def _hits(evaluation: Evaluation, query_id: str, hits: tuple[Hit, ...]) -> tuple[ShownHit, ...]:
    relevance = evaluation.relevance.by_query[query_id]
    return tuple(show_hit(evaluation, relevance, hit) for hit in hits)


def _reach(comparison: Comparison) -> float:
    """Return what the longest whisker of the table needs."""
    ends = [
        abs(end)
        for row in comparison.rows
        if row.interval is not None
        for end in (row.interval.low, row.interval.high)
    ]
    return max([*ends, *(abs(row.difference) for row in comparison.rows if row.difference is not None), 0.0])
