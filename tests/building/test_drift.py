from __future__ import annotations

from assay.building.drift import difference, find_drift, mend
from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query

OLD = "Refunds reach the card within 14 days of the return being scanned."


def drifted(text: str, anchor: Anchor, **others: str):
    documents = [Document(id="returns.md", text=text), *(Document(id=k, text=v) for k, v in others.items())]
    golden = GoldenSet(name="g", queries=(Query(id="q1", text="?", anchors=(anchor,)),))
    found = find_drift(golden, [one for one in documents if one.text])
    return found, mend(golden, found).queries[0].anchors[0]


def anchor(quote: str = "within 14 days of the return", start: int | None = None) -> Anchor:
    end = None if start is None else start + len(quote)
    return Anchor(id="a1", doc_id="returns.md", quote=quote, start=start, end=end)


def test_an_anchor_that_stands_where_it_was_is_not_told():
    assert drifted(OLD, anchor(start=OLD.index("within"))) == ((), anchor(start=OLD.index("within")))
    assert drifted(OLD, anchor())[0] == ()


def test_an_anchor_that_moved_gets_its_new_offsets():
    (found,), after = drifted("New rule. " + OLD, anchor(start=OLD.index("within")))
    assert found.kind == "moved"
    assert (after.start, after.end) == (33, 61)  # "New rule. " is 10 signs, "within" began at 23
    assert after.quote == anchor().quote


def test_of_several_occurrences_the_nearest_counts():
    text = "x within 14 days. " + " " * 50 + "y within 14 days."
    (found,), after = drifted(text, anchor("within 14 days", start=60))
    assert found.kind == "moved"
    assert after.start == text.rindex("within")


def test_a_quote_that_is_written_otherwise_becomes_the_source_s_own_text():
    (found,), after = drifted("Refunds: **Within  14 days**\nof the return.", anchor())
    assert found.kind == "presentation"
    assert after.quote == "Within  14 days**\nof the return"
    assert after.start is None


def test_changed_words_are_shown_and_never_mended():
    (found,), after = drifted(OLD.replace("14 days", "30 working days"), anchor())
    assert found.kind == "changed"
    assert after == anchor()
    assert found.mended is None
    assert "within [-14-]{+30 working+} days" in found.text
    assert found.proposed is not None


def test_a_phrase_of_which_nothing_is_left_has_vanished():
    (found,), after = drifted("Parcels leave every weekday at six.", anchor())
    assert (found.kind, found.mended, after) == ("vanished", None, anchor())


def test_an_anchor_follows_its_document_to_a_new_name_only_when_that_is_sure():
    (found,), after = drifted("", anchor(start=0), **{"refunds.md": OLD, "faq.md": "nothing here"})
    assert found.kind == "renamed"
    assert (after.doc_id, after.start) == ("refunds.md", OLD.index("within"))
    (found,), after = drifted("", anchor(), **{"refunds.md": OLD, "faq.md": OLD})
    assert (found.kind, after) == ("vanished", anchor())
    assert "2 places of other documents" in found.text


def test_alternatives_drift_and_are_mended_by_themselves():
    other = Anchor(id="a1.1", doc_id="faq.md", quote="two weeks", start=3, end=12)
    item = Anchor(id="a1", doc_id="returns.md", quote="within 14 days", alternatives=(other,))
    (found,), after = drifted(OLD, item, **{"faq.md": "Up to two weeks."})
    assert (found.anchor, found.kind) == (other, "moved")
    assert after.alternatives[0].start == 6
    assert after.quote == item.quote


def test_a_difference_shows_which_words_went_and_which_came():
    assert difference("a b c", "a c d") == "a [-b-]{+c+} [-c-]{+d+}"
    assert difference("same", "same") == "same"
