"""What building and keeping a golden set shows in the terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rich.console import Console

from assay.model.notices import Notice

DriftRow = tuple[str, str, str, str, str]
"""Kind, query, anchor, quote, what became of it."""


def print_drift(rows: Sequence[DriftRow], summary: str, screen: Console) -> None:
    """Print each anchor that drifted, the worst first, and one sentence for all."""
    for kind, query_id, anchor_id, quote, text in rows:
        words = " ".join(quote.split())
        screen.print(
            f"{kind}: query {query_id!r}, anchor {anchor_id}: {words!r}", markup=False, soft_wrap=True
        )
        screen.print(f"  {text}", markup=False, soft_wrap=True)
    screen.print(summary, markup=False, soft_wrap=True)


def drift_json(rows: Sequence[Mapping[str, object]], counts: Mapping[str, int]) -> str:
    """Return drift as one JSON object: ``counts`` and ``anchors``."""
    return json.dumps({"counts": dict(counts), "anchors": list(rows)}, ensure_ascii=False, indent=1) + "\n"


def print_exchange(
    told: Mapping[str, Sequence[str]],
    summary: str,
    screen: Console,
    *,
    conflicts: Mapping[str, tuple[str | None, str | None]],
    notices: Sequence[Notice],
) -> None:
    """Print what changed in each query, what is in dispute, and one sentence for all."""
    for query_id, changes in told.items():
        if len(changes) == 1:
            screen.print(f"{query_id}: {changes[0]}", markup=False, soft_wrap=True)
            continue
        screen.print(f"{query_id}:", markup=False, soft_wrap=True)
        for change in changes:
            screen.print(f"  {change}", markup=False, soft_wrap=True)
    for query_id, (file, store) in conflicts.items():
        screen.print(f"conflict: query {query_id!r}", markup=False, soft_wrap=True)
        screen.print(f"  file:  {file or 'removed'}", markup=False, soft_wrap=True)
        screen.print(f"  store: {store or 'removed'}", markup=False, soft_wrap=True)
    for notice in notices:
        screen.print(f"note: {notice.text}", markup=False, soft_wrap=True)
    screen.print(summary, markup=False, soft_wrap=True)


def exchange_json(
    told: Mapping[str, Sequence[str]],
    *,
    conflicts: Mapping[str, tuple[str | None, str | None]],
    notices: Sequence[Notice],
    more: Mapping[str, object],
) -> str:
    """Return an exchange as one JSON object."""
    value = {
        **more,
        "changed": {query_id: list(changes) for query_id, changes in told.items()},
        "conflicts": {
            query_id: {"file": _row(file), "store": _row(store)}
            for query_id, (file, store) in conflicts.items()
        },
        "notices": [
            {"code": notice.code, "text": notice.text, "ids": list(notice.ids)} for notice in notices
        ],
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _row(line: str | None) -> object:
    return None if line is None else json.loads(line)
