from __future__ import annotations

from dataclasses import replace

from assay.diagnosis.review import Review
from assay.model.findings import KINDS
from diagnosis.test_findings import finding

FINDINGS = [finding("q1"), finding("q2", kind=None), finding("q3")]


def review() -> Review:
    return Review(FINDINGS, KINDS, by="ada", clock=lambda: "2026-01-01T00:00:00Z")


def test_yes_confirms_no_denies_and_a_kind_changes():
    one = review()
    assert one.answer("y") is None
    assert one.answer("vocabulary-gap: they say car") is None
    assert one.answer("N") is None
    assert one.current is None
    assert [(made.query_id, made.kind, made.proposed, made.note) for made in one.decisions] == [
        ("q1", "ranking", "ranking", None),
        ("q2", "vocabulary-gap", None, "they say car"),
        ("q3", None, "ranking", None),
    ]
    assert one.decisions[0].by == "ada"
    assert one.decisions[0].trace == "t1"


def test_the_beginning_of_a_kind_is_enough_when_it_fits_one():
    one = review()
    assert one.answer("voc") is None
    assert one.decisions[0].kind == "vocabulary-gap"
    assert one.answer("r") is not None  # ranking, reranker-demotion


def test_skip_decides_nothing_and_undo_goes_back():
    one = review()
    one.answer("s")
    one.answer("y")
    assert one.place == 2
    assert one.answer("u") is None
    assert one.place == 1
    assert one.decisions == ()
    one.answer("u")
    assert one.answer("u") == "there is nothing to undo"


def test_quit_ends_and_keeps_what_was_decided():
    one = review()
    one.answer("y")
    one.answer("q")
    assert one.current is None
    assert len(one.decisions) == 1


def test_an_unknown_answer_names_the_nearest_kind_and_moves_nothing():
    one = review()
    assert one.answer("vocabluary-gap") == "'vocabluary-gap' is no kind; did you mean 'vocabulary-gap'?"
    assert one.place == 0


def test_no_where_nothing_is_proposed_asks_for_more():
    one = review()
    one.answer("s")
    assert one.answer("n") == "no kind is proposed: y leaves it unexplained, or name a kind"
    assert one.answer("y") is None
    assert one.decisions[0].kind is None


def test_what_is_decided_is_left_out_and_what_is_stale_is_asked_again():
    decided = replace(finding("q1"), status="confirmed")
    stale = replace(finding("q2"), status="changed", stale=True)
    one = Review([decided, stale], KINDS, by="ada")
    assert one.current is stale
