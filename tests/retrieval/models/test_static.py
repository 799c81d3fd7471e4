from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from assay.model.errors import ConfigError
from assay.retrieval.models.protocols import Surroundings
from assay.retrieval.models.registry import make_embedder, resolve_embedder
from assay.retrieval.models.settings import WordLlamaSettings
from retrieval.models.tiny_models import WORDS, save_tokenizer

TEXTS = ["How long do refunds take?", "Refunds reach the card within 14 days.", "Größe, 北京 🙂", "x"]


def static_folder(folder: Path) -> Path:
    save_tokenizer(folder)
    rows = np.zeros((len(WORDS), 2), np.float32)
    rows[:, 0], rows[:, 1] = list(WORDS.values()), 1.0
    (folder / "model.safetensors").write_bytes(save({"embeddings": rows}))
    return folder


def test_the_vectors_are_those_that_the_package_itself_gives(tmp_path: Path):
    # The package looks for its tokenizer in another folder than where it lies.
    wordllama: Any = import_module("wordllama")  # it sets up logging when it is imported

    logging.getLogger().handlers.clear()
    source = Path(wordllama.__file__).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    (tmp_path / "tokenizer").mkdir()
    copy(source, tmp_path / "tokenizer" / source.name)
    try:
        package = wordllama.WordLlama.load(cache_dir=tmp_path, disable_download=True)
    except FileNotFoundError:
        (tmp_path / "tokenizers").mkdir()
        copy(source, tmp_path / "tokenizers" / source.name)
        package = wordllama.WordLlama.load(cache_dir=tmp_path, disable_download=True)
    own = make_embedder(resolve_embedder(WordLlamaSettings())).embed_passages(TEXTS, {})
    assert own == pytest.approx(np.asarray(package.embed(TEXTS)), abs=1e-5)


def test_a_text_is_the_mean_of_its_tokens(tmp_path: Path):
    where = Surroundings(folder=static_folder(tmp_path / "static").parent)
    settings = resolve_embedder(WordLlamaSettings(model="static"), where)
    embedder = make_embedder(settings, where)
    assert embedder.dimensions == 2
    # (1 + 2) / 2, and nothing for an empty text
    assert embedder.embed_passages(["pump valve", ""], {}).tolist() == [[1.5, 1.0], [0.0, 0.0]]
    # The tokenizer was saved with a cut at 8: there is no window here.
    assert embedder.embed_queries([" ".join(["door"] * 8 + ["pump"] * 8)], {}).tolist() == [[0.0, 1.0]]


def test_company_and_order_change_no_bit():
    embedder = make_embedder(resolve_embedder(WordLlamaSettings()))
    together = embedder.embed_passages(TEXTS, {})
    alone = np.concatenate([embedder.embed_passages([text], {}) for text in TEXTS])
    assert together.tobytes() == alone.tobytes()


def test_a_folder_without_vectors_says_what_is_missing(tmp_path: Path):
    folder = static_folder(tmp_path / "static")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"has no model\.safetensors"):
        resolve_embedder(WordLlamaSettings(model=str(folder)))


def test_vectors_under_another_name_are_a_fault(tmp_path: Path):
    folder = static_folder(tmp_path / "static")
    (folder / "model.safetensors").write_bytes(save({"weights": np.zeros((3, 2), np.float32)}))
    settings = resolve_embedder(WordLlamaSettings(model=str(folder)))
    with pytest.raises(ConfigError, match=r"holds weights, and no embedding\.weight or embeddings"):
        make_embedder(settings)


def test_the_digest_is_that_of_the_files(tmp_path: Path):
    folder = static_folder(tmp_path / "static")
    first = resolve_embedder(WordLlamaSettings(model=str(folder)))
    (folder / "model.safetensors").write_bytes(save({"embeddings": np.ones((len(WORDS), 2), np.float32)}))
    assert resolve_embedder(WordLlamaSettings(model=str(folder))) != first
