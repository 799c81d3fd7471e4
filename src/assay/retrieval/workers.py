"""Work on several processes: one kind of work, many tasks, results as they come.

A *session* is what a process keeps while it works: ``start(shared)`` makes one, and a task is a call of it.
Tasks that are alike (``affinity``: first the chunker, then the first stage) go to the process that has what
they need already; a process without work takes from the group that has most of it left. Who does what never
changes what comes out: a task's result depends on the task and on what is shared, on nothing else.

Processes are fresh interpreters (``python -m assay.retrieval.workers``) fed through pipes: nothing of the
calling program is imported there, so scripts and notebooks need no guard; and when the program that feeds
them is killed, they meet the end of their pipe and go.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Generic, Protocol, TypeVar, cast

from assay.model.errors import AssayError

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Generic[T]):
    """One piece of work."""

    work: T
    """What the session is called with; small, for all tasks are listed before the first runs."""
    affinity: tuple[str, ...] = ()
    """What it needs to be prepared, the dearest first: tasks that begin alike share what is prepared."""


class WorkerError(AssayError):
    """A task failed, or the process that had it was ended (by the system, for memory, say)."""


class Workers(Protocol):
    """Whatever runs tasks: this process, several processes, a cluster."""

    def run(
        self,
        start: Callable[[S], Callable[[Any], R]],
        shared: S,
        tasks: Sequence[Task[T]],
        *,
        load: Callable[[T], object] | None = None,
    ) -> Iterator[tuple[int, R]]:
        """Yield (position of the task, its result), in whatever order they are done.

        Args:
            start: a function of a module, called once a process with what is shared; what it returns is
                called with the work of each task.
            shared: sent to each process once.
            tasks: the work.
            load: makes of a task's work what the session is called with, here, when the task is sent: for
                work whose data should not all be in memory at once.

        Raises:
            WorkerError: a task failed; those that were done before have been yielded.
        """
        ...


class OneProcess:
    """Runs tasks here, one after the other, in an order that keeps alike tasks together."""

    def run(
        self,
        start: Callable[[S], Callable[[Any], R]],
        shared: S,
        tasks: Sequence[Task[T]],
        *,
        load: Callable[[T], object] | None = None,
    ) -> Iterator[tuple[int, R]]:
        """Yield each task's result; an exception of a task goes through as it is."""
        session = start(shared)
        desk = Desk([task.affinity for task in tasks])
        while (place := desk.next_for(0)) is not None:
            work = tasks[place].work
            yield place, session(work if load is None else load(work))


class Processes:
    """Runs tasks in processes of this machine.

    Args:
        count: how many; each gets an equal share of the processors for its own threads.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def run(
        self,
        start: Callable[[S], Callable[[Any], R]],
        shared: S,
        tasks: Sequence[Task[T]],
        *,
        load: Callable[[T], object] | None = None,
    ) -> Iterator[tuple[int, R]]:
        """Yield each task's result as it comes; processes start with the first and end with the last."""
        if not tasks:
            return
        desk = Desk([task.affinity for task in tasks])
        opening = pickle.dumps((sys.path, start, shared), protocol=pickle.HIGHEST_PROTOCOL)
        answers: queue.Queue[tuple[int, object]] = queue.Queue()
        count = min(self.count, len(tasks))
        hands = [_Hand(number, opening, answers, _environment(count)) for number in range(count)]
        given: dict[int, int] = {}

        def give(number: int) -> None:
            place = desk.next_for(number)
            if place is None:
                hands[number].dismiss()
                return
            work = tasks[place].work
            given[number] = place
            hands[number].send(work if load is None else load(work))

        try:
            for number in range(len(hands)):
                give(number)
            while given:
                number, answer = answers.get()
                if number not in given:
                    continue  # it said goodbye
                place = given.pop(number)
                if not isinstance(answer, tuple):
                    raise WorkerError(
                        f"worker {number} ended in the middle of its work (exit {hands[number].code()})",
                        fix="start again with fewer workers; what was done is kept",
                    )
                failed, value = cast("tuple[bool, Any]", answer)
                if failed:
                    raise WorkerError(str(value))
                give(number)
                yield place, value
        finally:
            for hand in hands:
                hand.end()


def local_workers(count: int) -> Workers:
    """Return workers of this machine: this process for one, else so many processes.

    Raises:
        ValueError: ``count`` is below 1.

    >>> list(local_workers(1).run(lambda factor: lambda work: work * factor, 3, [Task(work=2)]))
    [(0, 6)]
    """
    if count < 1:
        raise ValueError(f"work takes at least 1 worker, not {count}")
    return OneProcess() if count == 1 else Processes(count)


