"""The pictures of a report, drawn as SVG: positions on paper of numbers that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log

from markupsafe import Markup

from assay.model.comparison import Interval
from assay.model.findings import Waterfall
from assay.model.report import Figure, RankBin, RankHistogram, RecallCurves, StageCurve
from assay.report.html.svg import drawing, element, line, rect, text
from assay.report.words import number

HATCH = element(
    "defs",
    element(
        "pattern",
        rect(0, 0, 6, 6, "hatch-ground"),
        line(0, 0, 0, 6, "hatch-line"),
        id="hatch",
        width=6,
        height=6,
        patternUnits="userSpaceOnUse",
        patternTransform="rotate(45)",
    ),
)
"""What was lost is hatched as well as coloured. It stands once in the page."""
ROW = 26
"""Height of one row of a bar chart."""


def gauge(figure: Figure, *, width: float = 160, height: float = 18) -> Markup:
    """Draw a mean on its range, with its interval and its ceiling; the numbers stand beside it."""
    mean, ceiling, interval = figure.average.mean, figure.average.ceiling, figure.interval
    if mean is None:
        return Markup()
    top = max(1.0, ceiling or 0.0, mean, interval.high if interval else 0.0)
    middle = height / 2
    span = width - 6

    def at(value: float) -> float:
        return 3 + span * max(0.0, value) / top

    parts = [line(3, middle, width - 3, middle, "track"), line(3, middle, at(mean), middle, "fill")]
    if interval is not None:
        low, high = at(interval.low), at(interval.high)
        parts.append(rect(low, middle - 5, high - low, 10, "band"))
        parts += [line(end, middle - 5, end, middle + 5, "band-end") for end in (low, high)]
    if ceiling is not None:
        parts.append(line(at(ceiling), 1, at(ceiling), height - 1, "ceiling"))
    parts.append(rect(at(mean) - 1.5, middle - 7, 3, 14, "point"))
    return drawing(parts, width=width, height=height, label=None, class_="gauge")


def whisker(
    difference: float | None, interval: Interval | None, reach: float, *, width: float = 140
) -> Markup:
    """Draw a difference and its interval around 0; ``reach`` is what the longest of the column needs."""
    if difference is None:
        return Markup()
    height, middle, reach = 18.0, 9.0, reach or 1.0

    def at(value: float) -> float:
        return width / 2 + (width / 2 - 4) * value / reach

    parts = [line(0, middle, width, middle, "track"), line(width / 2, 1, width / 2, height - 1, "zero")]
    if interval is not None:
        parts.append(line(at(interval.low), middle, at(interval.high), middle, "whisker"))
        parts += [
            line(at(x), middle - 4, at(x), middle + 4, "whisker") for x in (interval.low, interval.high)
        ]
    sign = "gain" if difference > 0 else "drop" if difference < 0 else "same"
    parts.append(element("circle", cx=at(difference), cy=middle, r=4, class_=f"dot {sign}"))
    return drawing(parts, width=width, height=height, label=None, class_="gauge")


def waterfall(fall: Waterfall, *, width: float, label: str) -> Markup:
    """Draw what each place of loss took, from all that was relevant to what reached the prompt."""
    narrow = width < 450
    left, right = (118.0, 64.0) if narrow else (132.0, 132.0)
    span = width - left - right

    def at(share: float | Fraction) -> float:
        return left + span * float(share)

    parts: list[Markup] = []

    def bar(row: int, name: str, low: Fraction, high: Fraction, told: str, class_: str) -> None:
        y = row * ROW
        parts.append(text(left - 10, y + 17, name, "label", anchor="end"))
        parts.append(line(left, y + ROW / 2, left + span, y + ROW / 2, "track"))
        parts.append(rect(at(low), y + 4, max(1.5, at(high) - at(low)), ROW - 8, class_, title=told))
        parts.append(text(width - right + 10, y + 17, told, "value"))

    bar(0, "all relevant", Fraction(0), Fraction(1), "1.000", "bar whole")
    kept = Fraction(1)
    for row, part in enumerate(fall.parts, start=1):
        items = "1 item" if part.items == 1 else f"{part.items:,} items"
        told = f"−{float(part.lost):.3f}" if narrow else f"−{float(part.lost):.3f}  {items}"
        bar(row, part.lost_at, part.kept, kept, told, "bar lost")
        parts.append(line(at(kept), row * ROW - 4, at(kept), row * ROW + 4, "joint"))
        kept = part.kept
    last = len(fall.parts) + 1
    parts.append(line(at(kept), last * ROW - 4, at(kept), last * ROW + 4, "joint"))
    bar(last, "in the prompt", Fraction(0), kept, number(float(kept)), "bar kept")
    return drawing(parts, width=width, height=(last + 1) * ROW, label=label, class_="waterfall")


def rank_bars(ranks: RankHistogram, *, width: float, columns: int, label: str) -> Markup:
    """Draw how many relevant chunks stand at which ranks, one panel a stage, all on one scale."""
    names = [*(_short_label(one) for one in ranks.bins), "absent"]
    most = max([1, *(max(*stage.counts, stage.absent) for stage in ranks.stages)])
    left, gap, row, head = 66.0, 16.0, 20.0, 24.0
    panel = (width - left - gap * (columns - 1)) / columns
    room = panel - 34
    height = head + row * len(names) + 14
    parts: list[Markup] = []
    cut = sum(one.within_cut for one in ranks.bins)
    lines = -(-len(ranks.stages) // columns)
    for block in range(lines):
        top = block * height
        for at, name in enumerate(names):
            parts.append(text(left - 10, top + head + at * row + 14, name, "label", anchor="end"))
        here = ranks.stages[block * columns : (block + 1) * columns]
        for column, stage in enumerate(here):
            x = left + column * (panel + gap)
            parts.append(text(x, top + 14, stage.stage, "title"))
            parts.append(line(x, top + head, x, top + head + row * len(names), "axis"))
            for at, count in enumerate([*stage.counts, stage.absent]):
                y = top + head + at * row
                class_ = "bar kept" if at < cut else "bar beyond" if at < len(names) - 1 else "bar lost"
                told = f"{stage.stage}, rank {names[at]}: {count:,}"
                parts.append(rect(x, y + 4, room * count / most, row - 8, class_, title=told))
                if count:
                    parts.append(text(x + room * count / most + 4, y + 14, f"{count:,}", "value"))
        y = top + head + cut * row
        parts.append(line(left - 60, y, left + len(here) * (panel + gap) - gap, y, "cut"))
    return drawing(parts, width=width, height=lines * height, label=label, class_="ranks")


def rank_label(one: RankBin) -> str:
    """Write the ranks of a bin."""
    return f"{one.first:,}" if one.first == one.last else f"{one.first:,}–{one.last:,}"


def _short_label(one: RankBin) -> str:
    """Write the ranks of a bin in little room: 1,001 to 3,000 is 1k to 3k."""
    if one.first > 1000 and one.first % 1000 == 1 and one.last % 1000 == 0:
        return f"{one.first // 1000}k–{one.last // 1000}k"
    return f"{one.first}" if one.first == one.last else f"{one.first}–{one.last}"


def recall_plot(curves: RecallCurves, *, width: float, height: float, label: str) -> Markup:
    """Draw recall at k for every stage, the cut of the prompt, and what bounds it."""
    left, right, top, bottom = 40.0, 104.0, 22.0, 34.0
    deepest = max([2, *(curve.ks[-1] for curve in curves.curves)])
    wide, high = width - left - right, height - top - bottom

    def x(k: float) -> float:
        return left + wide * log(k) / log(deepest)

    def y(recall: float) -> float:
        return top + high * (1.0 - recall)

    parts: list[Markup] = []
    for tenth in range(0, 11, 2):
        parts.append(line(left, y(tenth / 10), left + wide, y(tenth / 10), "grid"))
        parts.append(text(left - 8, y(tenth / 10) + 4, f"{tenth / 10:.1f}", "tick", anchor="end"))
    for k in _ticks(deepest, curves.k):
        parts.append(line(x(k), top + high, x(k), top + high + 4, "axis"))
        parts.append(text(x(k), top + high + 17, f"{k}", "tick", anchor="middle"))
    parts.append(text(left + wide / 2, height - 3, "k (logarithmic)", "tick", anchor="middle"))
    parts.append(line(x(curves.k), top - 6, x(curves.k), top + high, "cut"))
    label_at = min(max(x(curves.k), left + 44), left + wide - 44)
    parts.append(text(label_at, top - 10, f"the prompt: k = {curves.k}", "tick", anchor="middle"))
    limit = [(k, value) for k, value in curves.limit if value is not None]
    parts.append(_path([(x(k), y(value)) for k, value in limit], "limit"))
    if curves.pool_recall is not None:
        level = y(curves.pool_recall)
        parts.append(line(left, level, left + wide, level, "bound"))
        told = f"ceiling of {curves.pool}: {number(curves.pool_recall)}"
        parts.append(text(left + 4, level - 6, told, "bound-name"))
    ends: list[tuple[float, str, str]] = []
    for at, curve in enumerate(curves.curves):
        points = [
            (x(k), y(value)) for k, value in zip(curve.ks, curve.recall, strict=True) if value is not None
        ]
        if points:
            parts.append(_path(points, curve_class(curves.curves, at)))
            ends.append((points[-1][1], curve.stage, curve_class(curves.curves, at)))
            if at == len(curves.curves) - 1:
                parts.append(element("circle", cx=points[-1][0], cy=points[-1][1], r=4, class_="dot same"))
    parts += _end_labels(ends, x=left + wide, top=top, bottom=top + high)
    return drawing(parts, width=width, height=height, label=label, class_="curves")


def curve_class(curves: Sequence[StageCurve], at: int) -> str:
    """Name the look of one stage's line: its own colour and dashes, the last one heavy."""
    return "curve last" if at == len(curves) - 1 else f"curve c{at % 6}"


def _end_labels(ends: list[tuple[float, str, str]], *, x: float, top: float, bottom: float) -> list[Markup]:
    """Name the lines at their ends, moved apart where they would cover each other."""
    parts: list[Markup] = []
    placed = top - 16
    order = sorted(ends, key=lambda end: end[0])
    room = [max(top, min(end[0], bottom - 15 * (len(order) - 1 - at))) for at, end in enumerate(order)]
    for wanted, (_, name, class_) in zip(room, order, strict=True):
        placed = max(wanted, placed + 15)
        parts.append(line(x + 6, placed, x + 24, placed, class_))
        parts.append(text(x + 29, placed + 4, name, "label"))
    return parts


def _path(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    drawn = " ".join(f"{'M' if not at else 'L'}{px:.1f} {py:.1f}" for at, (px, py) in enumerate(points))
    return element("path", d=drawn, class_=class_, fill="none")


def _ticks(deepest: int, k: int) -> list[int]:
    ticks = [step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if step <= deepest]
    far = [step for step in ticks if step == k or not 0.75 < step / k < 1.34]
    return sorted({*far, k})
