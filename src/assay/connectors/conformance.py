"""The test kit that every connector passes, and that your own retriever can be put through.

With pytest, make a class of it::

    from assay.connectors.conformance import Conformance

    class TestMySearch(Conformance):
        queries = ("how do I reset the pump", "E1207")

        def make(self):
            return my_search                     # a function, an object, or an object of a framework

Without pytest, `check_retriever` returns what is wrong.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from assay.connectors.callable import CallableRetriever, as_search
from assay.connectors.calls import Outcome, call_all
from assay.connectors.collector import collect
from assay.connectors.hits import FINAL, USUAL, HitForm, RawHit, read_reply
from assay.connectors.protocol import Search
from assay.connectors.recording import Recording
from assay.model.golden import Query
from assay.model.runs import Retrieved
from assay.model.text import normalise

STRANGE = (
    "",
    "   ",
    "?",
    "'; DROP TABLE chunks; --",
    '"unbalanced AND (OR NOT * ^ ~ {} [ ] : / \\',
    "naïve café — “quotes” 日本語 🙂 \u200b",
    "a\nb\tc\x00d",
    "word " * 2000,
)
"""Queries that people really type, paste or attack with: none may be an error."""


class NonconformingError(AssertionError):
    """A retriever does not do what the protocol says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A retriever on trial, and what is known of it."""

    retriever: object
    """A connector, or anything that becomes one: a function, an object, an object of a framework."""
    queries: Sequence[str]
    """Queries that find something; at least two."""
    documents: Mapping[str, str] = field(default_factory=dict[str, str])
    """Document id -> text; with it, places and texts are held against their source."""
    nothing: str | None = None
    """A query that finds nothing; None when every query finds something (vector search)."""
    k: int = 5
    patience_s: float = 2.0
    """How long a call may take before it counts as hanging."""
    strange: Sequence[str] = STRANGE
    form: HitForm = USUAL

    @property
    def search(self) -> Search:
        """The retriever as ``search(query, k)``."""
        search = getattr(self.retriever, "search", None)
        if callable(getattr(self.retriever, "retrieve", None)) and callable(search):
            return as_search(search, "retriever")
        return as_search(self.retriever, "retriever")

    def outcomes(
        self, queries: Sequence[str], k: int | None = None, *, concurrency: int = 1
    ) -> list[Outcome]:
        """Return what the retriever gives for some queries."""
        return call_all(self.search, queries, self.k if k is None else k, concurrency=concurrency)

    def replies(self, queries: Sequence[str], k: int | None = None) -> list[dict[str, list[RawHit]]]:
        """Return its replies as they are read; a failure of the retriever is one of the trial."""
        outcomes = self.outcomes(queries, k)
        for query, outcome in zip(queries, outcomes, strict=True):
            _demand(outcome.error is None, f"{query[:60]!r} fails: {outcome.error}")
        return [read_reply(outcome.reply, self.form) for outcome in outcomes]


Check = Callable[[Subject], None]


def finds(subject: Subject) -> None:
    """Each query finds something, and every hit says which chunk it is: an id, a place or a text."""
    for query, reply in zip(subject.queries, subject.replies(subject.queries), strict=True):
        _demand(bool(reply[FINAL]), f"{query!r} finds nothing")


def keeps_to_k(subject: Subject) -> None:
    """No list that reaches the prompt is longer than k, for k = 1 and k = 5."""
    for k in (1, subject.k):
        for query, reply in zip(subject.queries, subject.replies(subject.queries, k), strict=True):
            n = len(reply[FINAL])
            _demand(n <= k, f"{query!r} with k = {k} gives {n} hits")


def keeps_order(subject: Subject) -> None:
    """Every list stands best first, and where it has scores they never rise."""
    for query, reply in zip(subject.queries, subject.replies(subject.queries), strict=True):
        for stage, hits in reply.items():
            scores = [hit.score for hit in hits if hit.score is not None]
            where = f"{query!r}, {stage}"
            _demand(
                len(scores) in (0, len(hits)), f"{where}: only {len(scores)} of {len(hits)} hits have a score"
            )
            _demand(all(score == score for score in scores), f"{where}: a score is NaN")  # noqa: PLR0124 - NaN
            falling = all(first >= second for first, second in pairwise(scores))
            _demand(falling, f"{where}: the scores rise: {scores}")


def repeats_nothing(subject: Subject) -> None:
    """No list holds the same chunk twice."""
    for query, reply in zip(subject.queries, subject.replies(subject.queries), strict=True):
        for stage, hits in reply.items():
            keys = [(hit.id, hit.doc_id, hit.start, hit.end, hit.id is None and hit.text) for hit in hits]
            _demand(len(set(keys)) == len(keys), f"{query!r}, {stage}: a hit stands twice")


def cuts_one_list(subject: Subject) -> None:
    """The best hit is the best hit, whatever k is."""
    one, several = subject.replies(subject.queries, 1), subject.replies(subject.queries)
    for query, short, long in zip(subject.queries, one, several, strict=True):
        first = [(hit.id, hit.doc_id, hit.start, hit.text) for hit in (short[FINAL][0], long[FINAL][0])]
        _demand(
            first[0] == first[1], f"{query!r}: the first hit with k = 1 is not the first with k = {subject.k}"
        )


def answers_with_nothing(subject: Subject) -> None:
    """A query that finds nothing gets an empty list: no error, and no None."""
    if subject.nothing is None:
        return
    (reply,) = subject.replies([subject.nothing])
    _demand(not reply[FINAL], f"{subject.nothing!r} finds {len(reply[FINAL])} hits")


def says_where(subject: Subject) -> None:
    """Every hit has a place or a text; where the documents are known, it stands in one of them."""
    for query, reply in zip(subject.queries, subject.replies(subject.queries), strict=True):
        for hit in reply[FINAL]:
            where = f"{query!r}, hit {hit.id or hit.doc_id!r}"
            _demand(hit.start is not None or bool(hit.text), f"{where}: it has neither a place nor a text")
            if subject.documents:
                _stands_in_source(hit, subject.documents, where)


def survives_anything(subject: Subject) -> None:
    """No query is an error: empty, of operators and quotes, in any script, very long."""
    subject.replies(subject.strange)


def repeats_itself(subject: Subject) -> None:
    """The same query gives the same lists, scores included."""
    _demand(
        subject.replies(subject.queries) == subject.replies(subject.queries),
        "two calls with the same queries differ",
    )


def stands_crowds(subject: Subject) -> None:
    """Many calls at a time give what one after the other gives, and never more run than were allowed."""
    queries = [*subject.queries] * 4
    bound, guard = 3, threading.Lock()
    running: list[str] = []
    most: list[int] = []
    search = subject.search

    def counted(query: str, k: int, /) -> object:
        with guard:
            running.append(query)
            most.append(len(running))
        try:
            return _awaited(search, query, k)
        finally:
            with guard:
                running.remove(query)

    alone = subject.replies(queries)
    together = call_all(counted, queries, subject.k, concurrency=bound)
    for query, outcome, expected in zip(queries, together, alone, strict=True):
        _demand(outcome.error is None, f"{query!r} fails among {bound} at a time: {outcome.error}")
        _demand(
            read_reply(outcome.reply, subject.form) == expected, f"{query!r} differs among {bound} at a time"
        )
    # No retriever can bring this about, nor what is asserted below: it is Assay that keeps the bound.
    assert max(most) <= bound, f"{max(most)} calls ran at a time, {bound} were allowed"


def fails_as_data(subject: Subject) -> None:
    """A failure and a time-out are recorded for their query, and leave the others alone."""
    search, bad, slow = subject.search, "fails", "hangs"

    def faulty(query: str, k: int, /) -> object:
        if query == bad:
            raise ConnectionError("refused")
        if query == slow:
            time.sleep(60)
        return _awaited(search, query, k)

    queries = [subject.queries[0], bad, slow, subject.queries[1]]
    plain = subject.replies(queries[::3])
    outcomes = call_all(faulty, queries, subject.k, concurrency=2, timeout_s=subject.patience_s)
    assert outcomes[1].error == "ConnectionError: refused", f"the failure became {outcomes[1].error!r}"
    assert "no reply within" in (outcomes[2].error or ""), f"the time-out became {outcomes[2].error!r}"
    for place, expected in ((0, plain[0]), (3, plain[1])):
        outcome = outcomes[place]
        _demand(outcome.error is None, f"{queries[place]!r} fails beside a failure: {outcome.error}")
        _demand(
            read_reply(outcome.reply, subject.form) == expected,
            f"{queries[place]!r} differs beside a failure",
        )
    table = collect(["q1", "q2", "q3", "q4"], outcomes, subject.k, form=subject.form).stages[-1]
    assert set(table.errors) == {1, 2}, (
        f"the run says that queries {sorted(table.errors)} failed, not 1 and 2"
    )


def replays(subject: Subject) -> None:
    """What was recorded gives the same run again, without the retriever."""

    def gone(query: str, k: int, /) -> object:
        raise AssertionError(f"the retriever was asked {query!r} for {k}")

    asked = [Query(id=f"q{place}", text=text) for place, text in enumerate(subject.queries)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording.jsonl"
        first = CallableRetriever(subject.search, form=subject.form, recording=Recording(file))
        made = first.retrieve(asked, k=subject.k)
        second = CallableRetriever(gone, recording=Recording(file, "none"))
        assert _alike(made, second.retrieve(asked, k=subject.k)), "the replay differs from the run"


CHECKS: tuple[Check, ...] = (
    finds,
    keeps_to_k,
    keeps_order,
    repeats_nothing,
    cuts_one_list,
    answers_with_nothing,
    says_where,
    survives_anything,
    repeats_itself,
    stands_crowds,
    fails_as_data,
    replays,
)
"""All checks, in the order of the kit; the docstring of each is its claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A check that a retriever does not pass."""

    check: str
    claim: str
    what: str


def check_retriever(subject: Subject, *, leave_out: Sequence[str] = ()) -> list[Violation]:
    """Put a retriever through the kit; return what it does not pass, or an empty list.

    Args:
        subject: the retriever, and queries for it.
        leave_out: names of checks that do not hold for it, and why not is for you to know.

    >>> def search(query, k):
    ...     return [{"id": "a", "text": "pump", "score": 1}, {"id": "b", "text": "valve", "score": 2}][:k]
    >>> subject = Subject(retriever=search, queries=["pump", "valve"])
    >>> for violation in check_retriever(subject, leave_out=["fails_as_data"]):
    ...     print(violation.check, "-", violation.what)
    keeps_order - 'pump', final: the scores rise: [1.0, 2.0]
    """
    found: list[Violation] = []
    for check in CHECKS:
        if check.__name__ in leave_out:
            continue
        try:
            check(subject)
        except (NonconformingError, ValueError) as error:
            claim = (check.__doc__ or "").strip()
            found.append(Violation(check=check.__name__, claim=claim, what=str(error)))
    return found


class Conformance:
    """The kit as a class of tests: inherit from it, say what is on trial, and pytest runs every check.

    Override `make`, and `queries`; the rest where it is known.
    """

    queries: ClassVar[Sequence[str]] = ()
    documents: ClassVar[Mapping[str, str]] = {}
    nothing: ClassVar[str | None] = None
    k: ClassVar[int] = 5
    strange: ClassVar[Sequence[str]] = STRANGE
    form: ClassVar[HitForm] = USUAL
    leave_out: ClassVar[Mapping[str, str]] = {}
    """Check -> why it does not hold for this retriever."""

    def make(self) -> object:
        """Return the retriever; called for every test."""
        raise NotImplementedError("write a method make(self) that returns the retriever")

    def run_check(self, check: Check) -> None:
        """Run one check, or skip it with the reason that was given."""
        if check.__name__ in self.leave_out:
            import pytest  # noqa: PLC0415 - the kit is of use without it

            pytest.skip(self.leave_out[check.__name__])
        check(
            Subject(
                retriever=self.make(),
                queries=self.queries,
                documents=self.documents,
                nothing=self.nothing,
                k=self.k,
                strange=self.strange,
                form=self.form,
            )
        )

    def test_each_query_finds_hits_that_say_what_they_are(self) -> None:
        self.run_check(finds)

    def test_no_list_is_longer_than_k(self) -> None:
        self.run_check(keeps_to_k)

    def test_lists_stand_best_first(self) -> None:
        self.run_check(keeps_order)

    def test_no_list_repeats_a_hit(self) -> None:
        self.run_check(repeats_nothing)

    def test_the_best_hit_does_not_depend_on_k(self) -> None:
        self.run_check(cuts_one_list)

    def test_nothing_found_is_an_empty_list(self) -> None:
        self.run_check(answers_with_nothing)

    def test_hits_have_a_place_or_a_text_that_stands_in_its_source(self) -> None:
        self.run_check(says_where)

    def test_no_query_is_an_error_whatever_is_typed(self) -> None:
        self.run_check(survives_anything)

    def test_the_same_query_gives_the_same_lists(self) -> None:
        self.run_check(repeats_itself)

    def test_many_calls_at_a_time_give_what_one_gives(self) -> None:
        self.run_check(stands_crowds)

    def test_failures_and_time_outs_are_data(self) -> None:
        self.run_check(fails_as_data)

    def test_a_recording_replays_the_run(self) -> None:
        self.run_check(replays)


def _demand(holds: bool, what: str) -> None:  # noqa: FBT001 - it reads as a sentence
    if not holds:
        raise NonconformingError(what)


def _awaited(search: Search, query: str, k: int) -> object:
    (outcome,) = call_all(search, [query], k)
    _demand(outcome.error is None, f"{query!r} fails: {outcome.error}")
    return outcome.reply


def _stands_in_source(hit: RawHit, documents: Mapping[str, str], where: str) -> None:
    source = documents.get(hit.doc_id or "")
    if hit.start is not None and hit.end is not None:
        if source is None:
            raise NonconformingError(f"{where}: there is no document {hit.doc_id!r}")
        _demand(hit.end <= len(source), f"{where}: it ends at {hit.end}, its document at {len(source)}")
        text = source[hit.start : hit.end]
        same = hit.text is None or _plain(hit.text) == _plain(text)
        _demand(same, f"{where}: its text is not what stands at its place")
    elif hit.text is not None:
        inside = [source] if source is not None else documents.values()
        found = any(_plain(hit.text) in _plain(text) for text in inside)
        _demand(found, f"{where}: its text stands in no document that it may mean")


def _plain(text: str) -> str:
    return normalise(text).text


def _alike(first: Retrieved, second: Retrieved) -> bool:
    tables = first.chunks.ids == second.chunks.ids and first.chunks.texts == second.chunks.texts
    places = first.chunks.starts.tolist() == second.chunks.starts.tolist()
    stages = [
        [
            (stage.name, stage.offsets.tolist(), stage.chunks.tolist(), stage.scores.tobytes())
            for stage in one.stages
        ]
        for one in (first, second)
    ]
    return tables and places and stages[0] == stages[1]
