from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from assay.connectors.conformance import CHECKS, Conformance, Subject, check_retriever
from assay.model.words import content_words
from conformance.small_corpus import NOTHING, QUERIES, TEXTS


def good(query: str, k: int) -> list[dict[str, Any]]:
    """Rank whole documents by how many words they share with the query."""
    asked = set(content_words(query))
    scores = {name: len(asked & set(content_words(text))) for name, text in TEXTS.items()}
    best = sorted((name for name in scores if scores[name]), key=lambda name: (-scores[name], name))
    return [{"doc_id": name, "text": TEXTS[name], "score": scores[name]} for name in best][:k]


class TestAPlainFunction(Conformance):
    queries = QUERIES
    documents = TEXTS
    nothing = NOTHING

    def make(self) -> object:
        return good


class TestACoroutineFunction(Conformance):
    queries = QUERIES
    documents = TEXTS
    nothing = NOTHING

    def make(self) -> object:
        async def search(query: str, k: int) -> list[dict[str, Any]]:
            return good(query, k)

        return search


class TestAnObjectWithStages(Conformance):
    queries = QUERIES
    nothing = NOTHING
    documents = TEXTS

    def make(self) -> object:
        class Search:
            def search(self, query: str, k: int) -> object:
                return {"fulltext": good(query, 50), "final": good(query, k)}

        return Search()


def crowded(query: str, k: int, *, flying: list[int] = []) -> Any:  # noqa: B006 - it remembers who is inside
    flying.append(1)
    time.sleep(0.01)
    alone = len(flying) == 1
    flying.pop()
    return good(query, k) if alone else []


def picky(query: str, k: int) -> Any:
    if "AND" in query:
        raise ValueError("syntax error near AND")
    return good(query, k)


TICKS = itertools.count()
FAULTY: dict[str, Callable[[str, int], Any]] = {
    "finds": lambda query, k: good(query, k)[:0],
    "keeps_to_k": lambda query, k: good(query, k + 50),
    "keeps_order": lambda query, k: [{**hit, "score": n} for n, hit in enumerate(good(query, k))],
    "repeats_nothing": lambda query, k: (good(query, 1) * 2 + good(query, k)[1:])[:k],
    "cuts_one_list": lambda query, k: good(query, 4)[-1:] if k == 1 else good(query, k),
    "answers_with_nothing": lambda query, k: good(query, k) or None,
    "says_where": lambda query, k: [{**hit, "text": f"{hit['text'][:9]} so on"} for hit in good(query, k)],
    "survives_anything": picky,
    "repeats_itself": lambda query, k: [{**hit, "score": -next(TICKS)} for hit in good(query, k)],
    "stands_crowds": crowded,
}
"""Check -> a retriever with the fault that it looks for."""


@pytest.mark.parametrize("name", FAULTY)
def test_each_fault_is_found_by_its_check(name: str):
    # "card" is in two documents, so that a cut of 1 can be too long.
    queries = ("refunds card", "E1207 card", "delivery day")
    subject = Subject(retriever=FAULTY[name], queries=queries, documents=TEXTS, nothing=NOTHING)
    others = [check.__name__ for check in CHECKS if check.__name__ != name]
    assert [violation.check for violation in check_retriever(subject, leave_out=others)] == [name]
    sound = Subject(retriever=good, queries=queries, documents=TEXTS, nothing=NOTHING)
    assert check_retriever(sound, leave_out=others) == []


def test_a_retriever_that_fails_beside_a_failure_is_found():
    class Poisoned:
        broken = False

        def search(self, query: str, k: int) -> object:
            time.sleep(3)
            return good(query, k)

    subject = Subject(retriever=Poisoned(), queries=QUERIES[:2], patience_s=0.5)
    others = [check.__name__ for check in CHECKS if check.__name__ != "fails_as_data"]
    (violation,) = check_retriever(subject, leave_out=others)
    assert "no reply within" in violation.what


def test_a_class_without_a_retriever_says_what_to_write():
    with pytest.raises(NotImplementedError, match="make"):
        Conformance().make()


def with_hits(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[str, int], Any]:
    """Return the good retriever, whose every hit is changed."""
    return lambda query, k: [change(hit) for hit in good(query, k)]


def bare_first(query: str, k: int) -> list[dict[str, Any]]:
    first, *others = good(query, k)
    return [{**first, "score": None}, *others]


class Remembers:
    """A retriever whose answer to the last query changes at a call: state that leaks from one to the next."""

    def __init__(self, at: int) -> None:
        self.calls = itertools.count(1)
        self.at = at

    def search(self, query: str, k: int) -> object:
        return [] if next(self.calls) >= self.at else good(query, k)


class FailsInCrowds:
    """A retriever that takes one call at a time only."""

    def __init__(self) -> None:
        self.inside = 0

    def search(self, query: str, k: int) -> object:
        self.inside += 1
        try:
            time.sleep(0.01)
            if self.inside > 1:
                raise RuntimeError("busy")
            return good(query, k)
        finally:
            self.inside -= 1


@pytest.mark.parametrize(
    ("check", "retriever", "told"),
    [
        (
            "keeps_order",
            bare_first,
            "'refunds card', final: only 1 of 2 hits have a score",
        ),
        (
            "keeps_order",
            with_hits(lambda hit: {**hit, "score": float("nan")}),
            "'refunds card', final: a score is NaN",
        ),
        (
            "says_where",
            with_hits(lambda hit: {**hit, "doc_id": "gone.md", "start": 0, "end": 3}),
            "'refunds card', hit 'gone.md': there is no document 'gone.md'",
        ),
        (
            "says_where",
            with_hits(lambda hit: {"doc_id": hit["doc_id"], "start": 0, "end": 99_999}),
            f"'refunds card', hit 'returns.md': it ends at 99999, its document at {len(TEXTS['returns.md'])}",
        ),
        (
            "says_where",
            with_hits(lambda hit: {"doc_id": hit["doc_id"], "start": 0, "end": 3, "text": "abc"}),
            "'refunds card', hit 'returns.md': its text is not what stands at its place",
        ),
        (
            "stands_crowds",
            FailsInCrowds(),
            " card' fails: RuntimeError: busy",  # of the query that came second into the crowd
        ),
        ("fails_as_data", Remembers(3), "'refunds card' differs beside a failure"),
    ],
)
def test_what_is_wrong_is_said_of_the_query_and_the_hit(check: str, retriever: Any, told: str):
    subject = Subject(retriever=retriever, queries=("refunds card", "E1207 card"), documents=TEXTS)
    others = [one.__name__ for one in CHECKS if one.__name__ != check]
    (violation,) = check_retriever(subject, leave_out=others)
    assert violation.what.endswith(told)
