"""What is said of a [diagnosis] table that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from assay.diagnosis.settings import read_diagnosis
from assay.model.errors import ConfigError

FIX = "query-rewrite"
KNOWN = "lost_at, query_kind, query_matches, document, shared_at_most, shared_at_least, "


def faults(values: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_diagnosis(values)
    return [str(fault).removeprefix("assay.toml ") for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"kinds": 3}, "[diagnosis] kinds: should be a table, not 3"),
        ({"fixes": {"mine": "fast"}}, "[diagnosis] fixes.mine: should be a table, not 'fast'"),
        (
            {"fixes": {"mine": {"set": {}}}},
            (
                "[diagnosis.fixes.mine] set: fix 'mine' changes nothing\n"
                '  fix: set = { "pipeline.pool" = 100 }'
            ),
        ),
        (
            {"kinds": {"odd": {"fix": FIX, "when": {}}}},
            (
                "[diagnosis.kinds.odd] when: no condition is given: the kind would fit every miss\n"
                f"  fix: known conditions are {KNOWN}best_rank_at_most, best_rank_at_least"
            ),
        ),
        (
            {"kinds": {"odd": {"fix": FIX, "when": {"query_matches": "(E"}}}},
            (
                "[diagnosis.kinds.odd] when query_matches: no regular expression: missing ), unterminated "
                "subpattern at position 0\n"
                r"  fix: write one that Python reads, in single quotes: 'error \d+'"
            ),
        ),
        (
            {"kinds": {"odd": {"fix": FIX, "when": "odd"}}},
            "[diagnosis.kinds.odd] when: 'odd' names no function\n  fix: when = \"module:function\"",
        ),
        (
            {"kinds": {"odd": {"fix": FIX, "when": "math:pi"}}},
            "[diagnosis.kinds.odd] when: 'math:pi' is no function\n  fix: def applies(case) -> bool",
        ),
        (
            {"kinds": {"odd": {"fix": FIX, "when": "math:tau_"}}},
            (
                "[diagnosis.kinds.odd] when: 'math:tau_' cannot be loaded: "
                "module 'math' has no attribute 'tau_'\n"
                "  fix: python -c 'import math' shows why; it stands beside assay.toml or is installed"
            ),
        ),
    ],
)
def test_a_wrong_table_is_told_with_its_place_and_its_fix(values: dict[str, Any], told: str):
    assert faults(values) == [told]
