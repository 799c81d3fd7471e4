"""The files that pages load, all from this package: names are looked up in a list, never in a folder."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

_OWN, _REPORT = "assay.workbench", "assay.report.html"
_CSS, _JS = "text/css; charset=utf-8", "text/javascript; charset=utf-8"


class Asset(NamedTuple):
    """One file."""

    package: str
    path: str
    kind: str


ASSETS = {
    "tokens.css": Asset(_REPORT, "tokens.css", _CSS),
    "report.css": Asset(_REPORT, "style.css", _CSS),
    "workbench.css": Asset(_OWN, "static/workbench.css", _CSS),
    "theme.js": Asset(_REPORT, "theme.js", _JS),
    "early.js": Asset(_OWN, "static/early.js", _JS),
    "shared.js": Asset(_OWN, "static/shared.js", _JS),
    "queue.js": Asset(_OWN, "static/queue.js", _JS),
    "passage.js": Asset(_OWN, "static/passage.js", _JS),
    "label.js": Asset(_OWN, "static/label.js", _JS),
    "drafts.js": Asset(_OWN, "static/drafts.js", _JS),
    "misses.js": Asset(_OWN, "static/misses.js", _JS),
    "compare.js": Asset(_OWN, "static/compare.js", _JS),
    "query.js": Asset(_OWN, "static/query.js", _JS),
    "work.js": Asset(_OWN, "static/work.js", _JS),
}
"""Name -> file."""


@cache
def _content(name: str) -> tuple[bytes, str]:
    found = ASSETS[name]
    content = (files(found.package) / found.path).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def asset(request: Request) -> Response:
    """Return one of the files of the list."""
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(404)
    content, mark = _content(name)
    headers = {"etag": mark, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=ASSETS[name].kind, headers=headers)
