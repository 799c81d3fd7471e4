"""Where the shared cases and data sets are, for tests that hold Assay against them.

They stand beside the checkout in ``../shared`` (or where ``ASSAY_SHARED`` points). Tests that need them
are marked with ``needs_shared``: they skip, saying so, where the folder is absent.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

SHARED = Path(os.environ.get("ASSAY_SHARED") or Path(__file__).resolve().parents[2] / "shared")
DATASETS = SHARED / "datasets"

needs_shared = pytest.mark.skipif(
    not (SHARED / "cases" / "cases.jsonl").is_file(),
    reason=f"the shared cases and data sets are not at {SHARED.name}/ beside the checkout",
)


@cache
def load_cases() -> dict[str, dict[str, Any]]:
    """Return the shared cases by id: each has kind, input, expected and derivation."""
    path = SHARED / "cases" / "cases.jsonl"
    if not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row for row in rows}


def value_of(expected: Any) -> Any:
    """Read an expected figure: the decimal beside an exact fraction, or the plain value.

    >>> value_of({"exact": "1/2", "value": 0.5})
    0.5
    """
    if isinstance(expected, dict):
        fields = cast("dict[str, Any]", expected)
        return fields.get("value", fields)
    return expected
