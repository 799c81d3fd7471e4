"""Pages from templates: all that they print is escaped, and signs that hide are spelled out."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from assay._version import __version__
from assay.report.diagnosis import agreement_sentence
from assay.report.html import plots
from assay.report.html.shell import environment
from assay.workbench.asked import bench_of, visit_of, who

if TYPE_CHECKING:
    from jinja2 import Environment


class Tab(NamedTuple):
    """One entry of the bar on top."""

    path: str
    name: str


TABS = (
    Tab("/", "Overview"),
    Tab("/label", "Label"),
    Tab("/drafts", "Drafts"),
    Tab("/misses", "Misses"),
    Tab("/compare", "Compare"),
    Tab("/judges", "Judges"),
)
Keys = tuple[tuple[str, str], ...]
COMMON_KEYS: Keys = (
    ("g then o, l, d, m, c, j", "go to a page"),
    ("?", "this list"),
    ("Esc", "close, leave a mode"),
)


@cache
def _environment() -> Environment:
    from jinja2 import ChoiceLoader, PackageLoader  # noqa: PLC0415 - only where a page is made

    made = environment({"agreement": agreement_sentence, "grade": grade_text}, {"plots": plots, "link": link})
    folders = [PackageLoader("assay.workbench", "templates")]
    if made.loader is not None:
        folders.append(made.loader)  # pyright: ignore[reportArgumentType] - the report's macros serve here too
    made.loader = ChoiceLoader(folders)
    return made


def render(
    request: Request, template: str, *, status: int = 200, keys: Keys = (), **values: object
) -> HTMLResponse:
    """Return a page.

    Args:
        request: the request that it answers.
        template: its file in ``templates/``.
        status: of the answer.
        keys: what its keys do, for the list that ``?`` opens.
        values: what the template shows.
    """
    text = (
        _environment()
        .get_template(template)
        .render(
            tabs=TABS,
            path=request.url.path,
            who=who(request),
            form_token=visit_of(request).form_token,
            project_name=bench_of(request).project.name,
            keys=(*keys, *COMMON_KEYS),
            version=__version__,
            **values,
        )
    )
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def link(path: str, **query: object) -> str:
    """Write a link; whatever stands in an id cannot leave its place.

    >>> link("/query", run="abc", id="q/1 & 2")
    '/query?run=abc&id=q%2F1+%26+2'
    """
    told = {key: str(value) for key, value in query.items() if value is not None}
    return f"{path}?{urlencode(told)}" if told else path


def grade_text(grade: float | None) -> str:
    """Write a grade.

    >>> grade_text(2.0), grade_text(0.5), grade_text(None)
    ('2', '0.5', 'open')
    """
    return "open" if grade is None else f"{grade:g}"
