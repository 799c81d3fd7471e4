from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.words import STOP_WORDS, analyser, content_words, stem, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... --- !!", []),
        ("Reset the Gateway.", ["reset", "the", "gateway"]),
        ("error E1207", ["error", "e1207", "1207"]),
        ("max_chars", ["max_chars", "max", "chars"]),
        ("foo-bar", ["foo-bar", "foo", "bar"]),
        ("maxChars HTTPServer", ["maxchars", "max", "chars", "httpserver", "http", "server"]),
        ("v3.11.2", ["v3.11.2", "v3", "11"]),
        ("1,000 and 12,34", ["1000", "and", "12", "34"]),
        ("parser's parser’s", ["parser", "parser"]),
        ("don't don’t", ["don't", "don't"]),
        ("l'homme", ["l'homme", "homme"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("co\u00adoperate zero\u200bwidth", ["cooperate", "zerowidth"]),
        ("cafe\u0301 CAFÉ", ["café", "café"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("水", ["水"]),
        ("使用max_chars检索", ["使用", "max_chars", "max", "chars", "检索"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("한국어 검색", ["한국어", "검색"]),
    ],
)
def test_words_are_casefolded_and_identifiers_stay_whole_and_in_parts(text: str, expected: list[str]):
    assert words(text) == expected


def test_an_identifier_is_found_by_its_part_and_by_its_whole():
    whole = set(words("see foo-bar-2 in E1207"))
    assert {"foo-bar-2", "foo", "bar", "e1207", "1207"} <= whole


def test_content_words_drop_stop_words_and_stem_the_rest():
    assert content_words("The chunks were being embedded, weren't they?") == ["chunk", "embed"]


def test_contractions_are_stop_words_with_either_apostrophe():
    assert content_words("don't doesn’t we've") == []


@pytest.mark.parametrize("word", ["e1207", "max_chars", "1200", "foo-bar", "guide.md"])
def test_identifiers_are_not_stemmed(word: str):
    assert stem(word) == word


def test_stems_are_those_of_snowball():
    # From the vocabulary that Snowball publishes for its English stemmer.
    assert [stem(word) for word in ("consignment", "knackeries", "skies", "generously")] == [
        "consign",
        "knackeri",
        "sky",
        "generous",
    ]


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        ({"stemming": True, "stop_words": True}, ["chunk"]),
        ({"stemming": True, "stop_words": False}, ["the", "chunk"]),
        ({"stemming": False, "stop_words": True}, ["chunks"]),
        ({"stemming": False, "stop_words": False}, ["the", "chunks"]),
    ],
)
def test_an_analyser_does_what_its_two_switches_say(switches: dict[str, bool], expected: list[str]):
    assert analyser(**switches)("the chunks") == expected


def test_stop_words_are_words_as_words_makes_them():
    assert [word for word in STOP_WORDS if words(word) != [word]] == []


@given(st.text())
def test_words_hold_no_blanks_and_are_casefolded(text: str):
    for word in words(text):
        assert word
        assert not any(sign.isspace() for sign in word)
        assert word == word.casefold()


@given(st.text(), st.text())
def test_a_line_end_always_parts_words(left: str, right: str):
    assert words(f"{left}\n{right}") == words(left) + words(right)


def test_a_book_of_text_has_the_words_of_its_sentence():
    text = "The retriever's max_chars is 1,200; chunks overlap by a third. " * 24_000  # 1.5 MB
    assert content_words(text) == content_words(text[: len(text) // 24_000]) * 24_000
