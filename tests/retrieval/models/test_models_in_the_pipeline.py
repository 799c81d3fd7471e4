from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.model.documents import Chunk
from assay.model.errors import ConfigError, MissingExtraError
from assay.model.golden import Query
from assay.model.runs import Retrieved
from assay.retrieval.cache import Cache
from assay.retrieval.pipeline import Pipeline
from assay.retrieval.settings import digest, read_pipeline
from retrieval.models.stand_in import Answer, Body, embeddings, no_wait, serving
from retrieval.models.tiny_models import save_cross_encoder, save_embedder

TEXTS = ["pump valve", "door door red", "valve " * 20 + "pump", "red"]


def chunks(context: str = "") -> list[Chunk]:
    return [
        Chunk(
            id=f"d{place}#0-{len(text)}",
            doc_id=f"d{place}",
            start=0,
            end=len(text),
            text=text,
            context=context,
        )
        for place, text in enumerate(TEXTS)
    ]


QUERIES = [Query(id="q1", text="pump"), Query(id="q2", text="red red red red red red door")]


def pipeline(folder: Path, cache: Cache | None = None, **values: Any) -> Pipeline:
    settings = {"mmr": "off", "reranker": "none", "k": 2, "pool": 4, "depth": 4, **values}
    return Pipeline(read_pipeline(settings), chunks(), cache=cache, folder=folder)


def codes(found: Retrieved) -> list[str]:
    return [notice.code for notice in found.notices]


def test_a_model_folder_stands_beside_the_project_and_the_manifest_shows_what_was_used(tmp_path: Path):
    save_embedder(tmp_path / "models" / "tiny", pooling="mean")
    made = pipeline(tmp_path, embedder={"name": "onnx", "model": "models/tiny"})
    shown = made.describe()["embedder"]
    assert (shown["pooling"], shown["max_length"], shown["normalize"]) == ("mean", 6, True)
    assert (shown["query_prefix"], shown["passage_prefix"]) == ("", "")
    assert len(shown["fingerprint"]) == 16


def test_texts_that_the_window_cut_are_said_also_when_the_vectors_were_kept(tmp_path: Path):
    save_embedder(tmp_path / "tiny", pooling="mean")
    embedder = {"name": "onnx", "model": "tiny"}
    for _ in range(2):
        found = pipeline(tmp_path, Cache(tmp_path / "cache"), embedder=embedder).run(QUERIES)
        assert codes(found) == ["embedder-cut", "embedder-cut"]
        passages, queries = found.notices
        # 4 of a text's words are read beside the two signs: 21 - 4 of the third chunk are lost, 7 - 4 of q2.
        assert passages.ids == (chunks()[2].id,)
        assert "cut 1 of 4 chunks" in passages.text
        assert "17 tokens" in passages.text
        assert queries.ids == ("q2",)
        assert "3 tokens" in queries.text


def test_another_model_in_the_folder_is_embedded_again(tmp_path: Path):
    cache = Cache(tmp_path / "cache")
    save_embedder(tmp_path / "tiny", pooling="mean")
    first = pipeline(tmp_path, cache, embedder={"name": "onnx", "model": "tiny"})
    first.build()
    save_embedder(tmp_path / "tiny", pooling="mean", pooled=True)
    second = pipeline(tmp_path, cache, embedder={"name": "onnx", "model": "tiny"})
    second.build()
    assert cache.made["vectors"] == 2
    assert first.digest != second.digest


def test_threads_and_batches_are_not_in_the_digest():
    plain = read_pipeline({"embedder": "minilm"})
    assert digest(plain) == digest(
        read_pipeline({"embedder": {"name": "minilm", "threads": 7, "batch_tokens": 9}})
    )
    assert digest(plain) != digest(read_pipeline({"embedder": {"name": "minilm", "max_length": 128}}))


def test_the_window_of_a_reranker_and_how_far_it_read_are_on_record(tmp_path: Path):
    save_cross_encoder(tmp_path / "counts")
    reranker = {"name": "cross-encoder", "model": "counts"}
    third, first = chunks()[2].id, chunks()[0].id
    made = pipeline(tmp_path, reranker=reranker, vector=False)
    found = made.run(QUERIES[:1], watch={"q1": {third, first}})
    assert found.meta["reranker_window"] == {"max_length": 16, "special_tokens": 3}
    # [CLS] pump [SEP] and [SEP] leave 12 words; only chunks that were not read whole are named.
    assert found.meta["reranker_read"] == {"q1": {third: len("valve " * 12) - 1}}
    assert codes(found) == ["reranker-cut"]


