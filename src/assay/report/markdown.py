"""Gates and comparisons as Markdown: for the comment on a pull request and the summary of a CI step."""

from __future__ import annotations

from collections.abc import Sequence

from assay.model.comparison import Comparison, Difference, Matrix, Moved
from assay.model.gates import GateReport
from assay.model.notices import Notice
from assay.report.words import cause_lines, ends, gate_headline, number, signed

MARK = "<!-- assay -->"
"""Stands first in every comment, so that the next run can find and replace it."""
MOST_MOVED = 20


def gate_markdown(report: GateReport) -> str:
    """Return the gates as a heading, a table, and the queries behind each that fell."""
    lines = [MARK, f"### {'✅' if report.passed else '❌'} Retrieval: {gate_headline(report)}", ""]
    lines += table_lines(
        ["", "gate", "measured", "n"],
        [
            ["✅" if result.passed else "❌", code(result.gate.name), cell(result.shown), str(result.n)]
            for result in report.results
        ],
    )
    for result in report.failed:
        lines += ["", f"**{cell(result.gate.name)}**: {escaped(result.reason or result.shown)}"]
        if result.lint is not None:
            lines += ["", f"_{escaped(result.lint)}_"]
        if result.causes:
            lines += ["", "<details><summary>queries that caused it</summary>", ""]
            lines += [f"- {escaped(line)}" for line in cause_lines(result.causes, most=MOST_MOVED)]
            lines += ["", "</details>"]
    lines += notice_lines(report.notices)
    footer = [f"run `{report.run}`"] if report.run else []
    footer += [f"baseline `{report.baseline}`"] if report.baseline else []
    if footer:
        lines += ["", f"<sub>{', '.join(footer)}</sub>"]
    return "\n".join(lines) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comparison as its sentences, a table of all rows, and the queries that moved."""
    lines = [f"### {escaped(comparison.base)} → {escaped(comparison.candidate)}", ""]
    lines += [f"- {escaped(row.sentence)}" for row in comparison.rows if row.group is None]
    lines.append("")
    lines += table_lines(
        [
            "measure",
            comparison.by or "group",
            "n",
            "base",
            "candidate",
            "difference",
            "interval",
            "p",
            "p (Holm)",
            "gained / lost / same",
            "verdict",
        ],
        [_difference(row) for row in comparison.rows],
    )
    for measure, moved in comparison.moved.items():
        if moved:
            lines += ["", f"<details><summary>{cell(measure)}: {len(moved)} moved</summary>", ""]
            lines += _moved(moved)
            lines += ["", "</details>"]
    lines += notice_lines(comparison.notices)
    made = f"Holm over {comparison.tests} tests, alpha {comparison.alpha:g}, seed {comparison.seed}"
    lines += ["", f"<sub>sign-flip test, BCa intervals, {made}</sub>"]
    return "\n".join(lines) + "\n"


def matrix_markdown(matrix: Matrix) -> str:
    """Return several runs as one table a measure: means, and the difference of the column to the row."""
    lines: list[str] = []
    for measure, means in matrix.means.items():
        lines += [f"### {escaped(measure)}", ""]
        rows = [
            [cell(name), number(mean), *(_pair(matrix, measure, name, other) for other in matrix.names)]
            for name, mean in zip(matrix.names, means, strict=True)
        ]
        lines += table_lines(["run", "mean", *map(cell, matrix.names)], rows)
        lines.append("")
    lines.append(f"<sub>column minus row, over {matrix.n} queries; * proven after Holm's correction</sub>")
    lines += notice_lines(matrix.notices)
    return "\n".join(lines) + "\n"


def _pair(matrix: Matrix, measure: str, base: str, candidate: str) -> str:
    comparison = matrix.pairs.get((base, candidate))
    if comparison is None:
        return ""
    row = comparison.row(measure)
    proven = "*" if row.verdict in ("better", "worse") else ""
    return f"{signed(row.difference)}{proven} (p {row.p_holm:.3g})"


def _difference(row: Difference) -> list[str]:
    return [
        cell(row.measure),
        "all" if row.group is None else cell(row.group),
        str(row.n),
        number(row.base),
        number(row.candidate),
        signed(row.difference),
        ends(row.interval),
        f"{row.p:.3g}",
        f"{row.p_holm:.3g}",
        f"{row.wins} / {row.losses} / {row.ties}",
        row.verdict,
    ]


def _moved(moved: Sequence[Moved]) -> list[str]:
    rows = [
        [cell(query.query_id), cell(query.group or ""), number(query.base), number(query.candidate)]
        for query in moved[:MOST_MOVED]
    ]
    lines = table_lines(["query", "kind", "base", "candidate"], rows)
    more = len(moved) - MOST_MOVED
    return [*lines, "", f"and {more} more"] if more > 0 else lines


def notice_lines(notices: Sequence[Notice]) -> list[str]:
    """Write remarks, with a blank line before them; nothing where there is none."""
    return ["", *(f"> note: {escaped(notice.text)}" for notice in notices)] if notices else []


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a table, one line a row; what stands in a cell is escaped already."""
    return [
        f"| {' | '.join(heads)} |",
        f"|{'|'.join(' --- ' for _ in heads)}|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def code(text: str) -> str:
    """Write an id or a name as code, for a cell of a table."""
    return f"`{cell(text)}`"


def cell(text: str) -> str:
    """Escape what would end a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def escaped(text: str) -> str:
    """Escape what Markdown or HTML would read as markup in running text."""
    safe = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for mark in "*_`[]":
        safe = safe.replace(mark, f"\\{mark}")
    return safe
