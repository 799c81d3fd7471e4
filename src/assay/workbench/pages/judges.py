"""Who agrees with whom: people with each other, judges with people; and which judges' labels count."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from assay.building.standing import standings
from assay.flows.judge_licence import bar_of, judge_records, rates_of
from assay.model.judges import JudgeRecord
from assay.model.labels import Standing
from assay.stats.agreement import Agreement, cohen_kappa, krippendorff_alpha
from assay.stats.rates import JudgeRates
from assay.workbench.asked import bench_of
from assay.workbench.labelling import open_pools
from assay.workbench.rendering import render

_MOST_CONFLICTS = 200
_DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two labellers over the places that both graded; of a judge, relevant or not is compared."""

    first: str
    second: str
    judge: bool
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
    pools = open_pools(bench)
    conflicts = [one for one in known if one.conflict]
    return render(
        request,
        "judges.html",
        people=people,
        judges=judges,
        pairs=_pairs(known, people, judges, seed=bench.project.seed),
        alpha=krippendorff_alpha(
            [[one.people.get(name) for one in known] for name in people], scale="ordinal"
        )
        if len(people) > 1
        else None,
        bar=bar,
        licences=[
            Licence(record=record, rates=rates_of(record), licensed=rates_of(record).licensed(bar))
            for record in judge_records(bench.project).values()
        ],
        conflicts=conflicts[:_MOST_CONFLICTS],
        more=max(0, len(conflicts) - _MOST_CONFLICTS),
        pooled=frozenset(pools),
    )


def _pairs(known: tuple[Standing, ...], people: list[str], judges: list[str], *, seed: int) -> list[Pair]:
    """Compare people two by two, then each judge with each person, where they met at all."""
    pairs: list[Pair] = []
    for first, second in combinations(people, 2):
        both = [one.people for one in known if first in one.people and second in one.people]
        if both:
            rng = np.random.default_rng(seed)
            found = cohen_kappa([x[first] for x in both], [x[second] for x in both], rng, draws=_DRAWS)
            pairs.append(Pair(first=first, second=second, judge=False, agreement=found))
    for judge in judges:
        for person in people:
            met = [one for one in known if judge in one.judges and person in one.people]
            if met:
                rng = np.random.default_rng(seed)
                says = [one.judges[judge] > 0 for one in met]
                said = [one.people[person] > 0 for one in met]
                found = cohen_kappa(said, says, rng, draws=_DRAWS)
                pairs.append(Pair(first=person, second=judge, judge=True, agreement=found))
    return pairs
