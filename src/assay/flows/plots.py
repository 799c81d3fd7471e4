"""``evaluation.plot``: the pictures of the report, one method each, for notebooks and files.

Rooms: diagnosis (waterfall), report (drawings).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.diagnosis.waterfall import waterfalls
from assay.flows.depths import rank_histogram, recall_curves
from assay.model.comparison import Comparison, Interval
from assay.model.errors import InputError
from assay.report.html import plots
from assay.report.html.notebook import Drawing, html_of
from assay.report.html.svg import drawing, element, text

if TYPE_CHECKING:
    from assay.flows.evaluate import Evaluation

WIDTH = 720.0


class Plots:
    """The pictures of one measured run; each method returns a `Drawing`, which a notebook shows.

    Args:
        evaluation: the measured run.
    """

    __slots__ = ("_evaluation",)

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def waterfall(self, kind: str | None = None) -> Drawing:
        """Draw what each place of loss took, from all that was relevant to what reached the prompt.

        Args:
            kind: the queries of one kind; None: all.

        Raises:
            InputError: the set has no such kind.
        """
        golden = self._evaluation.prepared.golden
        kinds = {query.id: query.kind for query in golden.queries}
        falls = waterfalls(self._evaluation.losses, kinds, kinds=golden.all_kinds)
        found = next((fall for fall in falls if fall.group == kind), None)
        if found is None:
            raise InputError(f"no query is of kind {kind!r}", fix=f"kinds: {', '.join(golden.all_kinds)}")
        return Drawing(plots.waterfall(found, width=WIDTH, label="where recall is lost"))

    def ranks(self) -> Drawing:
        """Draw at which ranks the relevant chunks stand in the list of every stage, however deep."""
        histogram = rank_histogram(self._evaluation)
        columns = min(3, max(1, len(histogram.stages)))
        return Drawing(plots.rank_bars(histogram, width=WIDTH, columns=columns, label="ranks by stage"))

    def recall(self) -> Drawing:
        """Draw recall at k of every stage, with the cut of the prompt and what bounds it."""
        curves = recall_curves(self._evaluation)
        return Drawing(plots.recall_plot(curves, width=WIDTH, height=340, label="recall at k by stage"))


def plot_differences(comparison: Comparison) -> Drawing:
    """Draw the differences of a comparison with their intervals, a row a measure and group.

    The line in the middle is no difference; to its right the candidate is better.
    """
    reach = max(
        (
            max(abs(row.difference or 0.0), *(() if row.interval is None else _ends(row.interval)))
            for row in comparison.rows
        ),
        default=1.0,
    )
    rows = [row for row in comparison.rows if row.difference is not None]
    parts = [text(0, 14, f"{comparison.base} → {comparison.candidate}", "title")]
    for at, row in enumerate(rows):
        name = row.measure if row.group is None else f"  {row.group}"
        top = 24.0 + at * 22
        parts.append(text(10 if row.group else 0, top + 14, name, "label"))
        bar = plots.whisker(row.difference, row.interval, reach, width=320)
        parts.append(element("g", bar, transform=f"translate(180 {top:g})"))
        parts.append(text(514, top + 14, row.verdict, "value"))
    return Drawing(drawing(parts, width=WIDTH, height=30 + 22 * len(rows), label="differences by group"))


def _ends(interval: Interval) -> tuple[float, float]:
    return abs(interval.low), abs(interval.high)


def show_html(noun: object) -> str:
    """Return the HTML of a noun, or of what a command returns, for a notebook.

    Raises:
        TypeError: nothing is known of such an object.
    """
    for inner in ("summary", "diagnosis"):
        found = getattr(noun, inner, None)
        if found is not None:
            return html_of(found)
    return html_of(noun)
