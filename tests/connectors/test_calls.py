from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.connectors.calls import call_all

TEXTS = [f"query {place}" for place in range(12)]


def echo(query: str, k: int) -> list[str]:
    return [query] * k


def test_replies_come_in_the_order_of_the_queries_whatever_finishes_first():
    def slow_first(query: str, k: int) -> list[str]:
        time.sleep(0.03 if query == "query 0" else 0.0)
        return [query] * k

    expected = [outcome.reply for outcome in call_all(echo, TEXTS, 2)]
    for concurrency in (1, 2, 8):
        outcomes = call_all(slow_first, TEXTS, 2, concurrency=concurrency)
        assert [outcome.reply for outcome in outcomes] == expected


def test_no_more_calls_run_at_a_time_than_were_allowed():
    running: list[int] = []
    most: list[int] = []
    lock = threading.Lock()

    def count(query: str, k: int) -> list[str]:
        with lock:
            running.append(1)
            most.append(len(running))
        time.sleep(0.005)
        with lock:
            running.pop()
        return []

    call_all(count, TEXTS, 1, concurrency=3)
    assert 1 < max(most) <= 3


def test_what_a_retriever_raises_is_data_of_that_query():
    def fail(query: str, k: int) -> list[str]:
        if query == "query 3":
            raise ConnectionError("refused")
        if query == "query 4":
            raise StopIteration
        return echo(query, k)

    for concurrency in (1, 4):
        outcomes = call_all(fail, TEXTS, 1, concurrency=concurrency)
        assert outcomes[3].error == "ConnectionError: refused"
        assert outcomes[3].reply is None
        assert outcomes[4].error is not None
        assert "StopIteration" in outcomes[4].error
        assert [outcome.error for outcome in outcomes if outcome.reply is not None] == [None] * 10


def test_a_call_that_takes_too_long_has_failed_and_the_others_go_on():
    free = threading.Event()

    def hang(query: str, k: int) -> list[str]:
        if query == "query 2":
            free.wait(60)
        return echo(query, k)

    outcomes = call_all(hang, TEXTS[:4], 1, timeout_s=1.0)
    free.set()
    assert outcomes[2].error == "no reply within 1.0 s"
    assert [outcome.reply for outcome in outcomes] == [["query 0"], ["query 1"], None, ["query 3"]]


def test_a_timeout_of_the_retrievers_own_is_told_as_it_is():
    def fail(query: str, k: int) -> list[str]:
        raise TimeoutError("socket")

    assert call_all(fail, ["q"], 1, timeout_s=5.0)[0].error == "TimeoutError: socket"


def test_coroutine_functions_run_side_by_side_and_time_out():
    begun: set[str] = set()
    all_begun = asyncio.Event()

    async def search(query: str, k: int) -> list[str]:
        begun.add(query)
        if len(begun) == len(TEXTS):
            all_begun.set()
        await all_begun.wait()  # which only comes to pass when all are under way at once
        await asyncio.sleep(60.0 if query == "query 1" else 0.0)
        return echo(query, k)

    outcomes = call_all(search, TEXTS, 1, concurrency=12, timeout_s=2.0)
    assert outcomes[1].error == "no reply within 2.0 s"
    assert outcomes[0].reply == ["query 0"]


def test_an_object_with_an_async_call_and_a_function_that_returns_an_awaitable_are_awaited():
    class Later:
        async def __call__(self, query: str, k: int) -> list[str]:
            return echo(query, k)

    def plain(query: str, k: int) -> Awaitable[list[str]]:
        return Later()(query, k)

    for search in (Later(), plain):
        for concurrency in (1, 3):
            outcomes = call_all(search, TEXTS[:3], 1, concurrency=concurrency)
            assert [outcome.reply for outcome in outcomes] == [["query 0"], ["query 1"], ["query 2"]]


def test_an_awaitable_that_fails_is_data_too():
    async def fail(query: str) -> list[str]:
        if query == "query 1":
            raise ValueError("bad")
        return [query]

    outcomes = call_all(lambda query, k: fail(query), TEXTS[:2], 1)  # noqa: ARG005
    assert [outcome.error for outcome in outcomes] == [None, "ValueError: bad"]


def test_one_call_at_a_time_stays_in_the_callers_thread():
    # A SQLite connection refuses every thread but its own.
    connection = sqlite3.connect(":memory:")
    outcomes = call_all(lambda query, k: [str(connection.execute("select 1").fetchone()[0])], TEXTS, 1)  # noqa: ARG005
    connection.close()
    assert {outcome.error for outcome in outcomes} == {None}


def test_inside_a_running_loop_it_works_as_well():
    async def search(query: str, k: int) -> list[str]:
        return echo(query, k)

    async def notebook() -> list[object]:
        return [outcome.reply for outcome in call_all(search, TEXTS[:2], 1)]

    # In a thread of its own: a browser of another test may keep a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, notebook()).result() == [["query 0"], ["query 1"]]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_progress_is_told_after_every_query(concurrency: int):
    told: list[int] = []
    call_all(echo, TEXTS, 1, concurrency=concurrency, on_done=told.append)
    assert told == list(range(1, 13))
