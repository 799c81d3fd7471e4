"""A sweep in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.model.comparison import Interval
from assay.model.sweep import (
    COSTS,
    PROMPT_TOKENS,
    TIMED,
    FinalLook,
    KindWinner,
    KnobEffect,
    Shrinkage,
    SweepResult,
    SweepRow,
)
from assay.report.words import ends, number, signed

FRONT_SIGNS = {"prompt_tokens": "t", "index_bytes": "i", "p50_ms": "l", "build_ms": "b"}
"""The sign of each front in the table: tokens, index, latency, build."""
_CHARACTERS = ("char recall", "char precision", "char IoU")
_ELSEWHERE = frozenset({"char recall", "char precision"})
"""Columns that the terminal has no room for: the page, the JSON and the Parquet file have all."""


def print_sweep(result: SweepResult, console: Console, *, most_rows: int = 20) -> None:
    """Print the whole page: what was tried, the table, what each knob does, and what to keep in mind."""
    console.print(render_sweep(result, most_rows=most_rows))


def render_sweep(result: SweepResult, *, most_rows: int = 20) -> RenderableType:
    """Return the page as one renderable."""
    parts: list[RenderableType] = [
        _head(result),
        _rows(result, most_rows),
        Text(f"\n{winner_sentence(result)}"),
    ]
    if result.shrinkage is not None:
        parts.append(Text(shrinkage_sentence(result.shrinkage)))
    if result.final is not None:
        parts.append(Text(final_sentence(result, result.final), style="bold"))
    if result.effects:
        parts.append(_effects(result))
    if len(result.kinds) > 1:
        parts.append(_kinds(result))
    parts.append(Text(""))
    parts += [Text(f"note: {notice.text}", style="yellow") for notice in result.notices]
    parts.append(Text(f"sweep {result.id}: {result.folder}", style="dim"))
    return Group(*parts)


def winner_sentence(result: SweepResult) -> str:
    """Say which configuration is best, and what is not proven worse."""
    best = result.winner
    said = f"{best.configuration.name}: {result.target} {number(best.averages[result.target].mean)}"
    if best.interval is not None:
        said += f" (95 % interval {best.interval.low:.3f} to {best.interval.high:.3f})"
    near = near_rows(result)
    if not near:
        return f"Best is {said}."
    others = "1 other" if len(near) == 1 else f"{len(near)} others"
    return f"Best is {said}; {others} could be as good (the interval of the difference holds 0)."


def near_rows(result: SweepResult) -> tuple[SweepRow, ...]:
    """Return the configurations whose difference from the best has an interval that holds 0."""
    return tuple(row for row in result.rows if row.behind is not None and row.behind.low <= 0.0)


def shrinkage_sentence(shrinkage: Shrinkage) -> str:
    """Say how much of the winner's score is owed to having been chosen."""
    return (
        f"Chosen among {shrinkage.configurations} on {shrinkage.queries} queries, its {shrinkage.best:.3f} "
        f"is flattered: expect {shrinkage.expected:.3f} on queries that it was not chosen by "
        f"({signed(-shrinkage.shrinkage)}). Were all {shrinkage.configurations} equally good, chance alone "
        f"would lift the best by {shrinkage.if_alike:.3f}."
    )


def final_sentence(result: SweepResult, final: FinalLook) -> str:
    """Say what the winner has on held-out queries, beside what it had where it was chosen."""
    interval = final.heldout_interval
    told = "" if interval is None else f" (95 % interval {interval.low:.3f} to {interval.high:.3f})"
    name = result.row(final.number).configuration.name
    return (
        f"Held out: {name} has {final.measure} {number(final.heldout.mean)}{told} on "
        f"{final.heldout.n} queries; where it was chosen it had {number(final.dev.mean)} on {final.dev.n}."
    )


def bytes_text(count: float | None) -> str:
    """Write a size in megabytes.

    >>> bytes_text(17_349_097), bytes_text(None)
    ('17.3', '-')
    """
    return "-" if count is None else f"{count / 1e6:.1f}"


