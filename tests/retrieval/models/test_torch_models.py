"""The loading code of PyTorch's models: on MiniLM, and on a small cross-encoder that is made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.retrieval.models.protocols import Reporting
from assay.retrieval.models.registry import (
    make_embedder,
    make_reranker,
    resolve_embedder,
    resolve_reranker,
)
from assay.retrieval.models.settings import CrossEncoderSettings, SentenceTransformersSettings
from retrieval.models import bert_by_hand
from retrieval.models.candidates import candidates_of

pytestmark = [
    pytest.mark.peer,
    pytest.mark.filterwarnings("default"),  # what these packages warn of is theirs
]
TEXTS = ["How long do refunds take?", "Refunds reach the card within 14 days.", "word " * 300]


@pytest.fixture(scope="module")
def torch() -> Any:
    pytest.importorskip("sentence_transformers")
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def cross_encoder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder of two small layers with random weights, saved as the hub has them, and as ONNX."""
    transformers: Any = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("cross")
    tokenizer = transformers.BertTokenizerFast.from_pretrained(str(bert_by_hand.folder()))
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=64, num_labels=1, initializer_range=0.5,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config).eval()
    tokenizer.model_max_length = 64
    tokenizer.save_pretrained(str(folder))
    model.save_pretrained(str(folder))
    return folder


def test_minilm_by_sentence_transformers_gives_the_oracle_s_vectors(torch: Any):
    del torch
    folder = bert_by_hand.folder()
    settings = resolve_embedder(SentenceTransformersSettings(model=str(folder)))
    assert isinstance(settings, SentenceTransformersSettings)
    assert (settings.pooling, settings.max_length, settings.normalize) == ("mean", 256, True)
    embedder = make_embedder(settings)
    assert embedder.dimensions == 384
    rows = embedder.embed_passages([*TEXTS, " "], {})
    right = np.stack([bert_by_hand.embed(text) for text in TEXTS])
    assert (rows[:3] * right).sum(axis=1) == pytest.approx(1.0, abs=1e-4)
    assert not rows[3].any()
    assert isinstance(embedder, Reporting)
    report = embedder.take_report()
    assert (report.texts, report.cut, report.cut_tokens) == (4, (2,), 300 - 254)


def test_a_prefix_is_put_before_the_query_alone(torch: Any):
    del torch
    settings = SentenceTransformersSettings(model=str(bert_by_hand.folder()), query_prefix="ask: ")
    embedder = make_embedder(resolve_embedder(settings))
    assert embedder.embed_queries(["x"], {})[0] @ bert_by_hand.embed("ask: x") > 0.9999
    assert embedder.embed_passages(["x"], {})[0] @ bert_by_hand.embed("x") > 0.9999


def test_a_cross_encoder_gives_the_model_s_own_logits(torch: Any, cross_encoder: Path):
    transformers: Any = pytest.importorskip("transformers")
    settings = CrossEncoderSettings(model=str(cross_encoder), backend="sentence-transformers")
    resolved = resolve_reranker(settings)
    assert isinstance(resolved, CrossEncoderSettings)
    assert resolved.max_length == 64
    reranker = make_reranker(resolved)
    assert reranker is not None
    reply = reranker.rerank(TEXTS[0], *candidates_of(*TEXTS))
    tokenizer = transformers.BertTokenizerFast.from_pretrained(str(cross_encoder))
    model = transformers.BertForSequenceClassification.from_pretrained(str(cross_encoder)).eval()
    for place, text in enumerate(TEXTS):
        encoded = tokenizer(TEXTS[0], text, truncation=True, max_length=64, return_tensors="pt")
        with torch.no_grad():
            assert reply.scores[place] == pytest.approx(float(model(**encoded).logits[0, 0]), abs=1e-4)
    # [CLS] 7 pieces of the query [SEP] and [SEP] leave 54 words.
    assert reply.read == {2: len("word " * 54) - 1}
