from __future__ import annotations

import numpy as np
import pytest

from assay.retrieval.models import minilm
from assay.retrieval.models.onnx_embedder import OnnxEmbedder
from assay.retrieval.models.registry import make_embedder, resolve_embedder
from assay.retrieval.models.settings import MiniLMSettings
from retrieval.models import bert_by_hand
from shared_data import DATASETS, needs_shared

TEXTS = [
    "How long do refunds take?",
    "Refunds reach the card within 14 days of the return being scanned.",
    "The reranker's window ends after 256 word pieces; what stands beyond it is not read.",
    "Größe, naïve, 北京, emoji 🙂 and a very-long-hyphenated-word",
    "E1207",
    "a " * 400,
]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    made = make_embedder(resolve_embedder(MiniLMSettings()))
    assert isinstance(made, OnnxEmbedder)
    return made


def test_the_eight_bit_weights_give_the_vectors_of_full_precision(embedder: OnnxEmbedder):
    right = np.stack([bert_by_hand.embed(text) for text in TEXTS])
    cosines = (embedder.embed_passages(TEXTS, {}) * right).sum(axis=1)
    # 0.9995 was measured by others over prose; a single code word of four pieces is farther off.
    assert cosines.min() > 0.998
    assert cosines.mean() > 0.999


@needs_shared
def test_over_prose_the_cosine_to_full_precision_is_0_9995(embedder: OnnxEmbedder):
    text = (DATASETS / "chroma-chunking" / "corpora" / "state_of_the_union.md").read_text(encoding="utf-8")
    texts = [text[start : start + 400] for start in range(0, 4_800, 800)]
    right = np.stack([bert_by_hand.embed(part) for part in texts])
    assert (embedder.embed_passages(texts, {}) * right).sum(axis=1).mean() == pytest.approx(0.9995, abs=4e-4)


def test_our_tokenizer_cuts_as_the_model_s_own():
    own, right = minilm.tokenizer(), bert_by_hand.tokenizer()
    texts = [
        *TEXTS,
        "[CLS] [MASK] tab\there",
        "\u00adsoft\u200b zero ﬁ ligature",
        "x" * 300,
        "",
        "don't—stop…",
    ]
    for text in texts:
        assert own.encode(text).ids == right.encode(text).ids
        assert own.encode("a question", text).type_ids == right.encode("a question", text).type_ids


def test_vectors_have_length_1_and_384_numbers(embedder: OnnxEmbedder):
    rows = embedder.embed_queries(TEXTS, {})
    assert embedder.dimensions == 384
    assert rows.shape == (len(TEXTS), 384)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_a_text_has_the_same_vector_whatever_its_company(embedder: OnnxEmbedder):
    together = embedder.embed_passages(TEXTS, {})
    for text, row in zip(TEXTS, together, strict=True):
        assert embedder.embed_passages([text], {})[0] == pytest.approx(row, abs=1e-6)
    shuffled = embedder.embed_passages(TEXTS[::-1], {})[::-1]
    assert shuffled == pytest.approx(together, abs=1e-6)


def test_threads_change_no_bit():
    one, two = (
        make_embedder(resolve_embedder(MiniLMSettings(threads=threads))).embed_passages(TEXTS, {})
        for threads in (1, 2)
    )
    assert one.tobytes() == two.tobytes()


def test_a_text_without_a_sign_has_a_row_of_zeros(embedder: OnnxEmbedder):
    rows = embedder.embed_queries(["", " \n\t", "word"], {})
    assert [bool(row.any()) for row in rows] == [False, False, True]
    assert embedder.embed_passages([], {}).shape == (0, 384)


def test_halves_of_characters_are_read_as_replacement_signs(embedder: OnnxEmbedder):
    broken, replaced = embedder.embed_passages(["pump \ud83d leaks", "pump \ufffd leaks"], {})
    assert broken.tobytes() == replaced.tobytes()


def test_what_the_window_cuts_is_counted(embedder: OnnxEmbedder):
    embedder.take_report()
    # "a " * 400 is 400 pieces; 254 of them are read beside [CLS] and [SEP].
    embedder.embed_passages(["short", "a " * 400], {})
    embedder.embed_passages(["a " * 254, "a " * 255], {})
    report = embedder.take_report()
    assert (report.texts, report.cut, report.cut_tokens) == (4, (1, 3), 146 + 1)
    assert report.tokens == 3 + 256 + 256 + 256
    assert embedder.take_report().texts == 0


def test_the_window_can_be_chosen():
    narrow = make_embedder(resolve_embedder(MiniLMSettings(max_length=8)))
    text = "one two three four five six seven eight nine"
    assert narrow.embed_passages([text], {})[0] == pytest.approx(
        make_embedder(resolve_embedder(MiniLMSettings())).embed_passages(["one two three four five six"], {})[
            0
        ],
        abs=1e-6,
    )


def test_the_weights_are_in_the_digest():
    resolved = resolve_embedder(MiniLMSettings())
    assert isinstance(resolved, MiniLMSettings)
    # The first 16 digits of the SHA-256 that the package itself gives for its file.
    assert resolved.fingerprint == "8199be6f699a395f"