def cost_text(cost: str, value: float | None) -> str:
    """Write one cost with its unit.

    >>> cost_text("p50_ms", 12.345), cost_text("index_bytes", 2e6), cost_text("prompt_tokens", 890.25)
    ('12.3 ms', '2.0 MB', '890')
    """
    if value is None:
        return "-"
    if cost == "index_bytes":
        return f"{bytes_text(value)} MB"
    if cost == "build_ms":
        return f"{value / 1e3:.2f} s"
    return f"{value:,.0f}" if cost == PROMPT_TOKENS.replace(" ", "_") else f"{value:,.1f} ms"


def front_signs(result: SweepResult, row: SweepRow) -> str:
    """Return a sign for each front that a configuration is on.

    ``t`` tokens of the prompt, ``i`` size of the index, ``l`` latency (p50), ``b`` time of building.
    """
    return "".join(sign for cost, sign in FRONT_SIGNS.items() if row.number in result.fronts[cost])


def shown_columns(result: SweepResult) -> tuple[str, ...]:
    """Return the columns of quality beside the target that a table of ordinary width shows."""
    anchors = next(
        (name for name in result.columns if not name.startswith(("chunk ", "char "))), result.target
    )
    chosen = [name for name in (anchors, *_CHARACTERS) if name in result.columns and name != result.target]
    return tuple(dict.fromkeys(chosen))


def _head(result: SweepResult) -> Text:
    knobs = ", ".join(f"{knob.name} ({len(knob.labels)})" for knob in result.knobs)
    on = "queries" if result.split is None else f"{result.split} queries"
    head = Text()
    head.append(result.name, style="bold")
    head.append(
        f": {len(result.rows)} configurations on {result.queries:,} {on}, k = {result.k}, {result.method}"
    )
    if result.rounds:
        head.append(", rounds of " + ", ".join(f"{one} x {queries:,}" for one, queries in result.rounds))
    head.append(f"\nvaried: {knobs}; seed {result.seed}", style="dim")
    head.append(f"\ntarget: {result.target}\n", style="dim")
    return head


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        table.add_column(name, justify="right", vertical="bottom", no_wrap=False)
    return table


def _rows(result: SweepResult, most: int) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("#", justify="right")
    for knob in result.knobs:
        table.add_column(_short(knob.name), no_wrap=True)
    shown = [name for name in shown_columns(result) if name not in _ELSEWHERE]
    for name in ("target", "95 %", *shown, "prompt\ntokens", "p50 / p95\nms", "build\ns", "index\nMB"):
        table.add_column(name.replace("char ", "char\n"), justify="right", no_wrap=True)
    table.add_column("front", no_wrap=True)
    for row in result.rows[:most]:
        table.add_row(*_cells(result, row, shown), style="bold" if row is result.winner else None)
    parts: list[RenderableType] = [table]
    left = len(result.rows) - most
    if left > 0:
        parts.append(Text(f"... and {left} more (--rows {len(result.rows)} shows all)", style="dim"))
    parts.append(
        Text(
            "front: none is better at that cost or less, in t tokens, i index, l latency, b build",
            style="dim",
        )
    )
    return Group(*parts)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _cells(result: SweepResult, row: SweepRow, shown: Sequence[str]) -> list[str]:
    spent, interval = row.spent, row.interval
    return [
        str(row.number),
        *(row.configuration.labels[knob.name] for knob in result.knobs),
        number(row.averages[result.target].mean),
        "-" if interval is None else f"{_tight(interval.low)}-{_tight(interval.high)}",
        *(number(row.averages[name].mean) for name in shown),
        cost_text("prompt_tokens", spent.prompt_tokens),
        "-" if spent.p50_ms is None or spent.p95_ms is None else f"{spent.p50_ms:.1f} / {spent.p95_ms:.1f}",
        "-" if spent.build_ms is None else f"{spent.build_ms / 1e3:.2f}",
        bytes_text(spent.index_bytes),
        front_signs(result, row),
    ]


