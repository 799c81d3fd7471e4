"""Comparisons for people in a terminal, and as one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.model.comparison import Comparison, Difference, Matrix, Moved, SideBySide
from assay.model.runs import Hit
from assay.report.words import ends, number, signed

_SHORT = {
    "not enough queries": "too few to tell",
    "no difference seen": "same",
    "nothing to compare": "nothing",
}
_STYLES = {"better": "green", "worse": "red", "not enough queries": "yellow"}


def print_comparison(comparison: Comparison, console: Console, *, most_moved: int = 10) -> None:
    """Print a comparison: the sentence of each measure, the table by group, the queries that moved."""
    console.print(Text(f"{comparison.base} -> {comparison.candidate}", style="bold"))
    for row in comparison.rows:
        if row.group is None:
            # Sentences are for pasting: the terminal may wrap them, no line end is put in.
            console.print(Text(row.sentence), soft_wrap=True)
    console.print(_below(comparison, most_moved))


def _below(comparison: Comparison, most_moved: int) -> RenderableType:
    parts: list[RenderableType] = [Text(), _rows(comparison)]
    if comparison.lists:
        parts += [part for query in comparison.lists[:most_moved] for part in _lists(query)]
    else:
        for measure, moved in comparison.moved.items():
            if moved:
                parts += [Text(), _moved(measure, moved, most_moved)]
    parts += [Text(f"note: {notice.text}", style="yellow") for notice in comparison.notices]
    parts.append(
        Text(
            f"sign-flip test, BCa intervals, Holm over {comparison.tests} tests, alpha {comparison.alpha:g}, "
            f"seed {comparison.seed}",
            style="dim",
        )
    )
    return Group(*parts)


def print_matrix(matrix: Matrix, console: Console) -> None:
    """Print several runs: one table a measure, with means and differences."""
    parts: list[RenderableType] = []
    for measure, means in matrix.means.items():
        table = _table([measure, "mean"], [f"-> {name}" for name in matrix.names[1:]])
        for name, mean in zip(matrix.names, means, strict=True):
            cells = [_cell(matrix, measure, name, other) for other in matrix.names[1:]]
            table.add_row(Text(name), number(mean), *cells)
        parts += [table, Text()]
    parts += [Text(f"note: {notice.text}", style="yellow") for notice in matrix.notices]
    text = f"over {matrix.n} queries; * proven after Holm's correction over all pairs, seed {matrix.seed}"
    console.print(Group(*parts, Text(text, style="dim")))


def comparison_json(comparison: Comparison) -> str:
    """Return the comparison as JSON text, indented, ending with a line end; exact values, no times."""
    return _json(comparison_values(comparison))


def matrix_json(matrix: Matrix) -> str:
    """Return a matrix as JSON text, indented, ending with a line end."""
    return _json(
        {
            "runs": matrix.names,
            "n": matrix.n,
            "means": dict(matrix.means),
            "pairs": [comparison_values(pair) for pair in matrix.pairs.values()],
            "seed": matrix.seed,
            "alpha": matrix.alpha,
            "notices": [msgspec.to_builtins(notice) for notice in matrix.notices],
        }
    )


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    return {
        "base": comparison.base,
        "candidate": comparison.candidate,
        "by": comparison.by,
        "rows": [msgspec.to_builtins(row) for row in comparison.rows],
        "moved": {
            measure: [{**msgspec.to_builtins(query), "difference": query.difference} for query in moved]
            for measure, moved in comparison.moved.items()
        },
        "lists": [
            {**msgspec.to_builtins(query), "relevant": sorted(query.relevant)} for query in comparison.lists
        ],
        "only_base": comparison.only_base,
        "only_candidate": comparison.only_candidate,
        "seed": comparison.seed,
        "alpha": comparison.alpha,
        "draws": comparison.draws,
        "tests": comparison.tests,
        "notices": [msgspec.to_builtins(notice) for notice in comparison.notices],
    }


def _json(values: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(values), indent=2).decode() + "\n"


def _rows(comparison: Comparison) -> Table:
    heads = ["n", "base", "cand.", "differ.", "interval", "p", "Holm", "+ / - / ="]
    table = _table([comparison.by or "measure"], heads)
    table.add_column("verdict")
    for row in comparison.rows:
        head = Text(row.measure, style="bold") if row.group is None else Text(f"  {row.group}")
        verdict = Text(_SHORT.get(row.verdict, row.verdict), style=_STYLES.get(row.verdict, ""))
        table.add_row(head, *_row(row), verdict)
    for column in table.columns:
        column.no_wrap = True
    return table


def _row(row: Difference) -> list[str]:
    return [
        str(row.n),
        number(row.base),
        number(row.candidate),
        signed(row.difference),
        ends(row.interval),
        f"{row.p:.3g}",
        f"{row.p_holm:.3g}",
        f"{row.wins} / {row.losses} / {row.ties}",
    ]


def _moved(measure: str, moved: Sequence[Moved], most: int) -> RenderableType:
    table = _table([f"moved in {measure}", "kind"], ["base", "candidate"])
    for query in moved[:most]:
        table.add_row(
            Text(query.query_id), Text(query.group or ""), number(query.base), number(query.candidate)
        )
    more = len(moved) - most
    return Group(table, Text(f"and {more} more", style="dim")) if more > 0 else table


def _lists(query: SideBySide) -> list[RenderableType]:
    table = _table(["", "base"], [])
    table.add_column("candidate")
    for place in range(max(len(query.base), len(query.candidate))):
        table.add_row(
            str(place + 1),
            _hit(query.base, place, query.relevant),
            _hit(query.candidate, place, query.relevant),
        )
    head = Text()
    head.append(query.query_id, style="bold")
    head.append(f" [{query.kind}] {query.text}")
    return [Text(), head, Padding(table, (0, 0, 0, 2), expand=False)]


def _hit(hits: Sequence[Hit], place: int, relevant: frozenset[str]) -> Text:
    if place >= len(hits):
        return Text()
    right = hits[place].chunk_id in relevant
    mark, style = ("*", "green") if right else (" ", "")
    return Text(f"{mark} {hits[place].chunk_id}", style=style, no_wrap=True, overflow="ellipsis")


def _cell(matrix: Matrix, measure: str, base: str, candidate: str) -> str:
    comparison = matrix.pairs.get((base, candidate))
    if comparison is None:
        return ""
    row = comparison.row(measure)
    proven = "*" if row.verdict in ("better", "worse") else ""
    return f"{signed(row.difference)}{proven} (p {row.p_holm:.3g})"


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in left:
        table.add_column(name)
    for name in right:
        table.add_column(name, justify="right")
    return table
