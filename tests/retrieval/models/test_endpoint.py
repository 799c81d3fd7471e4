from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from assay.retrieval.models.client import EndpointError
from assay.retrieval.models.endpoint import EndpointEmbedder
from assay.retrieval.models.protocols import Surroundings
from assay.retrieval.models.registry import make_embedder, resolve_embedder
from assay.retrieval.models.settings import OpenAISettings
from assay.retrieval.settings import digest
from retrieval.models.stand_in import Answer, Body, always, embeddings, no_wait, serving


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.retrieval.models.client._sleep", no_wait)


def good(path: str, body: Body, call: int) -> Answer:
    del path, call
    return Answer(body=embeddings(body["input"]))


def embedder(url: str, cache: Path | None = None, **settings: Any) -> EndpointEmbedder:
    where = Surroundings(cache=cache)
    given: dict[str, Any] = {"model": "stand-in", "key_env": "", **settings}
    made = make_embedder(resolve_embedder(OpenAISettings(base_url=url, **given), where), where)
    assert isinstance(made, EndpointEmbedder)
    return made


def test_rows_come_in_the_order_of_the_texts_whatever_the_server_s():
    with serving(good) as server:
        rows = embedder(server.url).embed_passages(["pump", "valve"], {})
    assert rows.tolist() == [[4, ord("p"), ord("p")], [5, ord("v"), ord("e")]]
    assert server.heard[0].path == "/v1/embeddings"
    assert server.heard[0].body == {
        "model": "stand-in",
        "input": ["pump", "valve"],
        "encoding_format": "float",
    }


def test_texts_go_in_batches_and_each_once():
    with serving(good) as server:
        made = embedder(server.url, batch_size=2)
        rows = made.embed_passages(["aa", "b", "ccc", "b", "dd"], {})
    assert [one.body["input"] for one in server.heard] == [["aa", "b"], ["ccc", "dd"]]
    assert rows[:, 0].tolist() == [2, 1, 3, 1, 2]
    report = made.take_report()
    assert (report.texts, report.requests, report.tokens, report.kept) == (5, 2, 4, 0)


def test_a_repeated_run_asks_for_nothing(tmp_path: Path):
    texts = ["pump leaks", "valve jams", "hose"]
    with serving(good) as server:
        first = embedder(server.url, tmp_path).embed_passages(texts, {})
        again = embedder(server.url, tmp_path)
        assert again.embed_passages([*texts, "new"], {})[:3].tobytes() == first.tobytes()
        assert [one.body["input"] for one in server.heard] == [texts, ["new"]]
        report = again.take_report()
        assert (report.kept, report.requests, report.tokens) == (3, 1, 1)
        embedder(server.url, tmp_path, model="another").embed_passages(texts, {})
        embedder(server.url, tmp_path, dimensions=2).embed_passages(texts, {})
    assert len(server.heard) == 4


def test_what_was_answered_before_a_failure_is_not_asked_again(tmp_path: Path):
    def fails_on_the_second(path: str, body: Body, call: int) -> Answer:
        return Answer(body={"error": "stop"}, status=401) if call == 1 else good(path, body, call)

    with serving(fails_on_the_second) as server:
        with pytest.raises(EndpointError, match="answered 401: stop"):
            embedder(server.url, tmp_path, batch_size=1).embed_passages(["a", "b"], {})
        embedder(server.url, tmp_path, batch_size=1).embed_passages(["a", "b"], {})
    assert [one.body["input"] for one in server.heard] == [["a"], ["b"], ["b"]]


def test_tokens_and_cost_are_counted():
    with serving(good) as server:
        made = embedder(server.url, price_per_million_tokens=20.0)
        made.embed_passages(["one two three", "four five"], {})
    report = made.take_report()
    assert report.tokens == 5
    assert report.cost == pytest.approx(5 * 20 / 1_000_000)


def test_the_family_s_prefixes_are_sent():
    with serving(good) as server:
        made = embedder(server.url, model="nomic-embed-text")
        made.embed_passages(["pump"], {})
        made.embed_queries(["pump"], {})
    assert [one.body["input"] for one in server.heard] == [["search_document: pump"], ["search_query: pump"]]


