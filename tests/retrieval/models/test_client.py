from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from assay.model.errors import InputError
from assay.retrieval.models.client import Caller, EndpointError
from assay.retrieval.models.settings import OpenAISettings
from retrieval.models.stand_in import Answer, Body, serving

KEY = "ASSAY_TEST_KEY"
SECRET = "sk-very-secret"


def caller(url: str, waits: list[float], **settings: Any) -> Caller:
    given: dict[str, Any] = {"key_env": "", "retries": 3, "timeout_s": 5.0, **settings}
    per_minute = given.pop("tokens_per_minute", None)
    server = OpenAISettings(model="m", base_url=url, **given)
    return Caller(server, feature="embedder 'openai'", tokens_per_minute=per_minute, sleep=waits.append)


def failing(*answers: Answer) -> Any:
    """Give these answers first, and then a good one."""

    def answer(path: str, body: Body, call: int) -> Answer:
        del path, body
        return answers[call] if call < len(answers) else Answer(body={"fine": True})

    return answer


def test_a_good_answer_is_returned_and_counted():
    with serving(failing()) as server:
        made = caller(server.url, [])
        assert made.post("/embeddings", {"a": 1}) == {"fine": True}
        made.close()
    assert (made.requests, made.retried) == (1, 0)
    assert [(one.path, one.body, one.key) for one in server.heard] == [("/v1/embeddings", {"a": 1}, None)]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again(status: int):
    waits: list[float] = []
    with serving(failing(Answer(body={}, status=status), Answer(body={}, status=status))) as server:
        made = caller(server.url, waits)
        assert made.post("/x", {}) == {"fine": True}
    assert (made.requests, made.retried) == (1, 2)
    assert 0.25 <= waits[0] <= 0.75  # 0.5 s, times 0.5 to 1.5
    assert 0.5 <= waits[1] <= 1.5


def test_the_random_part_of_the_waits_is_seeded():
    waits: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for run, seed in enumerate((7, 7, 8)):
        with serving(failing(*[Answer(body={}, status=503)] * 3)) as server:
            caller(server.url, waits[run], seed=seed).post("/x", {})
    assert waits[0] == waits[1] != waits[2]


def test_the_server_s_own_wait_is_kept_to():
    waits: list[float] = []
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    busy = [Answer(body={}, status=429, headers={"Retry-After": after}) for after in ("2.5", later)]
    with serving(failing(*busy)) as server:
        caller(server.url, waits).post("/x", {})
    assert waits[0] == 2.5
    assert 27 < waits[1] <= 30


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for():
    waits: list[float] = []
    with (
        serving(failing(Answer(body={}, status=429, headers={"Retry-After": "86400"}))) as server,
        pytest.raises(EndpointError, match="answered 429"),
    ):
        caller(server.url, waits).post("/x", {})
    assert waits == []


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no such model 'm'", "type": "invalid"}},
        {"error": "no such model 'm'"},
        {"message": "no such model 'm'"},
        {"detail": "no such model 'm'"},
        "no such model 'm'",
    ],
)
def test_a_refusal_is_final_and_shown_in_the_server_s_words(body: object):
    with (
        serving(failing(Answer(body=body, status=404))) as server,
        pytest.raises(
            EndpointError, match=r"/v1/x answered 404: no such model 'm'\n  fix: see that base_url and model"
        ) as caught,
    ):
        caller(server.url, []).post("/x", {})
    assert caught.value.status == 404
    assert len(server.heard) == 1


def test_when_it_never_passes_the_last_answer_is_told():
    waits: list[float] = []
    with (
        serving(failing(*[Answer(body={"error": "overloaded"}, status=503)] * 9)) as server,
        pytest.raises(EndpointError, match=r"answered 503: overloaded \(asked 3 times\)"),
    ):
        caller(server.url, waits, retries=2).post("/x", {})
    assert len(server.heard) == 3
    assert len(waits) == 2


def test_a_server_that_does_not_answer_in_time_is_asked_again():
    with serving(failing(Answer(body={}, wait_s=4.0))) as server:
        made = caller(server.url, [], timeout_s=1.0)
        assert made.post("/x", {}) == {"fine": True}
    assert made.retried == 1


def test_a_server_that_is_not_there_is_said_to_be_so():
    with serving(failing()) as server:
        pass
    with pytest.raises(EndpointError, match=r"could not be reached.*\(asked 2 times\)"):
        caller(server.url, [], retries=1).post("/x", {})


def test_an_answer_that_is_not_json_is_told():
    page = "<html>welcome</html>" + "x" * 400
    with (
        serving(failing(Answer(body=page))) as server,
        pytest.raises(EndpointError, match=r"answered something else than JSON: '<html>welcome"),
    ):
        caller(server.url, []).post("/x", {})


def test_the_key_comes_from_the_environment_and_is_in_no_message(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(KEY, SECRET)
    with (
        serving(failing(Answer(body={"error": "bad key"}, status=401))) as server,
        pytest.raises(EndpointError) as caught,
    ):
        caller(server.url, [], key_env=KEY).post("/x", {})
    assert server.heard[0].key == f"Bearer {SECRET}"
    assert SECRET not in str(caught.value)


def test_a_key_that_is_not_set_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(KEY, raising=False)
    with serving(failing()) as server, pytest.raises(InputError, match=f"variable {KEY}, which is not set"):
        caller(server.url, [], key_env=KEY).post("/x", {})
    assert server.heard == []


def test_the_pace_is_kept():
    waits: list[float] = []
    with serving(failing()) as server:
        made = caller(server.url, waits, requests_per_minute=60)
        for _ in range(3):
            made.post("/x", {})
    # One a second: the second waits for 1 s, the third for what is left of 2 s (nobody really slept).
    assert waits == [pytest.approx(1.0, abs=0.5), pytest.approx(2.0, abs=0.5)]


def test_the_pace_of_tokens_is_kept():
    waits: list[float] = []
    with serving(failing()) as server:
        made = caller(server.url, waits, tokens_per_minute=6000)
        made.post("/x", {}, tokens=500)
        made.post("/x", {}, tokens=1)
    assert waits == [pytest.approx(5.0, abs=0.5)]
