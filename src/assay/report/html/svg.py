"""SVG elements as escaped markup. Colours come from the style sheet by class, so that both themes work."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from assay.report.html.visible import shown


def element(name: str, /, *content: Markup | str, **attributes: str | float | None) -> Markup:
    """Return one element; ``class_`` is written ``class``, ``stroke_width`` is written ``stroke-width``.

    >>> element("text", "a < b", x=1.50, class_="label")
    Markup('<text x="1.5" class="label">a &lt; b</text>')
    """
    inner = Markup().join(one if isinstance(one, Markup) else escape(shown(one)) for one in content)
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{named}>{inner}</{name}>")  # noqa: S704 - each part is escaped above


def drawing(
    parts: Iterable[Markup], *, width: float, height: float, label: str | None, class_: str = ""
) -> Markup:
    """Return a whole drawing; without a label it is decoration, and screen readers pass it by."""
    spoken: dict[str, str] = (
        {"aria-hidden": "true"} if label is None else {"role": "img", "aria-label": label}
    )
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        class_=f"plot {class_}".strip(),
        focusable="false",
        **spoken,
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rect(x: float, y: float, width: float, height: float, class_: str, *, title: str | None = None) -> Markup:
    """Return a rectangle, with what a pointer shows over it."""
    told = () if title is None else (element("title", title),)
    return element("rect", *told, x=x, y=y, width=max(0.0, width), height=height, class_=class_)


def text(x: float, y: float, content: str, class_: str = "", *, anchor: str | None = None) -> Markup:
    """Return a line of text; ``anchor`` is start, middle or end."""
    return element("text", content, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return str(escape(shown(value)))
    return f"{value:.2f}".rstrip("0").rstrip(".")