def test_an_empty_text_has_a_row_of_zeros_and_the_server_is_not_sent_it():
    with serving(good) as server:
        rows = embedder(server.url).embed_passages(["pump", "", " \n"], {})
    assert [bool(row.any()) for row in rows] == [True, False, False]
    assert server.heard[0].body["input"] == ["pump", "-"]


def test_texts_that_are_too_long_are_cut_and_counted_where_asked():
    with serving(good) as server:
        made = embedder(server.url, max_chars=4)
        made.embed_passages(["pump", "pumps"], {})
    assert server.heard[0].body["input"] == ["pump"]
    assert made.take_report().cut == (1,)


def test_the_length_of_the_vectors_is_found_with_the_first_passage(tmp_path: Path):
    with serving(good) as server:
        made = embedder(server.url, tmp_path)
        made.fit(["pump", "valve"])
        assert made.dimensions == 3
        made.embed_passages(["pump", "valve"], {})
        assert embedder(server.url, dimensions=2).dimensions == 2
    assert [one.body["input"] for one in server.heard] == [["pump"], ["valve"]]


def test_shorter_vectors_are_asked_for_where_said():
    with serving(always(embeddings(["pump"], dimensions=2))) as server:
        assert embedder(server.url, dimensions=2).embed_passages(["pump"], {}).shape == (1, 2)
    assert server.heard[0].body["dimensions"] == 2


def test_vectors_in_base64_are_read():
    def packed(path: str, body: Body, call: int) -> Answer:
        del path, call
        row = base64.b64encode(np.array([1.5, -2.0], "<f4").tobytes()).decode()
        return Answer(
            body={"data": [{"index": place, "embedding": row} for place in range(len(body["input"]))]}
        )

    with serving(packed) as server:
        assert embedder(server.url).embed_queries(["pump"], {}).tolist() == [[1.5, -2.0]]


def test_a_batch_that_is_refused_is_halved_until_the_text_stands_alone():
    def refuses_long_texts(path: str, body: Body, call: int) -> Answer:
        if any(len(text) > 20 for text in body["input"]):
            return Answer(body={"error": {"message": "maximum context length is 20"}}, status=400)
        return good(path, body, call)

    with (
        serving(refuses_long_texts) as server,
        pytest.raises(
            EndpointError, match=r"maximum context length is 20; the text has 24 signs and begins 'long"
        ),
    ):
        embedder(server.url).embed_passages(["a", "b", "long " * 4 + "text", "d"], {})
    assert [len(one.body["input"]) for one in server.heard] == [4, 2, 2, 1]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"vectors": 1}, "has not the form of /v1/embeddings"),
        (
            {"data": [{"index": 0, "embedding": [1.0]}]},
            r"2 texts were sent, and the answer numbers them \[0\]",
        ),
        ({"data": [{"index": 0, "embedding": [1.0]}] * 2}, r"numbers them \[0, 0\]"),
        (
            {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]},
            r"different lengths: \[1, 2\]",
        ),
        (
            {"data": [{"index": place, "embedding": list[float]()} for place in (0, 1)]},
            "vector 0 of the answer is empty",
        ),
        ({"data": [{"index": place, "embedding": "%%"} for place in (0, 1)]}, "not base64"),
        ({"data": [{"index": place, "embedding": ["x"]} for place in (0, 1)]}, "form of /v1/embeddings"),
    ],
)
def test_an_answer_in_another_form_is_an_error_never_a_guess(body: object, message: str):
    with (
        serving(always(body)) as server,
        pytest.raises(EndpointError, match=message),
    ):
        embedder(server.url).embed_passages(["pump", "valve"], {})


def test_how_it_is_called_is_not_what_it_is():
    plain = OpenAISettings(model="m")
    faster = OpenAISettings(model="m", batch_size=7, retries=0, timeout_s=1, seed=3, key_env="OTHER")
    assert digest(plain) == digest(faster)
    assert digest(plain) != digest(OpenAISettings(model="m", query_prefix="ask: "))
    assert "OTHER" in msgspec.json.encode(faster).decode()
