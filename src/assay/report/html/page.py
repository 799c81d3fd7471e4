"""The report of a run as one HTML file: style, script, data and drawings inside, nothing from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from assay.model.findings import PLACES, UNEXPLAINED
from assay.model.report import ReportPage
from assay.report.diagnosis import agreement_sentence, change_text
from assay.report.html import plots
from assay.report.html.embed import (
    data_script,
    explain_command,
    remedy_text,
    score_text,
    status_text,
    values_text,
)
from assay.report.html.shell import environment, shell

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_STATIC = 20
"""Misses that can be read without the script."""
MOST_LISTED = 200
"""Names in one list; the page says how many more there are, and the JSON report has them all."""


def report_html(page: ReportPage) -> str:
    """Return the page of a run as one HTML document that asks for nothing from outside.

    The same page gives the same bytes: no time is in it. Whatever documents and queries hold is text, never
    markup, and a policy in the head lets only the page's own script and style in.
    """
    return (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            summary=page.summary,
            diagnosis=page.diagnosis,
            comparison=page.comparison,
            filters=_filters(page),
            data=data_script(page),
            settings=msgspec.json.format(
                msgspec.json.encode(page.making.settings, order="sorted"), indent=2
            ).decode(),
            **shell(),
            places=[
                part for part in PLACES if any(part == x.lost_at for x in page.diagnosis.waterfall[0].parts)
            ],
            most_static=MOST_STATIC,
            most_listed=MOST_LISTED,
        )
    )


def _environment() -> Environment:
    filters: dict[str, Any] = {
        "agreement": agreement_sentence,
        "change": change_text,
        "rank_label": plots.rank_label,
        "remedy": remedy_text,
        "score": score_text,
        "status": status_text,
        "values": values_text,
        "heat": _heat,
        "size": _size,
    }
    names: dict[str, Any] = {"plots": plots, "explain_command": explain_command}
    return environment(filters, names)


def _filters(page: ReportPage) -> Mapping[str, Any]:
    """Name the groups of the filter: (value, how many misses), in the order of the page."""
    kinds = Counter(miss.kind for miss in page.misses)
    places = Counter(place for miss in page.misses for place in {item.lost_at for item in miss.items})
    reasons = Counter(
        reason
        for miss in page.misses
        for reason in {
            UNEXPLAINED if item.finding is None or item.finding.kind is None else item.finding.kind
            for item in miss.items
        }
    )
    order = [*page.diagnosis.proposed_kinds, *sorted(set(reasons) - set(page.diagnosis.proposed_kinds))]
    return {
        "kind": ("Kind of query", [(kind, kinds[kind]) for kind in page.summary.kinds if kinds[kind]]),
        "lost": ("Lost at", [(place, places[place]) for place in PLACES if places[place]]),
        "why": ("Why", [(reason, reasons[reason]) for reason in order if reasons[reason]]),
    }


def _heat(lost: float) -> str:
    """Name the shade of a cell of the table of losses."""
    return (
        f"heat heat-{0 if not lost else 1 if lost < 0.05 else 2 if lost < 0.15 else 3 if lost < 0.35 else 4}"
    )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.0f} kB"
