"""Looking for many phrases at once finds what looking for each one finds."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from assay.matching.many import ManyPhrases
from assay.model.phrases import find, phrase
from assay.model.text import normalise

PARTS = [
    "red",
    "Fuse",
    "box",
    "12",
    "a",
    "-",
    "- ",
    "\n",
    " ",
    "pre-\ntraining",
    "**the**",
    "| x | y |\n",
    "字",
    "é",
]
TEXT = st.lists(st.sampled_from(PARTS), max_size=25).map("".join)


@given(st.lists(TEXT, max_size=6), TEXT)
@example(["pretraining", "pre-training"], "the pre-\ntraining")
@example(["x y", "x | y"], "| x | y |")
@example(["", "**"], "a")
def test_many_phrases_are_found_where_each_is(quotes: list[str], text: str):
    source = normalise(text)
    alone = {at: find(quote, source) for at, quote in enumerate(quotes)}
    together = dict(ManyPhrases([phrase(quote) for quote in quotes]).found_in(source))
    assert together == {at: spans for at, spans in alone.items() if spans}


@given(TEXT, st.integers(0, 20), st.integers(0, 20))
def test_a_stretch_of_a_text_is_found_in_it_together_with_others(text: str, first: int, length: int):
    quote = text[first : first + length]
    source = normalise(text)
    found = dict(ManyPhrases([phrase("no such phrase"), phrase(quote)]).found_in(source))
    assert found.get(1, []) == find(quote, source)
