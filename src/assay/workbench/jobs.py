"""Long work in the background: one thread a job, whose progress pages follow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal
from uuid import uuid4

from assay.model.errors import AssayError

State = Literal["running", "done", "failed"]
Progress = Callable[[str, int, int], None]
Work = Callable[[Progress], str]
"""Does the work and returns where its result is to be seen."""
_MOST_KEPT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work, as of one moment."""

    id: str
    name: str
    """What is being done, for people: ``assay run``."""
    state: State = "running"
    what: str = ""
    """The step."""
    done: int = 0
    total: int = 0
    error: str = ""
    link: str = ""
    """Where the result is to be seen."""


class Jobs:
    """The jobs of one server; of each name one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, Job] = {}

    def get(self, job_id: str) -> Job | None:
        """Return a job as it is now; None when there is none."""
        with self._lock:
            return self._held.get(job_id)

    def running(self) -> tuple[Job, ...]:
        with self._lock:
            return tuple(job for job in self._held.values() if job.state == "running")

    def failed(self) -> tuple[Job, ...]:
        """Return the jobs that failed and were not started again since."""
        with self._lock:
            last = {job.name: job for job in self._held.values()}
        return tuple(job for job in last.values() if job.state == "failed")

    def start(self, name: str, work: Work) -> Job:
        """Start a job, or return the one of that name that is at work already."""
        with self._lock:
            for job in self._held.values():
                if job.name == name and job.state == "running":
                    return job
            job = Job(id=uuid4().hex, name=name)
            self._held[job.id] = job
            for old in list(self._held)[:-_MOST_KEPT]:
                if self._held[old].state != "running":
                    del self._held[old]
        threading.Thread(target=self._run, args=(job.id, work), name=f"assay {name}", daemon=True).start()
        return job

    def _run(self, job_id: str, work: Work) -> None:
        def tell(what: str, done: int, total: int) -> None:
            self._change(job_id, what=what, done=done, total=total)

        try:
            link = work(tell)
        except AssayError as error:
            self._change(job_id, state="failed", error=str(error))
        except Exception as error:  # noqa: BLE001 - it is told to who waits, whatever it is
            self._change(job_id, state="failed", error=f"{type(error).__name__}: {error}")
        else:
            self._change(job_id, state="done", link=link)

    def _change(self, job_id: str, **changes: object) -> None:
        with self._lock:
            self._held[job_id] = replace(self._held[job_id], **changes)  # pyright: ignore[reportArgumentType]
