"""What building and keeping a golden set shows in the terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rich.console import Console

DriftRow = tuple[str, str, str, str, str]
"""Kind, query, anchor, quote, what became of it."""


def print_drift(rows: Sequence[DriftRow], summary: str, screen: Console) -> None:
    """Print each anchor that drifted, the worst first, and one sentence for all."""
    for kind, query_id, anchor_id, quote, text in rows:
        words = " ".join(quote.split())
        screen.print(f"{kind}: query {query_id!r}, anchor {anchor_id}: {words!r}", markup=False)
        screen.print(f"  {text}", markup=False)
    screen.print(summary, markup=False)


def drift_json(rows: Sequence[Mapping[str, object]], counts: Mapping[str, int]) -> str:
    """Return drift as one JSON object: ``counts`` and ``anchors``."""
    return json.dumps({"counts": dict(counts), "anchors": list(rows)}, ensure_ascii=False, indent=1) + "\n"
