"""The page of errors."""

from __future__ import annotations

from docsite.words import MARK


def pages() -> dict[str, str]:
    """Return the one page."""
    return {"reference/errors.md": MARK + "# Errors\n"}
