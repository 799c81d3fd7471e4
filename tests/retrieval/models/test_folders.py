from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.model.errors import ConfigError
from assay.retrieval.models import minilm
from assay.retrieval.models.folders import family_of, model_folder, read_facts
from assay.retrieval.models.onnx_embedder import OnnxEmbedder
from assay.retrieval.models.protocols import EmbedderSettings, Surroundings
from assay.retrieval.models.registry import make_embedder, resolve_embedder
from assay.retrieval.models.settings import BgeSettings, OnnxSettings
from retrieval.models import bert_by_hand
from retrieval.models.tiny_models import save_embedder


def resolved(settings: EmbedderSettings, where: Surroundings) -> Any:
    return resolve_embedder(settings, where)


@pytest.fixture
def minilm_folder(tmp_path: Path) -> Path:
    """A folder as the hub has it: MiniLM's 8-bit weights, and all that came with the full ones but those."""
    source = bert_by_hand.folder()
    folder = tmp_path / "bge-small-en-v1.5"
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").symlink_to(minilm.weights())
    for name in ("tokenizer.json", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((source / name).read_bytes())
    return folder


def test_a_folder_s_own_files_say_how_it_is_used(minilm_folder: Path):
    settings = resolved(OnnxSettings(model=str(minilm_folder), query_prefix=""), Surroundings())
    assert (settings.pooling, settings.normalize, settings.max_length) == ("mean", True, 256)
    found = make_embedder(settings).embed_queries(["How long do refunds take?"], {})[0]
    assert found @ bert_by_hand.embed("How long do refunds take?") > 0.999


def test_the_tokenizer_s_saved_padding_and_cut_are_not_used(minilm_folder: Path):
    # The file asks for 128 tokens, always: the model reads 256, and no padding is computed.
    assert json.loads((minilm_folder / "tokenizer.json").read_text())["truncation"]["max_length"] == 128
    text = " ".join(f"word{place}" for place in range(80))  # 160 pieces and more
    settings = resolved(OnnxSettings(model=str(minilm_folder), query_prefix=""), Surroundings())
    embedder = make_embedder(settings)
    assert isinstance(embedder, OnnxEmbedder)
    assert embedder.embed_passages([text], {})[0] @ bert_by_hand.embed(text) > 0.998
    assert embedder.take_report().cut == ()


def test_bge_s_settings_reach_the_model(minilm_folder: Path):
    settings = resolved(BgeSettings(model=str(minilm_folder)), Surroundings())
    assert (settings.pooling, settings.max_length, settings.passage_prefix) == ("cls", 512, "")
    assert settings.query_prefix == "Represent this sentence for searching relevant passages: "
    embedder = make_embedder(settings)
    query, passage = "How long do refunds take?", "Refunds take 14 days. " * 30
    right = bert_by_hand.embed(settings.query_prefix + query, pooling="cls", max_length=512)
    assert embedder.embed_queries([query], {})[0] @ right > 0.995
    right = bert_by_hand.embed(passage, pooling="cls", max_length=512)
    assert embedder.embed_passages([passage], {})[0] @ right > 0.995


def test_a_setting_that_is_given_wins_over_the_files(minilm_folder: Path):
    settings = resolved(
        OnnxSettings(
            model=str(minilm_folder), pooling="max", max_length=10, query_prefix="ask: ", normalize=False
        ),
        Surroundings(),
    )
    assert (settings.pooling, settings.max_length, settings.query_prefix) == ("max", 10, "ask: ")
    row = make_embedder(settings).embed_queries(["x"], {})[0]
    ids = bert_by_hand.tokenizer().encode("ask: x").ids
    right = bert_by_hand.hidden(ids).max(axis=0)
    assert row @ right / np.linalg.norm(row) / np.linalg.norm(right) > 0.999
    assert np.linalg.norm(row) > 1.5


@pytest.mark.parametrize(
    ("name", "query", "passage", "pooling"),
    [
        ("BAAI/bge-base-en-v1.5", "Represent this sentence for searching relevant passages: ", "", "cls"),
        ("intfloat/e5-small-v2", "query: ", "passage: ", "mean"),
        ("intfloat/multilingual-e5-base", "query: ", "passage: ", "mean"),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: ", "mean"),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", "", "cls"),
        ("sentence-transformers/all-MiniLM-L6-v2", "", "", "mean"),
        ("thenlper/gte-small", "", "", "mean"),
        ("Alibaba-NLP/gte-base-en-v1.5", "", "", "cls"),
    ],
)
def test_families_are_known_by_name(name: str, query: str, passage: str, pooling: str):
    family = family_of(name)
    assert family is not None
    assert (family.query_prefix, family.passage_prefix, family.pooling) == (query, passage, pooling)


def test_an_unknown_name_tells_no_family():
    assert family_of("acme/embedder") is None


