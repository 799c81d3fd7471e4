"""From measured configurations to what a sweep says: rows, fronts, winners, effects, shrinkage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.comparison.knobs import knob_effects
from assay.comparison.selection import selection_shrinkage
from assay.model.comparison import Interval
from assay.model.errors import ConfigError, Fault, nearest
from assay.model.notices import Notice
from assay.model.scores import ScoreTable
from assay.model.sweep import (
    COSTS,
    PROMPT_TOKENS,
    Configuration,
    KindWinner,
    LeftOut,
    Spent,
    SweepResult,
    SweepRow,
)
from assay.stats.bootstrap import mean_interval
from assay.store.sweeps import Record

if TYPE_CHECKING:
    from assay.flows.sweep import Measured

Floats = NDArray[np.float64]
_SAME = 12
"""Digits within which two means are the same: of equals the cheaper one stands first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """One configuration with the queries that it was asked, all rounds together."""

    configuration: Configuration
    rounds: int
    query_ids: tuple[str, ...]
    values: Mapping[str, Floats]
    last: Record


def gather(measured: Measured) -> SweepResult:
    """Conclude from what was measured.

    Raises:
        ConfigError: the measure that should decide is no column.
    """
    plan, target = measured.plan, measured.target
    held = [one for one in (_held(measured, config) for config in plan.configurations) if one is not None]
    columns = tuple(held[0].values)
    _check_target(target, columns)
    kinds = {query.id: query.kind for query in measured.material.golden.queries}
    order = sorted(held, key=lambda one: _merit(one, target))
    best = order[0]
    rows = tuple(_row(one, best, target, kinds, measured) for one in order)
    full = [one for one in held if one.rounds == best.rounds]
    common = measured.rounds[0][1]  # what every configuration was asked
    return SweepResult(
        id=measured.id,
        name=measured.material.project.name,
        method=plan.method,
        seed=plan.table.seed,
        k=measured.material.project.k,
        split=measured.split,
        queries=len(measured.query_ids),
        knobs=plan.knobs,
        target=target,
        columns=columns,
        rows=rows,
        left_out=tuple(_left_out(measured)),
        fronts={cost: front(rows, cost, target) for cost in COSTS},
        effects=knob_effects(
            plan.knobs,
            [one.configuration.labels for one in held],
            np.stack([one.values[target][:common] for one in held]),
            seed=plan.table.seed,
        ),
        kinds=_kind_winners(rows, measured),
        shrinkage=selection_shrinkage(np.stack([one.values[target] for one in full]), seed=plan.table.seed),
        rounds=measured.rounds if plan.method == "halving" else (),
        notices=(*measured.notices, *_notices(measured, rows)),
        folder=measured.folder.as_posix(),
    )


def _held(measured: Measured, configuration: Configuration) -> _Held | None:
    records = measured.records.get(configuration.number, ())
    if not records or records[-1].why is not None:
        return None
    asked = measured.rounds[len(records) - 1][1]
    return _Held(
        configuration=configuration,
        rounds=len(records),
        query_ids=measured.query_ids[:asked],
        values={name: np.concatenate([one.values[name] for one in records]) for name in records[0].values},
        last=records[-1],
    )


def _check_target(target: str, columns: Sequence[str]) -> None:
    known = [column for column in columns if column != PROMPT_TOKENS]
    if target not in known:
        close = nearest(target, known)
        raise ConfigError(
            Fault(
                where="measure",
                what=f"there is no column {target!r}",
                fix=f"did you mean {close!r}?" if close else f"columns are {', '.join(known)}",
            )
        )


def _mean(values: Floats) -> float | None:
    return ScoreTable(query_ids=(), values={"": values}).average("").mean


def _merit(one: _Held, target: str) -> tuple[float, ...]:
    """Sort the best first: more rounds, a higher mean, fewer tokens, a smaller index, an earlier place."""
    mean = _mean(one.values[target])
    tokens = _mean(one.values[PROMPT_TOKENS])
    size = one.last.costs.get("index_bytes")
    return (
        -one.rounds,
        -round(-1.0 if mean is None else mean, _SAME),
        round(tokens or 0.0, _SAME),
        float(size or 0),
        one.configuration.number,
    )


def _row(one: _Held, best: _Held, target: str, kinds: Mapping[str, str], measured: Measured) -> SweepRow:
    names = [kinds[query] for query in one.query_ids]
    table = ScoreTable(query_ids=one.query_ids, values=one.values, groups={"kind": tuple(names)})
    seed = [measured.plan.table.seed, one.configuration.number]
    inside = one.rounds == best.rounds
    return SweepRow(
        configuration=one.configuration,
        query_ids=one.query_ids,
        values=one.values,
        averages={name: table.average(name) for name in one.values},
        by_kind={
            kind: table.average(target, table.where("kind", kind))
            for kind in measured.material.golden.all_kinds
            if kind in names
        },
        interval=_interval(one.values[target], seed) if inside else None,
        behind=_interval(best.values[target] - one.values[target], [*seed, 1])
        if inside and one is not best
        else None,
        spent=_spent(one),
        rounds=one.rounds,
    )