class Desk:
    """Hands out tasks: to each worker what is nearest to what it did last.

    >>> desk = Desk([("a", "x"), ("b", "x"), ("a", "y"), ("b", "x")])
    >>> [desk.next_for(0), desk.next_for(1), desk.next_for(0), desk.next_for(1), desk.next_for(0)]
    [0, 1, 2, 3, None]
    """

    def __init__(self, affinities: Sequence[tuple[str, ...]]) -> None:
        self._affinities = affinities
        self._left = list(range(len(affinities)))
        self._last: dict[int, tuple[str, ...]] = {}

    def next_for(self, worker: int) -> int | None:
        """Return the position of the next task for a worker; None when none is left."""
        if not self._left:
            return None
        place = self._alike(worker)
        place = self._untouched(worker) if place is None else place
        place = self._stolen() if place is None else place
        self._left.remove(place)
        self._last[worker] = self._affinities[place]
        return place

    def _alike(self, worker: int) -> int | None:
        """The first task of those that share most with what the worker did last."""
        last = self._last.get(worker, ())
        best, most = None, 0
        for place in self._left:
            shared = _shared(last, self._affinities[place])
            if shared > most:
                best, most = place, shared
        return best

    def _untouched(self, worker: int) -> int | None:
        """The first task of a group that nobody else works on."""
        taken = {last[:1] for other, last in self._last.items() if other != worker}
        return next((place for place in self._left if self._affinities[place][:1] not in taken), None)

    def _stolen(self) -> int:
        """The last task of the group that has most left."""
        groups = Counter(self._affinities[place][:1] for place in self._left)
        largest, _ = groups.most_common(1)[0]
        return next(place for place in reversed(self._left) if self._affinities[place][:1] == largest)


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


class _Hand:
    """A process, its pipes, and the thread that waits for its answers."""

    def __init__(
        self,
        number: int,
        opening: bytes,
        answers: queue.Queue[tuple[int, object]],
        environment: Mapping[str, str],
    ) -> None:
        self._number = number
        self._answers = answers
        self._process = subprocess.Popen(
            [sys.executable, "-m", "assay.retrieval.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self._opening: bytes | None = opening
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, work: object) -> None:
        if self._opening is not None:
            # not sooner: a pipe takes it only when the process has started, and all start at once
            self._write(self._opening)
            self._opening = None
        self._write(pickle.dumps(work, protocol=pickle.HIGHEST_PROTOCOL))

    def dismiss(self) -> None:
        """Close its pipe: it goes when it has read all."""
        with contextlib.suppress(OSError):
            self._stdin.close()

    def code(self) -> int | None:
        """Wait for its end and return its exit code."""
        return self._process.wait()

    def end(self) -> None:
        """End it, whatever it does: nobody waits for it any more."""
        self.dismiss()
        if self._process.poll() is None:
            try:
                self._process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                self._process.terminate()
                self._process.wait()

    @property
    def _stdin(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # it has ended; its missing answer says so
            self._stdin.write(data)
            self._stdin.flush()

    def _listen(self) -> None:
        stream = cast("IO[bytes]", self._process.stdout)
        with stream:
            while True:
                try:
                    answer: object = pickle.load(stream)  # noqa: S301 - our own process wrote it
                except (EOFError, pickle.UnpicklingError, OSError):
                    answer = None
                self._answers.put((self._number, answer))
                if answer is None:
                    return


def _environment(count: int) -> Mapping[str, str]:
    """Return this process's environment, with where modules are, and the threads that a worker may use."""
    share = str(max(1, (os.cpu_count() or 1) // count))
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, **dict.fromkeys(_THREADS, share), "PYTHONPATH": paths}


def serve(incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """Work until the tasks end: one session, one answer a task. The program of a worker process."""
    session: Callable[[object], object] | None = None
    try:
        sys.path[:], start, shared = pickle.load(incoming)  # noqa: S301 - our own parent wrote it
    except EOFError:
        return
    while True:
        try:
            work: object = pickle.load(incoming)  # noqa: S301 - our own parent wrote it
        except EOFError:
            return
        try:
            if session is None:
                session = cast("Callable[[object], object]", start(shared))
            answer = pickle.dumps((False, session(work)), protocol=pickle.HIGHEST_PROTOCOL)
        except AssayError as error:
            answer = pickle.dumps((True, str(error)))
        except Exception:  # noqa: BLE001 - whatever went wrong there is told here
            import traceback  # noqa: PLC0415

            answer = pickle.dumps((True, f"a task failed in its worker:\n{traceback.format_exc()}"))
        try:
            outgoing.write(answer)
            outgoing.flush()
        except OSError:
            return  # nobody listens any more


def main() -> None:
    """Serve on the standard pipes; whatever prints meanwhile goes to standard error."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as outgoing:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve(sys.stdin.buffer, outgoing)


if __name__ == "__main__":
    main()
