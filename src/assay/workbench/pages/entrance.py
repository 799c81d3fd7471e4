"""Coming in: the token of an address that others can reach, and the name that stands beside labels."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from assay.workbench.access import Access
from assay.workbench.asked import NAME, Sent, clean_name, name_cookie, text_of, visit_of, who
from assay.workbench.guard import PASS
from assay.workbench.rendering import render

_YEAR_S = 365 * 24 * 3600


def session(request: Request) -> Response:
    """Return the form token of a session, for pages that were open while the server started again."""
    return JSONResponse({"token": visit_of(request).form_token, "who": who(request)})


def page(request: Request) -> Response:
    """Ask for the token; a link that carries it is exchanged for a cookie at once."""
    offered = request.query_params.get("token")
    if offered is None:
        return render(request, "enter.html", wrong=False)
    return _exchange(request, offered)


def enter(request: Request, sent: Sent) -> Response:
    """Take the token of the form."""
    return _exchange(request, text_of(sent, "offered", most=200, default="").strip())


def name_page(request: Request) -> Response:
    """Ask how labels are to be signed."""
    return render(request, "name.html", back=_inside(request.query_params.get("back", "/")))


def keep_name(request: Request, sent: Sent) -> Response:
    """Keep the name in a cookie."""
    del request
    name = clean_name(text_of(sent, "name", most=400, default=""))
    back = _inside(text_of(sent, "back", default="/"))
    if not name:
        return RedirectResponse("/name", 303)
    answer = RedirectResponse(back, 303)
    answer.set_cookie(NAME, name_cookie(name), max_age=_YEAR_S, httponly=True, samesite="lax")
    return answer


def _exchange(request: Request, offered: str) -> Response:
    access = request.app.state.access
    assert isinstance(access, Access)
    if access.token is not None and not access.is_token(offered):
        return render(request, "enter.html", status=401, wrong=True)
    answer = RedirectResponse("/", 303)
    session = visit_of(request).session
    answer.set_cookie(PASS, access.pass_of(session), httponly=True, samesite="lax")
    return answer


def _inside(path: str) -> str:
    """Return a path of this server; anything else leads to the first page.

    >>> _inside("/label?q=1"), _inside("//elsewhere.example"), _inside("https://elsewhere.example")
    ('/label?q=1', '/', '/')
    """
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain else "/"
