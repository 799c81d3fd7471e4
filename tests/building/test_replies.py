from __future__ import annotations

import msgspec
import pytest

from assay.building.replies import parse_reply
from shared_data import load_cases, needs_shared


class Offer(msgspec.Struct):
    question: str
    anchor: str


class Grade(msgspec.Struct):
    grade: int
    why: str = ""


@needs_shared
def test_only_whole_objects_of_the_form_are_accepted_and_all_others_counted_with_their_reason():
    case = load_cases()["B04"]
    read = [parse_reply(reply, Offer) for reply in case["input"]["replies"]]
    expected = case["expected"]
    assert [one.value.question for one in read if one.value] == expected["accepted"]
    refused = {str(at): one.why for at, one in enumerate(read, start=1) if not one.accepted}
    assert refused == {**expected["rejected"], "2": refused["2"]}
    assert refused["2"].startswith("not JSON")
    assert len(read) == expected["attempted"]
    assert len(refused) == expected["rejected_count"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("I cannot help with that.", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        ('{"grade": 1} or {"grade": 0}', "more than one object"),
        ('[{"grade": 1}] says it', "a list"),
        ('{"grade": "1"}', "grade is not a whole number"),
        ('{"grade": 1.5}', "grade is not a whole number"),
        ('{"grade": true}', "grade is not a whole number"),
        ('{"why": "x"}', "grade is missing"),
        ('{"grade": 1, "grade": 0}', "a key stands twice in one object"),
        ('{"grade": NaN}', "NaN is no JSON number"),
        ('```json\n{"grade": 1, "why": "as', "cut short"),
        ("[" * 100_000, "not JSON"),
        ("null", "not an object"),
        ('"grade"', "not an object"),
    ],
)
def test_what_is_not_the_object_asked_for_is_refused_with_the_reason(text: str, why: str):
    read = parse_reply(text, Grade)
    assert read.value is None
    assert read.why.removeprefix("not JSON: ") == why.removeprefix("not JSON: ") or read.why.startswith(why)


@pytest.mark.parametrize(
    "text",
    [
        '{"grade": 1}',
        '```\n{"grade": 1}\n```',
        'Here it is:\n\n{"grade": 1, "extra": [1, {"a": 2}]}\nThanks!',
    ],
)
def test_one_whole_object_is_read_out_of_its_fence_or_chatter(text: str):
    read = parse_reply(text, Grade)
    assert read.value == Grade(grade=1)
    assert read.accepted
    assert not read.why
