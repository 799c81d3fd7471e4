"""Work on a Dask cluster: the same tasks, on machines that need not share a disk.

Dask, because what is handed out here is Python functions with state (a chunked corpus, an index), not rows.
Its futures take them as they are; it is pure Python, installs in seconds beside numpy, needs no Java,
and runs wherever people have machines (SLURM, Kubernetes, SSH, a laptop). Ray would do as well, at ten times
the installed size; Spark wants rows and one function a partition.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from assay.model.errors import Fault, InputError, MissingExtraError
from assay.retrieval.workers import Task, WorkerError

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")
_SESSIONS: dict[str, Callable[[Any], Any]] = {}
"""On a worker: the session of the sweep that it works for."""


class DaskWorkers:
    """Runs tasks on a Dask cluster; each group of alike tasks goes to one worker as a whole.

    Args:
        cluster: the address of a scheduler (``tcp://10.0.0.1:8786``), or a cluster object of Dask.

    Raises:
        InputError: nobody answers at the address.
        MissingExtraError: the package ``distributed`` is not installed.
    """

    def __init__(self, cluster: object) -> None:
        try:
            import distributed  # noqa: F401, PLC0415  # pyright: ignore[reportMissingImports, reportUnusedImport]
        except ImportError:
            raise MissingExtraError("a Dask cluster", package="distributed", extra="dask") from None
        self.cluster = cluster

    def run(
        self,
        start: Callable[[S], Callable[[Any], R]],
        shared: S,
        tasks: Sequence[Task[T]],
        *,
        load: Callable[[T], object] | None = None,
    ) -> Iterator[tuple[int, R]]:
        """Yield each task's result; a group's come together, when its last is done."""
        import distributed as untyped  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

        distributed = cast("Any", untyped)
        if not tasks:
            return
        groups: dict[str, list[int]] = {}
        for place, task in enumerate(tasks):
            groups.setdefault(task.affinity[0] if task.affinity else str(place), []).append(place)
        with self._client(distributed) as client:
            opening = client.scatter((uuid.uuid4().hex, start, shared), broadcast=True, hash=False)
            places: dict[Any, list[int]] = {}
            for group in sorted(groups.values(), key=len, reverse=True):
                works = [tasks[place].work for place in group]
                loaded = works if load is None else [load(work) for work in works]
                places[client.submit(work_through, opening, loaded, pure=False)] = group
            with client.as_current():
                done = distributed.as_completed(list(places))
            for future in done:
                if future.status == "error":
                    raise WorkerError(
                        f"a task failed on the cluster: {future.exception()!r}",
                        fix="see the worker's log; --workers 2 runs the same work here",
                    )
                yield from zip(places[future], cast("list[R]", future.result()), strict=True)

    def _client(self, distributed: Any) -> Any:  # noqa: ANN401 - objects of another package
        try:
            return distributed.Client(self.cluster, set_as_default=False)
        except (OSError, ValueError) as error:  # nobody answers there; no address
            raise InputError(
                Fault(
                    where=f"the Dask cluster at {self.cluster}",
                    what=f"it cannot be reached ({error})",
                    fix="give the address that its scheduler prints, such as tcp://10.0.0.1:8786",
                )
            ) from error


def work_through(
    opening: tuple[str, Callable[[Any], Callable[[Any], Any]], Any], works: list[Any]
) -> list[Any]:
    """Do the tasks of one group in one process, in the session that it keeps for them."""
    name, start, shared = opening
    if name not in _SESSIONS:
        _SESSIONS.clear()
        _SESSIONS[name] = start(shared)
    session = _SESSIONS[name]
    return [session(work) for work in works]