def test_what_stands_before_a_chunk_does_not_count_as_read_of_it(tmp_path: Path):
    save_cross_encoder(tmp_path / "counts")
    settings = read_pipeline(
        {
            "reranker": {"name": "cross-encoder", "model": "counts"},
            "vector": False,
            "pool": 4,
            "k": 2,
            "depth": 4,
        }
    )
    third = chunks()[2].id
    made = Pipeline(settings, chunks("red red"), folder=tmp_path)
    found = made.run(QUERIES[:1], watch={"q1": {third}})
    assert found.meta["reranker_read"] == {"q1": {third: len("valve " * 10) - 1}}


def test_reranking_tells_its_progress(tmp_path: Path):
    save_cross_encoder(tmp_path / "counts")
    told: list[tuple[str, int, int]] = []
    made = pipeline(tmp_path, reranker={"name": "cross-encoder", "model": "counts"}, vector=False)
    made.run(QUERIES, progress=lambda what, done, of: told.append((what, done, of)))
    assert told == [("reranking", 0, 2), ("reranking", 1, 2)]


def test_a_model_is_loaded_once_for_all_pipelines_that_share_a_cache(tmp_path: Path):
    save_embedder(tmp_path / "tiny", pooling="mean")
    cache = Cache()
    for pool in (3, 4):
        pipeline(tmp_path, cache, embedder={"name": "onnx", "model": "tiny"}, pool=pool).run(QUERIES)
    assert cache.made["embedder"] == 1


def test_costs_of_servers_are_on_record_and_a_repeated_run_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("assay.retrieval.models.client._sleep", no_wait)

    def answer(path: str, body: Body, call: int) -> Answer:
        del path
        return Answer(body={}, status=503) if call == 0 else Answer(body=embeddings(body["input"]))

    with serving(answer) as server:
        embedder = {
            "name": "openai",
            "model": "m",
            "base_url": server.url,
            "key_env": "",
            "price_per_million_tokens": 1e6,
        }
        first = pipeline(tmp_path, Cache(tmp_path / "cache"), embedder=embedder).run(QUERIES)
        costs: Any = first.meta["costs"]
        # 2 + 3 + 21 + 1 words in one batch, after the first text was asked for alone and once in vain
        assert costs["passages"]["tokens"] == 27
        assert costs["passages"]["cost"] == 27
        assert costs["passages"]["retries"] == 1
        assert costs["queries"]["tokens"] == 8
        heard = len(server.heard)
        again = pipeline(tmp_path, Cache(tmp_path / "cache"), embedder=embedder).run(QUERIES)
        assert len(server.heard) == heard
    assert again.meta["costs"] == {"queries": {"kept": 2}}
    assert [table.scores.tobytes() for table in again.stages] == [
        table.scores.tobytes() for table in first.stages
    ]


def test_minilm_finds_what_words_do_not():
    texts = [
        "Refunds reach the card within 14 days of the return being scanned.",
        "Parcels leave the Rotterdam warehouse every weekday at six.",
        "Code E1207 means that the payment provider refused the card.",
    ]
    made = [
        Chunk(id=f"d{place}#0-{len(text)}", doc_id=f"d{place}", start=0, end=len(text), text=text)
        for place, text in enumerate(texts)
    ]
    settings = {"embedder": "minilm", "fulltext": False, "reranker": "maxsim", "mmr": "off"}
    found = Pipeline(read_pipeline(settings), made).run(
        [Query(id="q", text="How long until I get my money back?")]
    )
    assert found.chunks.ids[found.stages[-1].chunks[0]] == made[0].id
    assert found.meta["reranker_window"] == {"max_length": 256, "special_tokens": 2, "holds_query": False}
    assert found.meta["reranker_read"] == {}
    scores = found.stages[0].scores
    assert np.all(scores[:-1] >= scores[1:])


def test_a_model_that_is_not_there_is_said_before_anything_runs(tmp_path: Path):
    with pytest.raises(ConfigError, match="there is no folder"):
        pipeline(tmp_path, embedder={"name": "onnx", "model": "absent"})
    with pytest.raises(ConfigError, match="there is no folder"):
        pipeline(tmp_path, reranker={"name": "cross-encoder", "model": "absent"})


def test_a_model_that_nothing_uses_is_not_looked_for(tmp_path: Path):
    pipeline(tmp_path, embedder={"name": "onnx", "model": "absent"}, vector=False).build()


def test_a_missing_package_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.retrieval.models.optional.find_spec", lambda _: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] # stands in for a function of the library
    with pytest.raises(MissingExtraError, match=r"pip install 'retrieval-assay\[minilm\]'"):
        Pipeline(read_pipeline({"embedder": "minilm"}), chunks())


def test_unknown_settings_of_a_model_get_the_nearest_name():
    with pytest.raises(ConfigError, match="did you mean 'max_length'"):
        read_pipeline({"embedder": {"name": "minilm", "maxlength": 3}})
    with pytest.raises(ConfigError, match="'model' is missing"):
        read_pipeline({"embedder": {"name": "openai"}})
    with pytest.raises(ConfigError, match="did you mean 'minilm'"):
        read_pipeline({"embedder": "mini-lm"})
