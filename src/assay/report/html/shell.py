"""What every page has in common: one style, one theme switch, a policy, and strings that stay text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from assay._version import __version__
from assay.report.html.visible import pieces, shown
from assay.report.words import ends, number, signed

if TYPE_CHECKING:
    from jinja2 import Environment


def shell() -> Mapping[str, Any]:
    """Return what a template needs around its content: style, theme, script, policy and version.

    The policy lets only this style and these scripts in, by their digests.
    """
    folder = files("assay.report.html")
    style = "\n".join((folder / name).read_text("utf-8") for name in ("tokens.css", "style.css"))
    theme, script = ((folder / name).read_text("utf-8") for name in ("theme.js", "script.js"))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src {_digest(style)}",
            f"script-src {_digest(theme)} {_digest(script)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return {
        "style": Markup(style),  # noqa: S704 - our own file
        "theme": Markup(theme),  # noqa: S704 - our own file
        "script": Markup(script),  # noqa: S704 - our own file
        "policy": policy,
        "version": __version__,
    }


def environment(filters: Mapping[str, Any], names: Mapping[str, Any]) -> Environment:
    """Return where templates are found and what they may call; all that they print is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - only where a page is made

    made = Environment(
        loader=PackageLoader("assay.report.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    every: dict[str, Any] = {
        "count": count_text,
        "ends": ends,
        "number": number,
        "pieces": pieces,
        "signed": signed,
    }
    made.filters.update(every)
    made.filters.update(filters)
    made.globals.update(names)
    return made


def count_text(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun.

    >>> count_text(1, "query", "queries"), count_text(1200, "query", "queries")
    ('1 query', '1,200 queries')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def _digest(text: str) -> str:
    """Return what a content policy calls an inline script or style by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _visible(value: object) -> object:
    """Every string that a template prints goes through here, before it is escaped."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
