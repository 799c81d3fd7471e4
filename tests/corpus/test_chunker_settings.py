"""Settings are checked whole, and said plainly."""

from __future__ import annotations

import json
from typing import cast

import pytest

from assay.corpus import CHUNKERS, make_chunker
from assay.corpus.chunkers.characters import CharacterSettings
from assay.model.errors import ConfigError


def faults(name: str, values: dict[str, object]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        make_chunker(name, values)
    return [str(fault) for fault in caught.value.faults]


def test_an_unknown_chunker_gets_the_nearest_name():
    assert faults("recursiv", {}) == [
        "chunker recursiv: no chunker is called 'recursiv'\n  fix: did you mean 'recursive'?"
    ]


def test_a_name_like_none_gets_the_list():
    [fault] = faults("zzz", {})
    assert "there are: paragraphs, markdown, recursive, sentences, tokens, characters, langchain:..." in fault


def test_all_that_is_wrong_is_said_at_once():
    values: dict[str, object] = {"siz": 3, "overlap": 2000, "unit": "toks", "context": 1, "separators": "\n"}
    found = faults("recursive", values)
    assert [fault.split(":")[0] for fault in found] == [
        "chunker recursive",
        "chunker recursive context",
        "chunker recursive separators",
        "chunker recursive overlap",
        "chunker recursive unit",
    ]
    assert "did you mean 'size'?" in found[0]
    assert "must be below size (1000), not 2000" in found[3]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("characters", {"size": 0}),
        ("characters", {"size": 10, "overlap": 10}),
        ("characters", {"size": 10, "overlap": -1}),
        ("characters", {"size": True}),
        ("characters", {"size": 10.5}),
        ("paragraphs", {"max_chars": 100, "overlap": 100}),
        ("paragraphs", {"max_paragraphs": 0}),
        ("markdown", {"max_level": 7}),
        ("recursive", {"separators": []}),
        ("recursive", {"separators": ["", "\n"]}),
        ("sentences", {"max_chars": 0}),
        ("sentences", {"overlap_sentences": -1}),
        ("sentences", {"max_sentences": 0}),
        ("sentences", {"max_sentences": 2, "overlap_sentences": 2}),
        ("tokens", {"counter": "gpt"}),
        ("tokens", {"size": 8, "overlap": 9}),
    ],
)
def test_values_out_of_range_or_of_another_type_are_refused(name: str, values: dict[str, object]):
    assert faults(name, values)


def test_settings_made_by_hand_are_checked_as_well():
    with pytest.raises(ConfigError, match="must be below size"):
        CharacterSettings(size=5, overlap=5)


@pytest.mark.parametrize("name", sorted(CHUNKERS))
def test_a_description_is_plain_json_and_makes_the_same_chunker(name: str):
    told = make_chunker(name).describe()
    assert json.loads(json.dumps(told)) == told
    assert make_chunker(name, cast("dict[str, object]", told["settings"])).describe() == told
    assert told["name"] == name


def test_errors_name_the_place_that_the_caller_names():
    with pytest.raises(ConfigError, match=r"^assay.toml \[chunker\] size: must be at least 1, not 0"):
        make_chunker("characters", {"size": 0, "overlap": 0}, where="assay.toml [chunker]")