def test_prompts_in_the_folder_win_over_the_family(tmp_path: Path):
    folder = save_embedder(tmp_path / "e5-small")
    prompts = {"prompts": {"query": "find: ", "document": "text: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    facts = read_facts(folder, "e5-small")
    assert (facts.query_prefix, facts.passage_prefix) == ("find: ", "text: ")


def test_the_window_is_read_from_the_nearest_file(tmp_path: Path):
    folder = save_embedder(tmp_path / "m")
    assert read_facts(folder, "m").max_length == 6
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 1000000000000000019884624838656}')
    assert read_facts(folder, "m").max_length == 6
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 5}')
    assert read_facts(folder, "m").max_length == 5
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    assert read_facts(folder, "m").max_length == 4


def test_a_folder_without_a_normalising_module_is_not_normalised(tmp_path: Path):
    folder = save_embedder(tmp_path / "m")
    assert read_facts(folder, "m").normalize
    (folder / "modules.json").write_text('[{"type": "sentence_transformers.models.Transformer"}]')
    assert not read_facts(folder, "m").normalize


def test_a_small_model_gives_what_a_hand_computes(tmp_path: Path):
    save_embedder(tmp_path / "tiny", pooling="mean")
    where = Surroundings(folder=tmp_path)
    embedder = make_embedder(resolved(OnnxSettings(model="tiny", normalize=False), where), where)
    # [CLS] pump valve [SEP] -> (0 + 1 + 2 + 0) / 4
    assert embedder.embed_passages(["pump valve"], {}).tolist() == [[0.75, 1.0, 0.0, 0.0]]


def test_a_model_that_pools_by_itself_is_taken_as_it_is(tmp_path: Path):
    folder = save_embedder(tmp_path / "tiny", pooled=True)
    embedder = make_embedder(resolved(OnnxSettings(model=str(folder), normalize=False), Surroundings()))
    assert embedder.embed_passages(["pump", "valve door"], {}).tolist() == [[0.0, 1.0, 0.0, 0.0]] * 2


def test_another_model_in_the_same_folder_is_another_digest(tmp_path: Path):
    folder = save_embedder(tmp_path / "tiny")
    first = resolved(OnnxSettings(model=str(folder)), Surroundings()).fingerprint
    assert resolved(OnnxSettings(model=str(folder)), Surroundings()).fingerprint == first
    save_embedder(folder, pooled=True)
    assert resolved(OnnxSettings(model=str(folder)), Surroundings()).fingerprint != first


def test_what_nobody_says_is_asked_for_not_guessed(tmp_path: Path):
    folder = save_embedder(tmp_path / "acme", pooling=None)
    (folder / "config.json").unlink()
    with pytest.raises(ConfigError) as caught:
        resolved(OnnxSettings(model=str(folder)), Surroundings())
    assert [fault.where for fault in caught.value.faults] == [
        "[pipeline.embedder] pooling",
        "[pipeline.embedder] max_length",
    ]


def test_a_folder_that_is_not_there_is_a_fault_with_its_fix(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"there is no folder '\./models/x'"):
        model_folder("./models/x", Surroundings(folder=tmp_path))


def test_a_folder_without_an_onnx_file_says_what_to_do(tmp_path: Path):
    folder = save_embedder(tmp_path / "tiny")
    (folder / "model.onnx").rename(folder / "model_fp16.onnx")
    with pytest.raises(ConfigError, match=r'fix: file = "model_fp16.onnx"'):
        resolved(OnnxSettings(model=str(folder)), Surroundings())
    assert resolved(OnnxSettings(model=str(folder), file="model_fp16.onnx"), Surroundings()).fingerprint


def test_a_folder_without_a_tokenizer_says_so(tmp_path: Path):
    folder = save_embedder(tmp_path / "tiny")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"has no tokenizer\.json"):
        resolved(OnnxSettings(model=str(folder)), Surroundings())


def test_a_file_that_is_no_model_is_a_fault(tmp_path: Path):
    folder = save_embedder(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"not a model")
    settings = resolved(OnnxSettings(model=str(folder)), Surroundings())
    with pytest.raises(ConfigError, match=r"ONNX Runtime cannot load model\.onnx"):
        make_embedder(settings)


def test_a_configuration_that_is_not_json_is_named(tmp_path: Path):
    folder = save_embedder(tmp_path / "tiny")
    (folder / "modules.json").write_text("[")
    with pytest.raises(ConfigError, match=r"modules\.json: this is not JSON"):
        resolved(OnnxSettings(model=str(folder)), Surroundings())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_that_the_hub_does_not_give_is_told(monkeypatch: pytest.MonkeyPatch):
    import huggingface_hub  # noqa: PLC0415 - what the package asks for is replaced

    def nothing(name: str, **_more: object) -> str:
        raise ConnectionError(f"no route to {name}")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", nothing)
    with pytest.raises(ConfigError) as caught:
        model_folder("owner/name", Surroundings())
    assert str(caught.value) == (
        "[pipeline.embedder] model: 'owner/name' is no folder here, and the hub did not give it: "
        "ConnectionError: no route to owner/name\n  fix: name a folder that holds its files"
    )
