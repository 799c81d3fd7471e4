from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.retrieval.models.client import EndpointError
from assay.retrieval.models.protocols import Reporting, Reranker, Surroundings
from assay.retrieval.models.registry import make_reranker, resolve_reranker
from assay.retrieval.models.settings import ChatSettings, RerankEndpointSettings
from retrieval.models.candidates import candidates_of
from retrieval.models.stand_in import Answer, Body, always, completion, no_wait, serving

PASSAGES = ("paint the door", "reset the pump", "pump pump")


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.retrieval.models.client._sleep", no_wait)


def by_pumps(path: str, body: Body, call: int) -> Answer:
    """Score by how often the passage says 'pump'; best first, as servers send them."""
    del path, call
    texts: list[str] = body.get("documents") or body["texts"]
    key = "relevance_score" if "documents" in body else "score"
    rows = [{"index": place, key: float(text.count("pump"))} for place, text in enumerate(texts)]
    rows.sort(key=lambda row: -row[key])
    if "texts" in body:
        return Answer(body=rows)
    return Answer(body={"id": "r1", "results": rows, "usage": {"total_tokens": 30}})


def endpoint(url: str, cache: Path | None = None, **settings: Any) -> Reranker:
    where = Surroundings(cache=cache)
    given = RerankEndpointSettings(model="stand-in", base_url=url, **settings)
    made = make_reranker(resolve_reranker(given, where), where)
    assert made is not None
    return made


def chat(url: str, cache: Path | None = None, **settings: Any) -> Reranker:
    where = Surroundings(cache=cache)
    given = ChatSettings(model="stand-in", base_url=url, key_env="", **settings)
    made = make_reranker(resolve_reranker(given, where), where)
    assert made is not None
    return made


def report_of(reranker: Reranker) -> Any:
    assert isinstance(reranker, Reporting)
    return reranker.take_report()


@pytest.mark.parametrize("form", ["cohere", "tei"])
def test_the_server_s_rows_are_taken_in_its_order(form: str):
    with serving(by_pumps) as server:
        reply = endpoint(server.url, form=form).rerank("pump", *candidates_of(*PASSAGES))
    assert reply.places.tolist() == [2, 1, 0]
    assert reply.scores.tolist() == [2.0, 1.0, 0.0]
    assert server.heard[0].path == "/v1/rerank"
    if form == "cohere":
        assert server.heard[0].body == {
            "model": "stand-in",
            "query": "pump",
            "documents": list(PASSAGES),
            "top_n": 3,
            "return_documents": False,
        }


def test_voyage_s_name_for_the_rows_is_read():
    body = {"object": "list", "data": [{"index": 1, "relevance_score": 0.5}]}
    with serving(always(body)) as server:
        reply = endpoint(server.url).rerank("pump", *candidates_of(*PASSAGES))
    assert (reply.places.tolist(), reply.scores.tolist()) == ([1], [0.5])


def test_the_context_is_sent_with_the_passage():
    with serving(by_pumps) as server:
        endpoint(server.url).rerank("pump", *candidates_of("reset", context="Pumps > Care"))
    assert server.heard[0].body["documents"] == ["Pumps > Care\nreset"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"results": [{"index": 3, "relevance_score": 1.0}]}, "3 passages were sent.* speaks of number 3"),
        ({"results": [{"index": -1, "relevance_score": 1.0}]}, "form of /rerank"),
        ({"results": [{"position": 0}]}, "form of /rerank"),
        ({"answer": 42}, "form of /rerank"),
    ],
)
def test_an_answer_in_another_form_is_an_error(body: object, message: str):
    with (
        serving(always(body)) as server,
        pytest.raises(EndpointError, match=message),
    ):
        endpoint(server.url).rerank("pump", *candidates_of(*PASSAGES))


def test_an_answer_is_kept_and_counted_once(tmp_path: Path):
    with serving(by_pumps) as server:
        first = endpoint(server.url, tmp_path, price_per_million_tokens=2.0)
        reply = first.rerank("pump", *candidates_of(*PASSAGES))
        again = endpoint(server.url, tmp_path)
        kept = again.rerank("pump", *candidates_of(*PASSAGES))
        again.rerank("pumps", *candidates_of(*PASSAGES))
    assert kept.scores.tolist() == reply.scores.tolist()
    assert len(server.heard) == 2
    report = report_of(first)
    assert (report.requests, report.tokens, report.cost) == (1, 30, pytest.approx(60 / 1e6))
    assert (report_of(again).kept, len(PASSAGES)) == (3, 3)


