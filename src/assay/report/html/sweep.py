"""The page of a sweep: quality against each cost, what each knob does, the table; one file, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from markupsafe import Markup

from assay.model.sweep import COSTS, SweepResult, SweepRow
from assay.report.html import plots
from assay.report.html.shell import environment, shell
from assay.report.html.svg import drawing, element, line, text
from assay.report.sweep import (
    cost_text,
    final_sentence,
    front_signs,
    near_rows,
    shown_columns,
    shrinkage_sentence,
    winner_sentence,
)
from assay.report.words import number

COST_NAMES = {
    "prompt_tokens": "tokens of the prompt",
    "index_bytes": "size of the index",
    "p50_ms": "latency of a query, p50",
    "p95_ms": "latency of a query, p95",
    "build_ms": "time of building",
}
_MOST_ROWS = 500
_FAR = 20.0
"""Costs that lie further apart than this are drawn on a logarithmic axis."""


def sweep_html(result: SweepResult) -> str:
    """Return the page of a sweep as one HTML document that asks for nothing from outside.

    Names of knobs and of queries are text, never markup. Times are in it: two equal sweeps differ in those.
    """
    reach = max(
        [0.0]
        + [abs(effect.difference) for effect in result.effects if effect.difference is not None]
        + [
            abs(end)
            for one in result.effects
            if one.interval
            for end in (one.interval.low, one.interval.high)
        ]
    )
    template = environment(
        {"cost_of": _cost_of},
        {"plots": plots, "signs": front_signs},
    ).get_template("sweep.html")
    return template.render(
        result=result,
        rows=result.rows[:_MOST_ROWS],
        left=max(0, len(result.rows) - _MOST_ROWS),
        columns=shown_columns(result),
        near=near_rows(result),
        reach=reach,
        drawings=[(COST_NAMES[cost], quality_plot(result, cost)) for cost in COSTS if _known(result, cost)],
        sentences=_sentences(result),
        **shell(),
    )


def _cost_of(value: float | None, cost: str) -> str:
    return cost_text(cost, value)


def _sentences(result: SweepResult) -> list[str]:
    told = [winner_sentence(result)]
    if result.shrinkage is not None:
        told.append(shrinkage_sentence(result.shrinkage))
    if result.final is not None:
        told.append(final_sentence(result, result.final))
    return told


def _known(result: SweepResult, cost: str) -> bool:
    return any(row.spent.of(cost) is not None for row in result.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """From a value to a place on paper."""

    low: float
    high: float
    start: float
    length: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high, place = self.low, self.high, value
        if self.logarithmic:
            low, high, place = log10(low), log10(high), log10(value)
        return self.start + self.length * ((place - low) / (high - low) if high > low else 0.5)

    def ticks(self) -> list[float]:
        if self.logarithmic:
            first, last = int(log10(self.low)) - 1, int(log10(self.high)) + 1
            steps = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 3)]
        else:
            step = _step((self.high - self.low) / 4)
            first = round(self.low / step)
            steps = [step * count for count in range(first - 1, first + 8)]
        return [value for value in steps if self.low <= value <= self.high]


def quality_plot(result: SweepResult, cost: str, *, width: float = 540, height: float = 320) -> Markup:
    """Draw every configuration by what it costs and what it is worth, and the front along the best."""
    points = [
        (price, quality, row)
        for row in result.rows
        if (price := row.spent.of(cost)) is not None
        and (quality := row.averages[result.target].mean) is not None
    ]
    prices, worth = [price for price, _, _ in points], [quality for _, quality, _ in points]
    left, right, top, bottom = 52.0, 18.0, 24.0, 40.0
    wide = min(prices) > 0 and max(prices) / min(prices) > _FAR
    x = _axis(prices, left, width - left - right, logarithmic=wide)
    y = _axis(worth, height - bottom, -(height - top - bottom))
    parts = _grid(x, y, cost, height - bottom, width - right)
    front = [result.row(one) for one in result.fronts[cost]]
    path = _steps(
        [(x.at(row.spent.of(cost) or 0.0), y.at(_worth(result, row))) for row in front], width - right
    )
    parts.append(element("path", d=path, class_="curve last", fill="none"))
    on = {row.number for row in front}
    for price, quality, row in sorted(points, key=lambda point: point[2].number in on):
        told = f"#{row.number} {row.configuration.name}: {number(quality)}, {cost_text(cost, price)}"
        parts.append(_point(x.at(price), y.at(quality), told, on=row.number in on))
    for row in front:
        place, level = x.at(row.spent.of(cost) or 0.0), y.at(_worth(result, row))
        near_edge = place > width - right - 30
        parts.append(
            text(
                place + (-8 if near_edge else 8),
                level - 7,
                f"#{row.number}",
                "label",
                anchor="end" if near_edge else None,
            )
        )
    parts.append(text(left, 12, result.target, "title"))
    scale = " (logarithmic)" if wide else ""
    parts.append(
        text(left + (width - left - right) / 2, height - 4, COST_NAMES[cost] + scale, "tick", anchor="middle")
    )
    label = f"{result.target} against {COST_NAMES[cost]}; the front: " + ", ".join(
        f"#{row.number} {number(_worth(result, row))} at {cost_text(cost, row.spent.of(cost))}"
        for row in front
    )
    return drawing(parts, width=width, height=height, label=label, class_="quality")


def _worth(result: SweepResult, row: SweepRow) -> float:
    return row.averages[result.target].mean or 0.0


def _axis(values: Sequence[float], start: float, length: float, *, logarithmic: bool = False) -> _Axis:
    low, high = min(values), max(values)
    if logarithmic:
        return _Axis(low=low / 1.3, high=high * 1.3, start=start, length=length, logarithmic=True)
    room = (high - low) * 0.08 or abs(high) * 0.1 or 0.1
    return _Axis(
        low=max(0.0, low - room) if low >= 0 else low - room, high=high + room, start=start, length=length
    )


def _step(size: float) -> float:
    """Return the round number nearest above: 1, 2 or 5 times a power of ten.

    >>> _step(0.013), _step(730)
    (0.02, 1000.0)
    """
    power = 10.0 ** (len(f"{int(size)}") - 1) if size >= 1 else 10.0 ** -(1 + int(-log10(size)))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= size)


def _grid(x: _Axis, y: _Axis, cost: str, floor: float, right: float) -> list[Markup]:
    parts: list[Markup] = []
    for value in y.ticks():
        parts.append(line(x.start, y.at(value), right, y.at(value), "grid"))
        parts.append(text(x.start - 8, y.at(value) + 4, f"{value:.3g}", "tick", anchor="end"))
    for value in x.ticks():
        parts.append(line(x.at(value), floor, x.at(value), floor + 4, "axis"))
        parts.append(text(x.at(value), floor + 17, cost_text(cost, value), "tick", anchor="middle"))
    parts.append(line(x.start, floor, right, floor, "axis"))
    return parts


def _steps(points: Sequence[tuple[float, float]], right: float) -> str:
    """Write the path of a front: what can be had at each cost, up to the right edge."""
    drawn: list[str] = []
    for at, (across, up) in enumerate(points):
        drawn.append(f"M{across:.1f} {up:.1f}" if not at else f"H{across:.1f} V{up:.1f}")
    return " ".join([*drawn, f"H{right:.1f}"]) if drawn else ""


def _point(across: float, up: float, told: str, *, on: bool) -> Markup:
    class_ = "dot" if on else "dot same"
    return element("circle", element("title", told), cx=across, cy=up, r=5 if on else 3.5, class_=class_)
