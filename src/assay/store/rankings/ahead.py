"""Work done on other threads while this one goes on; what comes out does not depend on how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

Item = TypeVar("Item")
Made = TypeVar("Made")

THREADS = 2
"""More hold more of a long run in memory, and wait for each other."""


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items in their order, making the next one on another thread while this one is used."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only large files come here

    end = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield cast("Item", item)


def made_ahead(work: Callable[[Item], Made], items: Iterable[Item], threads: int = THREADS) -> Iterator[Made]:
    """Yield what is made of each item, in their order, making the next ones on other threads meanwhile."""
    from collections import deque  # noqa: PLC0415 - only large files come here
    from concurrent.futures import Future, ThreadPoolExecutor  # noqa: PLC0415

    with ThreadPoolExecutor(threads) as pool:
        coming: deque[Future[Made]] = deque()
        for item in items:
            coming.append(pool.submit(work, item))
            if len(coming) > threads:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def meanwhile(work: Callable[[], Made]) -> Callable[[], Made]:
    """Begin the work on another thread; return a function that waits for its result, and gives it."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only large files come here

    pool = ThreadPoolExecutor(1)
    coming = pool.submit(work)
    pool.shutdown(wait=False)
    return coming.result


def begun(items: Iterator[Item]) -> Iterator[Item]:
    """Return the same items; the first is made on another thread from now on."""
    end = object()
    first = meanwhile(lambda: next(items, end))

    def all_items() -> Iterator[Item]:
        item = first()
        if item is not end:
            yield cast("Item", item)
            yield from items

    return all_items()
