"""Long work: it is started by a form, and its progress arrives as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import asdict

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from assay.model.errors import InputError
from assay.workbench.asked import Sent, bench_of, text_of
from assay.workbench.bench import Workbench
from assay.workbench.jobs import Job
from assay.workbench.rendering import link, render

_EVERY_S = 0.15
_BEATS = 60
"""Ticks without news after which a comment is sent, so that nothing between takes the line for dead."""


def start(request: Request, sent: Sent) -> Response:
    """Start ``assay run``, ``assay check`` or ``assay golden pool`` and lead to its page."""
    bench = bench_of(request)
    works = {"run": bench.run_now, "check": bench.check_now, "pool": bench.pool_now}
    what = text_of(sent, "what")
    if what not in works:
        raise InputError(f"{what!r} cannot be started here", fix="run, check or pool")
    job = bench.jobs.start("assay golden pool" if what == "pool" else f"assay {what}", works[what])
    return RedirectResponse(link(f"/work/{job.id}"), 303)


def page(request: Request) -> Response:
    """Show the progress of one piece of work."""
    return render(request, "work.html", job=_job(bench_of(request), request))


async def events(request: Request) -> Response:
    """Send the progress whenever it changes, until the work has ended."""
    bench = bench_of(request)
    job = _job(bench, request)
    return StreamingResponse(_events(bench, job), media_type="text/event-stream")


async def _events(bench: Workbench, job: Job) -> AsyncGenerator[str]:
    told: Job | None = None
    quiet = 0
    while True:
        now = bench.jobs.get(job.id) or job
        if now != told:
            told, quiet = now, 0
            yield f"data: {json.dumps(asdict(now))}\n\n"
        if now.state != "running":
            return
        quiet += 1
        if quiet % _BEATS == 0:
            yield ": still at work\n\n"
        await asyncio.sleep(_EVERY_S)


def _job(bench: Workbench, request: Request) -> Job:
    job = bench.jobs.get(request.path_params["job"])
    if job is None:
        raise HTTPException(404)
    return job
