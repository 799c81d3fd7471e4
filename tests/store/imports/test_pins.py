"""Quotes and their places: exact, moved, gone, inside words, several."""

from __future__ import annotations

from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query
from assay.store.imports.pins import NOWHERE, Pins, place_quotes

TEXT = "Keys are rotated monthly. Old keys are kept.\r\nKeys are rotated monthly, we said."


def pins() -> Pins:
    return Pins({"a.md": Document(id="a.md", text=TEXT)})


def test_offsets_that_hold_the_quote_are_kept() -> None:
    book = pins()
    anchor = book.anchor("q", "a1", "a.md", "Old keys are kept.", (26, 44))
    assert (anchor.start, anchor.end) == (26, 44)
    assert book.counts() == {"exact_places": 1}
    assert list(book.notices()) == []


def test_offsets_that_hold_it_in_another_presentation_are_kept_too() -> None:
    book = pins()
    anchor = book.anchor("q", "a1", "a.md", "kept. keys ARE", (39, 54))
    assert (anchor.start, anchor.end) == (39, 54)
    assert book.counts() == {"exact_places": 1}


def test_wrong_offsets_are_moved_to_the_nearest_occurrence_and_said() -> None:
    book = pins()
    far = book.anchor("q", "a1", "a.md", "Keys are rotated", (60, 76))
    near = book.anchor("q", "a2", "a.md", "Keys are rotated", (3, 19))
    assert (far.start, near.start) == (46, 0)
    assert book.counts() == {"exact_places": 0, "repaired": 2}
    (notice,) = book.notices()
    assert notice.code == "repaired-offsets"
    assert notice.ids == ("q a1", "q a2")


def test_offsets_outside_the_document_are_moved_too() -> None:
    assert pins().anchor("q", "a1", "a.md", "Old keys", (4000, 4008)).start == 26
    assert pins().anchor("q", "a1", "a.md", "Old keys", (-5, 3)).start == 26


def test_a_quote_that_is_nowhere_is_kept_without_a_place_and_said() -> None:
    book = pins()
    anchor = book.anchor("q", "a1", "a.md", "Keys are burned", (0, 15))
    assert (anchor.quote, anchor.start) == ("Keys are burned", None)
    assert book.counts() == {"exact_places": 0, "stale": 1}


def test_without_offsets_a_quote_is_pinned_where_it_stands_once() -> None:
    book = pins()
    assert book.anchor("q", "a1", "a.md", "old keys").start == 26
    assert book.anchor("q", "a2", "a.md", "Keys are rotated").start is None
    assert book.counts() == {"exact_places": 2, "repeated_quotes": 1}


def test_a_pinned_quote_that_stands_elsewhere_too_is_said() -> None:
    book = pins()
    assert book.anchor("q", "a1", "a.md", "Keys are rotated", (0, 16)).start == 0
    assert book.counts() == {"exact_places": 1, "repeated_quotes": 1}


def test_a_span_that_cuts_a_word_is_kept_and_said() -> None:
    book = pins()
    assert book.anchor("q", "a1", "a.md", "eys are rotated monthly", (1, 24)).start == 1
    assert book.inside_words == ["q a1"]


def test_a_document_that_is_not_there_is_said() -> None:
    book = pins()
    assert book.anchor("q", "a1", "b.md", "x y", (3, 6)).start == 3
    assert book.counts() == {"exact_places": 0, "document_absent": 1}


def test_quotes_without_a_document_find_theirs() -> None:
    documents = [
        Document(id="a.md", text="The fee is 12 euros."),
        Document(id="b.md", text="No fee. The fee is 12 euros, as ever."),
        Document(id="c.md", text="The key is red."),
    ]
    quotes = ["fee is 12 euros", "key is red", "nobody said this"]
    anchors = tuple(
        Anchor(id=f"a{place}", doc_id="", quote=quote) for place, quote in enumerate(quotes, start=1)
    )
    golden = GoldenSet(name="g", queries=(Query(id="q", text="?", anchors=anchors),))
    placed, book, notices = place_quotes(golden, documents)
    fee, key, nothing = placed.queries[0].anchors
    assert (fee.doc_id, fee.start, fee.end) == ("a.md", 4, 19)
    assert [(other.doc_id, other.start) for other in fee.alternatives] == [("b.md", 12)]
    assert (key.doc_id, key.start) == ("c.md", 4)
    assert nothing.doc_id == NOWHERE
    assert book.exact == 3
    assert [notice.code for notice in notices] == ["quotes-nowhere"]
