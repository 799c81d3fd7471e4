"""Calling a retriever for many queries: failures and time-outs are data, the order is the queries' own."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar, cast

from assay.connectors.protocol import Search, SearchBatch

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one call gave."""

    reply: object = None
    error: str | None = None
    elapsed_ms: float


Done = Callable[[int], None]
"""Told how many queries are done, for a progress bar."""


def call_all(
    search: Search,
    texts: Sequence[str],
    k: int,
    *,
    concurrency: int = 1,
    timeout_s: float | None = None,
    on_done: Done | None = None,
) -> list[Outcome]:
    """Call a retriever for every query and return the outcomes in the queries' order.

    With one call at a time and no time limit a plain function is called in the caller's own thread, so that
    what belongs to that thread (a SQLite connection) works. Otherwise each call of a plain function has a
    thread of its own, at most ``concurrency`` at a time; a call that runs out of time is left behind.
    A coroutine function runs in one event loop.

    Args:
        search: the retriever.
        texts: the queries.
        k: how many hits are asked for.
        concurrency: how many calls may run at a time.
        timeout_s: seconds after which a call has failed; None: it may take as long as it takes.
        on_done: told how many queries are done.
    """
    if concurrency == 1 and timeout_s is None and not _is_async(search):
        done = [_called(search, text, k, place, on_done) for place, text in enumerate(texts)]
        waiting = [place for place, outcome in enumerate(done) if inspect.isawaitable(outcome.reply)]
        if not waiting:
            return done
        replies = {place: cast("Awaitable[object]", done[place].reply) for place in waiting}
        awaited = _in_a_loop(lambda: _gather_replies(replies))
        return [awaited.get(place, outcome) for place, outcome in enumerate(done)]
    caller = _Caller(search, k, timeout_s, on_done)
    return _in_a_loop(lambda: caller.gather(texts, concurrency))


def call_batches(
    search_batch: SearchBatch,
    texts: Sequence[str],
    k: int,
    *,
    size: int,
    concurrency: int = 1,
    timeout_s: float | None = None,
    on_done: Done | None = None,
) -> list[Outcome]:
    """Call a retriever that takes several queries at once; the outcomes are one a query, in their order.

    A batch that fails is a failure of each of its queries. The time of a batch is shared out evenly.

    Args:
        search_batch: the retriever.
        texts: the queries.
        k: how many hits are asked for.
        size: queries a batch.
        concurrency: how many batches may be asked for at a time.
        timeout_s: seconds after which a batch has failed.
        on_done: told how many queries are done.
    """
    batches = [list(texts[start : start + size]) for start in range(0, len(texts), size)]
    outcomes = call_all(
        cast("Search", search_batch),
        cast("Sequence[str]", batches),
        k,
        concurrency=concurrency,
        timeout_s=timeout_s,
        on_done=None if on_done is None else lambda done: on_done(min(done * size, len(texts))),
    )
    return [
        single
        for batch, outcome in zip(batches, outcomes, strict=True)
        for single in _shared_out(outcome, len(batch))
    ]


def _shared_out(outcome: Outcome, n: int) -> list[Outcome]:
    elapsed_ms = outcome.elapsed_ms / n
    error = outcome.error
    replies: list[object] = [None] * n
    if error is None:
        try:
            replies = list(cast("Iterable[object]", outcome.reply))
        except TypeError:
            replies = []
        if len(replies) != n:
            error = f"a batch of {n} queries gave {len(replies)} replies"
            replies = [None] * n
    return [Outcome(reply=reply, error=error, elapsed_ms=elapsed_ms) for reply in replies]


def _called(search: Search, text: str, k: int, place: int, on_done: Done | None) -> Outcome:
    started = time.perf_counter()
    try:
        reply, error = search(text, k), None
    except Exception as failure:  # noqa: BLE001 - whatever a retriever raises is data of that query
        reply, error = None, _told(failure)
    if on_done is not None:
        on_done(place + 1)
    return Outcome(reply=reply, error=error, elapsed_ms=(time.perf_counter() - started) * 1e3)


async def _gather_replies(replies: dict[int, Awaitable[object]]) -> dict[int, Outcome]:
    """Await what plain functions returned, one after the other."""
    outcomes: dict[int, Outcome] = {}
    for place, reply in replies.items():
        started = time.perf_counter()
        try:
            value, error = await reply, None
        except Exception as failure:  # noqa: BLE001 - as above
            value, error = None, _told(failure)
        elapsed_ms = (time.perf_counter() - started) * 1e3
        outcomes[place] = Outcome(reply=value, error=error, elapsed_ms=elapsed_ms)
    return outcomes


class _Caller:
    def __init__(self, search: Search, k: int, timeout_s: float | None, on_done: Done | None) -> None:
        self.search, self.k, self.timeout_s, self.on_done = search, k, timeout_s, on_done
        self.done = 0

    async def gather(self, texts: Sequence[str], concurrency: int) -> list[Outcome]:
        turns = asyncio.Semaphore(concurrency)
        return list(await asyncio.gather(*(self._one(text, turns) for text in texts)))

    async def _one(self, text: str, turns: asyncio.Semaphore) -> Outcome:
        async with turns:
            started = time.perf_counter()
            try:
                reply, error = await asyncio.wait_for(self._reply(text), self.timeout_s), None
            except TimeoutError as failure:
                out_of_time = self.timeout_s is not None and time.perf_counter() - started >= self.timeout_s
                reply, error = None, f"no reply within {self.timeout_s} s" if out_of_time else _told(failure)
            except Exception as failure:  # noqa: BLE001 - whatever a retriever raises is data of that query
                reply, error = None, _told(failure)
            self.done += 1
            if self.on_done is not None:
                self.on_done(self.done)
            return Outcome(reply=reply, error=error, elapsed_ms=(time.perf_counter() - started) * 1e3)

    async def _reply(self, text: str) -> object:
        if _is_async(self.search):
            return await cast("Awaitable[object]", self.search(text, self.k))
        reply = await _in_a_thread(lambda: self.search(text, self.k))
        return await reply if inspect.isawaitable(reply) else reply


async def _in_a_thread(call: Callable[[], object]) -> object:
    """Run a call in a thread that cannot keep the process alive, whatever it is stuck in."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()

    def settle(reply: object, error: BaseException | None) -> None:
        if future.done():  # nobody waits any more
            return
        if error is None:
            future.set_result(reply)
        else:
            future.set_exception(error)

    def work() -> None:
        reply: object = None
        error: BaseException | None = None
        try:
            reply = call()
        except StopIteration as stop:  # a future cannot carry it
            error = RuntimeError(f"StopIteration: {stop}")
        except BaseException as failure:  # noqa: BLE001 - it is raised where the call is awaited
            error = failure
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(settle, reply, error)

    threading.Thread(target=work, daemon=True, name="assay-search").start()
    return await future


def _in_a_loop(make: Callable[[], Coroutine[None, None, T]]) -> T:
    """Run a coroutine to its end; in a thread of its own where this one has a loop (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(make())).result()


def _is_async(search: Search) -> bool:
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(
        getattr(search, "__call__", None)  # noqa: B004 - a callable object with an async __call__
    )


def _told(failure: Exception) -> str:
    return f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
