"""The misses as JSON inside the page, for the script that filters and draws them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import msgspec
from markupsafe import Markup

from assay.model.explanation import ShownHit
from assay.model.findings import Finding, Remedy
from assay.model.report import MissedItem, MissedQuery, ReportPage
from assay.report.diagnosis import change_text
from assay.report.html.visible import shown, shown_marks
from assay.report.words import number


class Texts:
    """Passages, each kept once however often it was retrieved."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Return the position of a text, which is added where it is new."""
        return self._places.setdefault(shown(text), len(self._places))

    @property
    def all(self) -> list[str]:
        return list(self._places)


def data_script(page: ReportPage) -> Markup:
    """Return the JSON of all misses, safe inside a script element.

    ``<``, ``>`` and ``&`` are written as escapes, so that no text can end the element or begin another.
    """
    texts = Texts()
    stages = [stage.name for stage in page.summary.stages]
    misses = [_miss(miss, texts, stages, page.summary.run_id) for miss in page.misses]
    data = {"stages": [shown(stage) for stage in stages], "misses": misses, "texts": texts.all}
    text = msgspec.json.encode(data).decode()
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - what could be markup was escaped above


def _miss(miss: MissedQuery, texts: Texts, stages: list[str], run: str) -> dict[str, Any]:
    return {
        "id": shown(miss.query_id),
        "kind": shown(miss.kind),
        "text": shown(miss.text),
        "k": miss.k,
        "of": miss.of,
        "items": [_item(item, texts, stages) for item in miss.items],
        "hits": [_hit(hit, texts) for hit in miss.hits] if miss.shown else None,
        "values": values_text(miss.values),
        "command": shown(explain_command(miss.query_id, run)),
        "error": None if miss.error is None else shown(miss.error),
    }


def _item(item: MissedItem, texts: Texts, stages: list[str]) -> dict[str, Any]:
    finding, passage = item.finding, item.passage
    return {
        "id": shown(item.item),
        "lost": item.lost_at,
        "stage": stages.index(item.stage) if item.stage in stages else None,
        "detail": shown(item.detail),
        "ranks": [item.ranks.get(stage) for stage in stages],
        "why": None if finding is None or finding.kind is None else shown(finding.kind),
        "fix": None if finding is None or finding.fix is None else shown(finding.fix),
        "evidence": "" if finding is None else shown(finding.evidence.sentence),
        "status": "" if finding is None else shown(status_text(finding)),
        "note": None if finding is None or finding.note is None else shown(finding.note),
        "back": remedy_text(item.remedy),
        "quotes": [shown(quote) for quote in item.quotes],
        "places": [shown(place) for place in item.places],
        "twins": [shown(twin) for twin in item.twins],
        "whole": passage is not None and passage.chunk_id is not None,
        "passage": None
        if passage is None
        else [
            shown(passage.chunk_id or passage.doc_id),
            texts.place(passage.text),
            shown_marks(passage.text, passage.marks),
        ],
    }


def _hit(hit: ShownHit, texts: Texts) -> list[Any]:
    return [
        hit.rank,
        shown(hit.chunk_id),
        score_text(hit.score),
        texts.place(hit.text),
        shown_marks(hit.text, hit.marks),
        [shown(item) for item in hit.earns],
    ]


def status_text(finding: Finding) -> str:
    """Say who stands behind the kind of a finding."""
    if finding.stale:
        return f"{finding.status}; {finding.by} looked at another trace"
    if finding.status == "proposed":
        return "proposed" if finding.kind is not None else ""
    was = f", proposed was {finding.proposed or 'none'}" if finding.status == "changed" else ""
    return f"{finding.status} by {finding.by}{was}"


def remedy_text(remedy: Remedy | None) -> str | None:
    """Say what brought a miss back: None when nothing was tried, empty when nothing that was tried did."""
    if remedy is None:
        return None
    return shown(f"brought back by {remedy.fix}: {change_text(remedy.change)}") if remedy.fix else ""


def values_text(values: Mapping[str, float | None]) -> str:
    """Write the scores of one query on one line."""
    return " · ".join(f"{name} {number(value)}" for name, value in values.items())


def score_text(score: float | None) -> str:
    """Write the score of a hit, in four figures."""
    return "" if score is None else f"{score:.4g}"


def explain_command(query_id: str, run: str) -> str:
    """Return the command that lays one query open."""
    return shlex.join(["assay", "explain", query_id, run])
