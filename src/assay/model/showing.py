"""How nouns appear in a notebook, without knowing of screens: ``import assay`` says how they are shown."""

from __future__ import annotations

from collections.abc import Callable

Page = Callable[[object], str]

_pages: list[Page] = []


class Showable:
    """A noun that Jupyter and marimo show as a table, where ``import assay`` has said how."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _pages[-1](self) if _pages else None


def show_by(page: Page) -> None:
    """Say how nouns are shown from now on: a function from the noun to HTML."""
    _pages[:] = [page]
