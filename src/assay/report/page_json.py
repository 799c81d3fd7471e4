"""The report of a run as one JSON object: all that the page shows, and what it leaves out for its size."""

from __future__ import annotations

from typing import Any

import msgspec

from assay.model.report import Figure, MissedItem, MissedQuery, ReportPage
from assay.report.comparison import comparison_values
from assay.report.diagnosis import diagnosis_values
from assay.report.json import summary_values


def page_json(page: ReportPage) -> str:
    """Return the JSON text of a report, indented, ending with a line end; exact values, no times.

    ``summary`` is what ``assay run --json`` prints, ``diagnosis`` what ``assay diagnose --json`` prints, and
    ``comparison`` what ``assay compare --json`` prints, or null.
    """
    values = {
        "summary": summary_values(page.summary),
        "intervals": {
            "overall": {one.measure: _interval(one) for one in page.figures},
            **{row.kind: {row.headline.measure: _interval(row.headline)} for row in page.kinds},
        },
        "ranks": msgspec.to_builtins(page.ranks),
        "curves": msgspec.to_builtins(page.curves),
        "diagnosis": diagnosis_values(page.diagnosis),
        "misses": [_miss(miss) for miss in page.misses],
        "comparison": None if page.comparison is None else comparison_values(page.comparison),
        "making": {
            "command": page.making.command,
            "versions": dict(page.making.versions),
            "draws": page.draws,
            "seed": page.making.seed,
        },
    }
    return msgspec.json.format(msgspec.json.encode(values), indent=2).decode() + "\n"


def _interval(figure: Figure) -> dict[str, Any] | None:
    return None if figure.interval is None else msgspec.to_builtins(figure.interval)


def _miss(miss: MissedQuery) -> dict[str, Any]:
    return {
        "query_id": miss.query_id,
        "kind": miss.kind,
        "split": miss.split,
        "query": miss.text,
        "k": miss.k,
        "of": miss.of,
        "values": dict(miss.values),
        "error": miss.error,
        "items": [_item(item) for item in miss.items],
        "hits": [msgspec.to_builtins(hit) for hit in miss.hits] if miss.shown else None,
    }


def _item(item: MissedItem) -> dict[str, Any]:
    return {
        "item": item.item,
        "lost_at": item.lost_at,
        "stage": item.stage,
        "quotes": item.quotes,
        "places": item.places,
        "twins": item.twins,
        "passage": msgspec.to_builtins(item.passage),
    }
