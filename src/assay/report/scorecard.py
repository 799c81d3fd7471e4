"""Scored runs: as one JSON object, as a table of plain text, and as other tools print theirs.

Plain text on purpose: ``assay score`` is done on small files before a table engine for terminals has loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from assay.model.scored import Scorecard, ScoredRun
from assay.model.scores import Average

UNDEFINED = "-"


def scorecard_json(card: Scorecard, *, per_query: bool = False) -> str:
    """Return the JSON text of a scorecard, indented, ending with a line end.

    One run: ``measures`` (means), ``counts``, ``undefined``, ``ceilings``, ``ties`` (lowest and highest mean
    over orders of equal scores), ``by`` (column -> value -> n and means), ``notices`` and, when asked for,
    ``queries`` (query -> values). Several: ``runs``, a list of these. An undefined value is null, never 0.
    """
    values = scorecard_values(card, per_query=per_query)
    return msgspec.json.format(msgspec.json.encode(values), indent=2).decode() + "\n"


def scorecard_values(card: Scorecard, *, per_query: bool = False) -> dict[str, Any]:
    """Return the same as plain values."""
    runs = [_run_values(card, run, per_query=per_query) for run in card.runs]
    head = {"judgements": card.judgements, **({"compat": card.tool} if card.tool else {})}
    return {**head, **runs[0]} if len(runs) == 1 else {**head, "runs": runs}


def _run_values(card: Scorecard, run: ScoredRun, *, per_query: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "run": run.name,
        "measures": {name: average.mean for name, average in run.means.items()},
        "counts": dict(run.counts),
        "undefined": {name: average.undefined for name, average in run.means.items()},
        "ceilings": {name: average.ceiling for name, average in run.means.items()},
        "ties": {name: list(span) for name, span in run.tied.items()},
        "by": {
            column: {value: _group(means) for value, means in groups.items()}
            for column, groups in run.by.items()
        },
        "notices": [msgspec.to_builtins(notice) for notice in (*card.notices, *run.notices)],
    }
    if per_query:
        columns = [_plain(run.table.values[name]) for name in card.measures]
        values["queries"] = {
            query: dict(zip(card.measures, row, strict=True))
            for query, *row in zip(run.table.query_ids, *columns, strict=True)
        }
    return values


def _group(means: Mapping[str, Average]) -> dict[str, Any]:
    first = next(iter(means.values()))
    return {"n": first.n + first.undefined, **{name: average.mean for name, average in means.items()}}


def _plain(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124 - NaN


def scorecard_text(card: Scorecard, *, per_query: bool = False) -> str:
    """Return the table for people: measures beside their ceilings, groups, what was noticed."""
    parts = [_one(card, card.runs[0])] if len(card.runs) == 1 else [_many(card)]
    for run in card.runs:
        label = f"{run.name}, " if len(card.runs) > 1 else ""
        for column, groups in run.by.items():
            rows = [
                [value, str(_group(means)["n"]), *(_figure(means[name].mean) for name in card.measures)]
                for value, means in groups.items()
            ]
            parts.append(_table([f"{label}{column}", "n", *card.measures], rows))
        if per_query:
            columns = [_plain(run.table.values[name]) for name in card.measures]
            rows = [
                [query, *map(_figure, row)] for query, *row in zip(run.table.query_ids, *columns, strict=True)
            ]
            parts.append(_table([f"{label}query", *card.measures], rows))
    return "\n".join(parts)


def notice_lines(card: Scorecard) -> list[str]:
    """Return what is to be said, one sentence a line; it goes beside the result, not into it."""
    return [notice.text for notice in (*card.notices, *(n for run in card.runs for n in run.notices))]


def _one(card: Scorecard, run: ScoredRun) -> str:
    counts = run.counts
    head = (
        f"{run.name} against {card.judgements}: {counts['queries']:,} queries "
        f"({counts['missing']:,} missing from the run), "
        f"{counts['found']:,} of {counts['relevant']:,} relevant found\n\n"
    )
    rows = [
        [
            name,
            _figure(run.means[name].mean),
            _figure(run.means[name].ceiling),
            f"{run.means[name].n:,}",
            f"{run.means[name].undefined:,}",
        ]
        for name in card.measures
    ]
    return head + _table(["measure", "mean", "ceiling", "queries", "undefined"], rows)


def _many(card: Scorecard) -> str:
    rows = [[run.name, *(_figure(run.means[name].mean) for name in card.measures)] for run in card.runs]
    return _table(["run", *card.measures], rows)


def tool_text(card: Scorecard, *, decimals: int, per_query: bool = False) -> str:
    """Return the figures as the tool of ``--compat`` prints them: measure, query (or ``all``), value."""
    lines: list[str] = []
    for run in card.runs:
        columns = {name: _plain(run.table.values[name]) for name in card.measures} if per_query else {}
        for place, query in enumerate(run.table.query_ids if per_query else ()):
            for name in card.measures:
                value = columns[name][place]
                if value is not None:
                    lines.append(f"{card.printed[name]:<22}\t{query}\t{value:6.{decimals}f}")
        for name in card.measures:
            mean = run.means[name].mean
            shown = UNDEFINED if mean is None else f"{mean:6.{decimals}f}"
            lines.append(f"{card.printed[name]:<22}\tall\t{shown}")
    return "\n".join(lines) + "\n"


def _figure(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay cells out: the first column to the left, figures to the right."""
    widths = [max(len(cells[place]) for cells in (header, *rows)) for place in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        figures = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "  ".join([cells[0].ljust(widths[0]), *figures]).rstrip()

    return "\n".join(map(line, (header, *rows))) + "\n"
