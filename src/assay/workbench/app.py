"""The application: which path is which page."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assay.model.errors import AssayError, StoreError
from assay.workbench.access import Access
from assay.workbench.asked import takes
from assay.workbench.assets import asset
from assay.workbench.bench import Workbench
from assay.workbench.guard import Guard
from assay.workbench.pages import compare, drafts, entrance, judges, label, misses, overview, query, work
from assay.workbench.rates import Rates
from assay.workbench.rendering import render

if TYPE_CHECKING:
    from starlette.requests import Request

ROUTES = [
    Route("/", overview.page),
    Route("/label", label.page),
    Route("/label/state", label.state),
    Route("/label/add", takes(label.add), methods=["POST"]),
    Route("/label/judge", takes(label.judge), methods=["POST"]),
    Route("/label/undo", takes(label.undo), methods=["POST"]),
    Route("/label/settle", takes(label.settle), methods=["POST"]),
    Route("/label/answerless", takes(label.answerless), methods=["POST"]),
    Route("/label/anchor/check", takes(label.check_anchor), methods=["POST"]),
    Route("/label/anchor", takes(label.make_anchor), methods=["POST"]),
    Route("/label/anchor/undo", takes(label.undo_anchor), methods=["POST"]),
    Route("/drafts", drafts.page),
    Route("/drafts/decide", takes(drafts.decide), methods=["POST"]),
    Route("/drafts/undo", takes(drafts.undo), methods=["POST"]),
    Route("/drafts/check", takes(drafts.check), methods=["POST"]),
    Route("/misses", misses.page),
    Route("/misses/decide", takes(misses.decide), methods=["POST"]),
    Route("/misses/undo", takes(misses.undo), methods=["POST"]),
    Route("/compare", compare.page),
    Route("/query", query.page),
    Route("/judges", judges.page),
    Route("/work/{job}", work.page),
    Route("/work/{job}/events", work.events),
    Route("/work", takes(work.start), methods=["POST"]),
    Route("/session", entrance.session),
    Route("/name", entrance.name_page),
    Route("/name", takes(entrance.keep_name), methods=["POST"]),
    Route("/enter", entrance.page),
    Route("/enter", takes(entrance.enter), methods=["POST"]),
    Route("/static/{name}", asset),
]


def make_app(
    bench: Workbench,
    access: Access | None = None,
    *,
    rates: Rates | None = None,
    entries: Rates | None = None,
) -> Starlette:
    """Return the application of one workbench.

    Args:
        bench: what the pages work on.
        access: what a request must bring; nothing but the right host by default.
        rates: how many requests an address may send.
        entries: how many tokens an address may try.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        del app
        yield
        bench.close()

    access = access or Access()
    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Guard, access=access, rates=rates, entries=entries)],
        exception_handlers={AssayError: _mistake, HTTPException: _no_page},
        lifespan=lifespan,
    )
    app.state.bench = bench
    app.state.access = access
    return app


def _mistake(request: Request, error: Exception) -> Response:
    """Say what is wrong; as JSON to scripts, as a page to people."""
    status = 503 if isinstance(error, StoreError) else 400
    return _told(request, str(error), status)


def _no_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = "There is nothing here." if error.status_code == 404 else error.detail
    return _told(request, told, error.status_code)


def _told(request: Request, text: str, status: int) -> Response:
    if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": text, "code": "mistake"}, status)
    return render(request, "mistake.html", status=status, text=text)
