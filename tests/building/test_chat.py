"""The client of chat completions: what it sends, what it survives, and what it calls an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.building.chat import Chat, ChatError, ModelTable
from assay.model.errors import ConfigError
from stand_in_model import Answering, Says, StandIn, stand_in

ASKED = [{"role": "user", "content": "Who signs?"}]
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def chat_with(model: StandIn, **settings: Any) -> Chat:
    return Chat(table=ModelTable(base_url=model.base_url, model="stand-in", **settings), pauses=0.001)


def in_turn(*answers: Says) -> Answering:
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def test_a_question_is_sent_as_the_protocol_wants_it_and_the_answer_is_taken(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test")
    with stand_in(in_turn(Says(content="the owner"))) as model:
        answer = chat_with(model, max_tokens=50).ask(ASKED, schema=SCHEMA)
    assert (answer.text, answer.form, answer.finish_reason) == ("the owner", "json_schema", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.counted) == (2, 2, True)
    assert model.paths == ["/v1/chat/completions"]
    assert model.keys == ["Bearer sk-of-the-test"]
    assert model.bodies == [
        {
            "model": "stand-in",
            "messages": ASKED,
            "max_tokens": 50,
            "temperature": 0.0,
            "seed": 0,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
            },
        }
    ]
    assert "sk-of-the-test" not in answer.request
    assert json.loads(answer.request) == model.bodies[0]


def test_without_a_key_in_the_environment_none_is_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with stand_in(in_turn(Says(content="x"))) as model:
        chat_with(model).ask(ASKED)
    assert model.keys == [None]


def test_an_endpoint_without_schemas_is_asked_for_an_object_then_in_words_and_that_is_remembered():
    def answer(body: dict[str, Any]) -> Says:
        form = body.get("response_format", {}).get("type")
        return Says(content="{}") if form is None else Says(status=400, content=f"no {form} here")

    with stand_in(answer) as model:
        chat = chat_with(model)
        assert chat.ask(ASKED, schema=SCHEMA).form == "text"
        assert len(model.bodies) == 3
        chat.ask(ASKED, schema=SCHEMA)
    assert [body.get("response_format", {}).get("type") for body in model.bodies] == [
        "json_schema",
        "json_object",
        None,
        None,
    ]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again(status: int):
    busy = Says(status=status, content="busy", headers={"Retry-After": "0"})
    requests: list[int] = []
    with stand_in(in_turn(busy, busy, Says(content="at last"))) as model:
        answer = chat_with(model).ask(ASKED, permit=lambda: requests.append(1))
    assert answer.text == "at last"
    assert len(model.bodies) == len(requests) == 3


def test_what_stays_busy_is_an_error_with_what_the_endpoint_said():
    with (
        stand_in(in_turn(Says(status=503, content="overloaded"))) as model,
        pytest.raises(ChatError) as caught,
    ):
        chat_with(model, retries=1).ask(ASKED)
    assert len(model.bodies) == 2
    assert "HTTP 503" in caught.value.reason
    assert "overloaded" in caught.value.reason
    assert not caught.value.final


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_address_is_final_and_not_asked_again(status: int):
    with stand_in(in_turn(Says(status=status, content="no"))) as model, pytest.raises(ChatError) as caught:
        chat_with(model).ask(ASKED)
    assert caught.value.final
    assert len(model.bodies) == 1


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"<html>proxy</html>", "answers no JSON"),
        (b'{"object": "list", "data": []}', "no chat completion"),
        (b'{"choices": []}', "without a choice"),
        (b'{"choices": [{"message": "hello"}]}', "no chat completion"),
    ],
)
def test_an_answer_that_is_no_chat_completion_is_an_error(raw: bytes, told: str):
    with stand_in(in_turn(Says(raw=raw))) as model, pytest.raises(ChatError, match=told):
        chat_with(model, retries=0).ask(ASKED)


def test_a_null_content_is_an_empty_answer():
    with stand_in(in_turn(Says(content=None))) as model:
        assert chat_with(model).ask(ASKED).text == ""


def test_where_the_endpoint_counts_no_tokens_they_are_estimated_rather_too_many():
    with stand_in(in_turn(Says(content="one two three", usage=False))) as model:
        answer = chat_with(model).ask(ASKED)
    assert not answer.counted
    assert answer.completion_tokens == 5  # 13 characters, three a token
    assert answer.prompt_tokens > 2


def test_the_key_follows_no_redirect(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test")
    with stand_in(in_turn(Says(content="x"))) as other:
        away = Says(status=307, headers={"Location": f"{other.base_url}/chat/completions"})
        with stand_in(in_turn(away)) as model, pytest.raises(ChatError, match="HTTP 307"):
            chat_with(model).ask(ASKED)
        assert other.keys == []


def test_nobody_at_the_address_is_an_error_that_names_it():
    with stand_in(in_turn(Says())) as model:
        pass
    with pytest.raises(ChatError, match=r"127\.0\.0\.1"):
        chat_with(model, retries=0).ask(ASKED)


def test_an_endpoint_that_says_nothing_in_time_is_an_error():
    def slow(_: dict[str, Any]) -> Says:
        import time  # noqa: PLC0415

        time.sleep(0.3)
        return Says(content="late")

    with stand_in(slow) as model, pytest.raises(ChatError, match=r"no answer within 0\.05 s"):
        chat_with(model, retries=0, timeout_s=0.05).ask(ASKED)


@pytest.mark.parametrize("address", ["localhost:8080/v1", "ftp://models/v1", "http://", ""])
def test_an_address_that_is_none_is_refused_before_anything_is_sent(address: str):
    with pytest.raises(ConfigError, match="no address of a model"):
        Chat(table=ModelTable(base_url=address, model="m"))
