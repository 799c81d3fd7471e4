"""Work on other threads: the same items in the same order, and errors where they belong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.store.rankings.ahead import ahead, begun, made_ahead, meanwhile


def counted(stop: int, fails_at: int | None = None) -> Iterator[int]:
    for number in range(stop):
        if number == fails_at:
            raise ValueError(number)
        yield number


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17])
def test_items_come_in_their_order(n: int) -> None:
    assert list(ahead(counted(n))) == list(range(n))
    assert list(begun(counted(n))) == list(range(n))
    assert list(made_ahead(lambda number: number * number, counted(n))) == [k * k for k in range(n)]


def test_an_error_comes_after_what_was_made_before_it() -> None:
    for items in (ahead(counted(9, 4)), begun(counted(9, 4))):
        assert [next(items) for _ in range(4)] == [0, 1, 2, 3]
        with pytest.raises(ValueError, match="4"):
            next(items)
    with pytest.raises(ZeroDivisionError):
        list(made_ahead(lambda number: 1 // (3 - number), counted(9)))


def test_what_runs_meanwhile_gives_its_result_or_its_error_when_asked() -> None:
    assert meanwhile(lambda: 7)() == 7
    with pytest.raises(ZeroDivisionError):
        meanwhile(lambda: 1 // 0)()
