"""Who agrees with whom: people with each other, judges with people; and which judges' labels count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from assay.building.standing import standings
from assay.flows.judge_licence import bar_of, judge_records, rates_of
from assay.flows.judge_report import report_judge
from assay.model.errors import InputError
from assay.model.judges import JudgeRecord, JudgeReport
from assay.model.labels import Standing
from assay.stats.agreement import Agreement, cohen_kappa, krippendorff_alpha
from assay.stats.rates import JudgeRates
from assay.workbench.asked import bench_of
from assay.workbench.bench import Workbench
from assay.workbench.labelling import open_pools
from assay.workbench.rendering import render

_MOST_CONFLICTS = 200
_DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two people over the places that both graded."""

    first: str
    second: str
    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """One judge, as the last look at the test part found it."""

    record: JudgeRecord
    rates: JudgeRates
    licensed: bool


def page(request: Request) -> Response:
    """Show agreement, licences and what is in dispute."""
    bench = bench_of(request)
    held = bench.labels.snapshot()
    known = standings(held.judgements, held.decisions)
    people = sorted({name for one in known for name in one.people})
    judges = sorted({name for one in known for name in one.judges})
    bar = bar_of(bench.project)
    conflicts = [one for one in known if one.conflict]
    return render(
        request,
        "judges.html",
        people=people,
        pairs=_pairs(known, people, seed=bench.project.seed),
        alpha=_alpha(known, people),
        reports=_reports(bench, judges),
        bar=bar,
        licences=[
            Licence(record=record, rates=rates_of(record), licensed=rates_of(record).licensed(bar))
            for record in judge_records(bench.project).values()
        ],
        conflicts=conflicts[:_MOST_CONFLICTS],
        more=max(0, len(conflicts) - _MOST_CONFLICTS),
        pooled=frozenset(open_pools(bench)),
    )


def _reports(bench: Workbench, judges: list[str]) -> list[JudgeReport]:
    """Return each judge over the dev part of people's labels: to look at the test part is to spend it."""
    counts = tuple(sorted(bench.labels.counts().items()))
    reports: list[JudgeReport] = []
    for judge in judges:
        try:
            made = bench.once(("judge", judge, counts), partial(report_judge, bench.project, judge=judge))
        except InputError:  # nothing to hold it against yet
            continue
        reports.append(made)
    return reports


def _alpha(known: tuple[Standing, ...], people: list[str]) -> float | None:
    if len(people) < 2:
        return None
    return krippendorff_alpha([[one.people.get(name) for one in known] for name in people], scale="ordinal")


def _pairs(known: tuple[Standing, ...], people: list[str], *, seed: int) -> list[Pair]:
    """Compare people two by two, where they met at all."""
    pairs: list[Pair] = []
    for first, second in combinations(people, 2):
        both = [one.people for one in known if first in one.people and second in one.people]
        if both:
            rng = np.random.default_rng(seed)
            found = cohen_kappa([x[first] for x in both], [x[second] for x in both], rng, draws=_DRAWS)
            pairs.append(Pair(first=first, second=second, agreement=found))
    return pairs