def _tight(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _effects(result: SweepResult) -> RenderableType:
    table = _table("knob", "from", "to", f"{result.target}", "95 %", "pairs")
    for column in table.columns[:3]:
        column.justify = "left"
    for effect in result.effects:
        table.add_row(
            effect.knob,
            effect.base,
            effect.value,
            signed(effect.difference),
            ends(effect.interval),
            str(effect.pairs) if effect.pairs else "-" if effect.difference is None else "fit",
        )
    return Group(Text("\nwhat each knob does on its own, averaged over the others", style="bold"), table)


def _kinds(result: SweepResult) -> RenderableType:
    table = _table("kind", "n", "best", result.target, "overall winner")
    table.columns[0].justify = "left"
    table.columns[2].justify = "left"
    for kind in result.kinds:
        name = result.row(kind.number).configuration.name
        table.add_row(kind.kind, str(kind.queries), name, number(kind.mean), number(kind.overall))
    return Group(Text("\nthe best for each kind", style="bold"), table)


def sweep_json(result: SweepResult, *, timed: bool = True) -> str:
    """Return the JSON text of a sweep, indented, ending with a line end.

    ``rows`` stand with the best first; means are exact and null where undefined. Values of single queries are
    in ``queries.parquet``.

    Args:
        result: the sweep.
        timed: whether times are in it; without them, equal sweeps print equal bytes.
    """
    values = sweep_values(result)
    if not timed:
        for row in values["rows"]:
            row["costs"] = {cost: value for cost, value in row["costs"].items() if cost not in TIMED}
        values["fronts"] = {cost: front for cost, front in values["fronts"].items() if cost not in TIMED}
    return msgspec.json.format(msgspec.json.encode(values), indent=2).decode() + "\n"


def sweep_values(result: SweepResult) -> dict[str, Any]:
    """Return the same as plain values."""
    return {
        "sweep": result.id,
        "name": result.name,
        "method": result.method,
        "seed": result.seed,
        "k": result.k,
        "split": result.split,
        "queries": result.queries,
        "target": result.target,
        "columns": list(result.columns),
        "knobs": [
            {
                "name": knob.name,
                "values": [
                    {"label": label, "settings": dict(change)}
                    for label, change in zip(knob.labels, knob.changes, strict=True)
                ],
            }
            for knob in result.knobs
        ],
        "rows": [_row_values(row) for row in result.rows],
        "winner": result.winner.number,
        "fronts": {cost: list(front) for cost, front in result.fronts.items()},
        "effects": [_effect_values(effect) for effect in result.effects],
        "kinds": [_kind_values(kind) for kind in result.kinds],
        "shrinkage": None if result.shrinkage is None else msgspec.to_builtins(result.shrinkage),
        "final": None if result.final is None else _final_values(result.final),
        "rounds": [{"configurations": one, "queries": queries} for one, queries in result.rounds],
        "left_out": [
            {
                "configuration": one.configuration.number,
                "knobs": dict(one.configuration.labels),
                "why": one.why,
            }
            for one in result.left_out
        ],
        "notices": [msgspec.to_builtins(notice) for notice in result.notices],
    }


def _row_values(row: SweepRow) -> dict[str, Any]:
    return {
        "configuration": row.number,
        "knobs": dict(row.configuration.labels),
        "settings": dict(row.configuration.changes),
        "rounds": row.rounds,
        "queries": len(row.query_ids),
        "means": {name: average.mean for name, average in row.averages.items()},
        "undefined": {name: average.undefined for name, average in row.averages.items() if average.undefined},
        "by_kind": {kind: {"n": average.n, "mean": average.mean} for kind, average in row.by_kind.items()},
        "interval": _ends(row.interval),
        "behind": _ends(row.behind),
        "chunks": row.spent.chunks,
        "costs": {cost: row.spent.of(cost) for cost in COSTS},
    }


def _effect_values(effect: KnobEffect) -> dict[str, Any]:
    return {
        "knob": effect.knob,
        "from": effect.base,
        "to": effect.value,
        "difference": effect.difference,
        "interval": _ends(effect.interval),
        "pairs": effect.pairs,
        "queries": effect.queries,
    }


def _kind_values(kind: KindWinner) -> dict[str, Any]:
    return {
        "kind": kind.kind,
        "n": kind.queries,
        "configuration": kind.number,
        "mean": kind.mean,
        "overall_winner": kind.overall,
    }


def _final_values(final: FinalLook) -> dict[str, Any]:
    return {
        "configuration": final.number,
        "run": final.run_id,
        "measure": final.measure,
        "dev": {"mean": final.dev.mean, "n": final.dev.n},
        "heldout": {
            "mean": final.heldout.mean,
            "n": final.heldout.n,
            "interval": _ends(final.heldout_interval),
        },
        "columns": {name: {"dev": dev, "heldout": heldout} for name, (dev, heldout) in final.columns.items()},
    }


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