def _interval(values: Floats, seed: Sequence[int]) -> Interval | None:
    return mean_interval(values[~np.isnan(values)], np.random.default_rng(list(seed)))


def _spent(one: _Held) -> Spent:
    samples = np.array(one.last.samples)
    costs = one.last.costs
    size = costs.get("index_bytes")
    return Spent(
        prompt_tokens=_mean(one.values[PROMPT_TOKENS]),
        index_bytes=None if size is None else int(size),
        chunks=int(costs["chunks"] or 0),
        p50_ms=float(np.percentile(samples, 50)) if len(samples) else None,
        p95_ms=float(np.percentile(samples, 95)) if len(samples) else None,
        build_ms=costs.get("build_ms"),
    )


def front(rows: Sequence[SweepRow], cost: str, target: str) -> tuple[int, ...]:
    """Return the configurations that no other beats in quality at the same cost or less, the cheapest first.

    Of several with the same cost and quality, the one with the lowest number stands for all.
    """
    points: list[tuple[float, float, int]] = []
    for row in rows:
        price, quality = row.spent.of(cost), row.averages[target].mean
        if price is not None and quality is not None and row.rounds == rows[0].rounds:
            points.append((price, -round(quality, _SAME), row.number))
    kept: list[int] = []
    reached = np.inf
    for _, quality, number in sorted(points):
        if quality < reached:
            kept.append(number)
            reached = quality
    return tuple(kept)


def _kind_winners(rows: Sequence[SweepRow], measured: Measured) -> tuple[KindWinner, ...]:
    full = [row for row in rows if row.rounds == rows[0].rounds]
    winners: list[KindWinner] = []
    for kind in measured.material.golden.all_kinds:
        scored = [(row, row.by_kind[kind].mean) for row in full if kind in row.by_kind]
        known = [(row, mean) for row, mean in scored if mean is not None]
        overall = next((mean for row, mean in known if row is rows[0]), None)
        if known and overall is not None:
            # max keeps the first of equals: rows stand in the order of merit.
            row, mean = max(known, key=lambda pair: round(pair[1], _SAME))
            winners.append(
                KindWinner(
                    kind=kind, queries=row.by_kind[kind].n, number=row.number, mean=mean, overall=overall
                )
            )
    return tuple(winners)


def _left_out(measured: Measured) -> list[LeftOut]:
    found: list[LeftOut] = []
    for one in measured.plan.configurations:
        records = measured.records.get(one.number, ())
        why = records[-1].why if records else None
        if why is not None:
            found.append(LeftOut(configuration=one, why=why))
    return found


def _notices(measured: Measured, rows: Sequence[SweepRow]) -> list[Notice]:
    notices: list[Notice] = []
    chunks = {row.spent.chunks for row in rows}
    if measured.plan.varies("chunker") and len(chunks) > 1:
        notices.append(
            Notice(
                code="unlike-chunks",
                text="the chunkers differ, so recall in chunks cannot be compared: each cut has its own "
                "relevant chunks to find. Compare anchors, characters, or recall in a number of tokens",
            )
        )
        if measured.target.startswith("chunk "):
            notices.append(
                Notice(
                    code="unlike-target",
                    text=f"the sweep chooses by {measured.target}: something else for each chunker",
                )
            )
    if measured.split is None and len(rows) > 1:
        notices.append(
            Notice(
                code="no-split",
                text="every query was tuned on: none is left to confirm the winner with (assay golden split)",
            )
        )
    dropped = _left_out(measured)
    if dropped:
        reasons = sorted({one.why for one in dropped})
        more = f" and {len(reasons) - 3} more reasons" if len(reasons) > 3 else ""
        text = f"{len(dropped)} of {len(measured.plan.configurations)} configurations could not run: "
        notices.append(
            Notice(
                code="left-out",
                text=text + "; ".join(reasons[:3]) + more,
                ids=tuple(str(one.configuration.number) for one in dropped),
            )
        )
    if measured.plan.method == "halving" and len(measured.rounds) > 1:
        last = measured.rounds[-1][0]
        notices.append(
            Notice(
                code="halving",
                text=f"the shrinkage counts the {last} configurations of the last round; those that left "
                "earlier were chosen against too, so it is the least that is to be expected",
            )
        )
    return notices