def test_no_candidates_are_not_sent():
    with serving(by_pumps) as server:
        assert endpoint(server.url).rerank("pump", *candidates_of()).places.tolist() == []
    assert server.heard == []


def grading(*replies: str) -> Any:
    def answer(path: str, body: Body, call: int) -> Answer:
        del path, body
        return Answer(body=completion(replies[call]))

    return answer


def grades(*rows: tuple[int, int]) -> str:
    return json.dumps({"grades": [{"passage": number, "grade": grade} for number, grade in rows]})


def test_grades_become_scores():
    with serving(grading(grades((1, 0), (3, 10), (2, 7)))) as server:
        made = chat(server.url)
        reply = made.rerank("How is the pump reset?", *candidates_of(*PASSAGES))
    assert reply.places.tolist() == [0, 2, 1]
    assert reply.scores.tolist() == [0.0, 10.0, 7.0]
    heard = server.heard[0]
    assert heard.path == "/v1/chat/completions"
    assert heard.body["temperature"] == 0
    schema = heard.body["response_format"]["json_schema"]
    assert schema["strict"]
    assert schema["schema"]["properties"]["grades"]["items"]["required"] == ["passage", "grade"]
    shown = heard.body["messages"][1]["content"]
    assert shown.startswith("Question: How is the pump reset?")
    assert "Passage 2:\nreset the pump" in shown
    assert report_of(made).tokens == 100


@pytest.mark.parametrize(
    "reply",
    [
        "Passage 3 is best.",
        "Sure! " + grades((1, 1), (2, 2), (3, 3)),
        "```json\n" + grades((1, 1)) + "\n```",
        grades((4, 1)),
        grades((1, 1), (1, 2)),
        grades((1, 11)),
        '{"grades": [{"passage": 1, "grade": 7.5}]}',
        '{"grades": [{"passage": "1", "grade": 7}]}',
        '{"grades": [{"passage": 1, "grade": 7}], "note": "x"}',
        '{"grades": [{"passage": 1, "gra',
        "",
    ],
)
def test_a_reply_that_is_not_the_asked_json_is_counted_and_nothing_is_read_out_of_it(reply: str):
    with serving(grading(reply)) as server:
        made = chat(server.url)
        found = made.rerank("pump", *candidates_of(*PASSAGES))
    assert found.places.tolist() == [0, 1, 2]
    assert np.isnan(found.scores).all()
    assert report_of(made).malformed == 1


def test_one_bad_reply_spoils_only_its_passages(tmp_path: Path):
    with serving(grading(grades((1, 3), (2, 5)), "no", grades((1, 8)))) as server:
        made = chat(server.url, tmp_path, passages=2)
        found = made.rerank("pump", *candidates_of(*PASSAGES))
        assert (found.scores[:2].tolist(), bool(np.isnan(found.scores[2]))) == ([3.0, 5.0], True)
        # Good replies are kept; the bad one is asked again.
        again = chat(server.url, tmp_path, passages=2)
        assert again.rerank("pump", *candidates_of(*PASSAGES)).scores.tolist() == [3.0, 5.0, 8.0]
    assert len(server.heard) == 3
    assert report_of(again).kept == 2


def test_a_passage_without_a_grade_does_not_come_back():
    with serving(grading(grades((2, 5)))) as server:
        assert chat(server.url).rerank("pump", *candidates_of(*PASSAGES)).places.tolist() == [1]


def test_long_passages_are_shown_in_part_and_that_is_on_record():
    with serving(grading(grades((1, 1), (2, 2)))) as server:
        made = chat(server.url, max_chars=8, structured=False)
        reply = made.rerank("pump", *candidates_of("reset the pump", "pump"))
    assert reply.read == {0: 8}
    assert "reset th\n" in server.heard[0].body["messages"][1]["content"]
    assert "response_format" not in server.heard[0].body


def test_an_answer_without_a_choice_is_an_error():
    with (
        serving(always({"choices": []})) as server,
        pytest.raises(EndpointError, match="form of /v1/chat/completions"),
    ):
        chat(server.url).rerank("pump", *candidates_of(*PASSAGES))
