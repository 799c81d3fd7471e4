from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from assay.connectors.hits import HitError, RawHit, ordered, read_hit, read_reply
from assay.model.runs import Hit


@dataclass
class Page:
    """What LangChain calls a document."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None


@dataclass
class Node:
    """What LlamaIndex calls a node."""

    node_id: str
    text: str
    start_char_idx: int
    end_char_idx: int
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class NodeWithScore:
    node: Node
    score: float


@pytest.mark.parametrize(
    ("hit", "expected"),
    [
        ("d3", RawHit(id="d3")),
        (7, RawHit(id="7")),
        ("007", RawHit(id="007")),
        (("d3", 0.5), RawHit(id="d3", score=0.5)),
        (["d3", np.float32(0.5)], RawHit(id="d3", score=0.5)),
        ("guide.md#5-9", RawHit(id="guide.md#5-9", doc_id="guide.md", start=5, end=9)),
        (
            Hit(rank=1, chunk_id="a#0-4", doc_id="a", start=0, end=4, score=2.0),
            RawHit(id="a#0-4", doc_id="a", start=0, end=4, score=2.0),
        ),
        (
            {"chunk_id": "c1", "document_id": "a.md", "offset": 3, "text": "pump", "similarity": "0.5"},
            RawHit(id="c1", doc_id="a.md", start=3, end=7, score=0.5, text="pump"),
        ),
        (
            {"id": "c1", "metadata": {"source": "a.md", "start_index": 0, "end_index": 4}},
            RawHit(id="c1", doc_id="a.md", start=0, end=4),
        ),
        (
            {"_id": "c1", "_score": 3, "_source": {"doc_id": "a.md", "content": "pump"}},
            RawHit(id="c1", doc_id="a.md", score=3.0, text="pump"),
        ),
        ({"id": 4, "distance": 0.25}, RawHit(id="4", score=-0.25)),
        ({"id": "c1", "score": 0.9, "distance": 0.1}, RawHit(id="c1", score=0.9)),
        ({"text": "pump"}, RawHit(text="pump")),
        ({"id": "a.md", "start": 0, "end": 4}, RawHit(id="a.md", doc_id="a.md", start=0, end=4)),
        # Half a place is none.
        ({"id": "c1", "doc": "a.md", "start": 4}, RawHit(id="c1", doc_id="a.md")),
        # Ids of documents are composed, so that they meet.
        ({"doc": "cafe\u0301.md", "text": "x"}, RawHit(doc_id="café.md", text="x")),
        (
            Page("pump", {"source": "a.md", "start_index": 5}),
            RawHit(doc_id="a.md", start=5, end=9, text="pump"),
        ),
        (
            (Page("pump", {"source": "a.md"}, id="p1"), 0.3),
            RawHit(id="p1", doc_id="a.md", text="pump", score=0.3),
        ),
        (
            NodeWithScore(Node("n1", "pump", 5, 9, {"file_path": "a.md"}), 0.7),
            RawHit(id="n1", doc_id="a.md", start=5, end=9, text="pump", score=0.7),
        ),
    ],
)
def test_hits_are_read_in_the_forms_that_people_return(hit: object, expected: RawHit):
    assert read_hit(hit) == expected


@pytest.mark.parametrize(
    ("hit", "message"),
    [
        ((1, 2, 3), "a hit of 3 values"),
        ({"rank": 1}, "a hit without id, document or text"),
        ({"id": "c1", "score": "high"}, "its score is 'high', not a number"),
        ({"id": "c1", "score": True}, "its score is True, not a number"),
        (("c1", None), "its score is None, not a number"),
        ({"id": "c1", "start": 1.5, "end": 3}, "its start is 1.5, not a whole number"),
        ({"id": "c1", "doc": "a", "start": 5, "end": 3}, "a hit from 5 to 3 in a"),
        ({"id": "c1", "doc": "a", "start": -1, "end": 3}, "a hit from -1 to 3 in a"),
        ({"id": "c1", "text": 5}, "its text is 5, not a string"),
    ],
)
def test_what_cannot_be_read_says_what_is_meant(hit: object, message: str):
    with pytest.raises(HitError, match=message):
        read_hit(hit)


def test_a_mapping_of_lists_puts_stages_on_record_and_ends_with_the_final_one():
    stages = read_reply({"final": ["a"], "vector": ["a", "b"], "fulltext": []})
    assert list(stages) == ["vector", "fulltext", "final"]
    assert list(read_reply({"results": ["a"]})) == ["final"]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (None, "the final list is None; return an empty list"),
        ("d3", "the final list is 'd3'; return a list of hits"),
        (5, "the final list is 5"),
        ({"vector": ["a"]}, "put what the prompt gets under 'final'"),
        ({"final": ["a"], "vector": None}, "the vector list is None"),
        ({}, "the mapping holds nothing"),
    ],
)
def test_a_reply_of_the_wrong_shape_says_how_to_mend_it(reply: object, message: str):
    with pytest.raises(HitError, match=message):
        read_reply(reply)


def test_any_iterable_is_a_list():
    assert [hit.id for hit in read_reply(iter(["a", "b"]))["final"]] == ["a", "b"]


def names(hits: list[RawHit]) -> list[str | None]:
    return [hit.id for hit in hits]


def test_scores_order_a_list_ties_as_given_and_missing_ones_last():
    hits = [
        RawHit(id="a", score=1.0),
        RawHit(id="b", score=float("nan")),
        RawHit(id="c", score=2.0),
        RawHit(id="d"),
        RawHit(id="e", score=1.0),
        RawHit(id="f", score=float("-inf")),
        RawHit(id="g", score=float("inf")),
    ]
    found, missing = ordered(hits)
    assert names(found) == ["g", "c", "a", "e", "f", "b", "d"]
    assert missing == 2


def test_a_list_without_scores_is_in_the_order_given():
    found, missing = ordered([RawHit(id="b"), RawHit(id="a")])
    assert (names(found), missing) == (["b", "a"], 0)
