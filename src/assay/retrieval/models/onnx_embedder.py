"""Embedders in ONNX Runtime: MiniLM from a package, bge-small and any other model from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models import minilm
from assay.retrieval.models.encoder import Encoder, Tokens
from assay.retrieval.models.folders import model_folder, onnx_file
from assay.retrieval.models.optional import load
from assay.retrieval.models.protocols import Surroundings
from assay.retrieval.models.resolving import tokenizer_files
from assay.retrieval.models.settings import (
    BgeSettings,
    MiniLMSettings,
    OnnxSettings,
    Pooling,
    TextModelSettings,
)
from assay.retrieval.models.windowed import Encoded, WindowedEmbedder


class OnnxEmbedder(WindowedEmbedder):
    """Pools the token vectors of an encoder.

    Args:
        settings: resolved ones.
        encoder: the model.
    """

    def __init__(self, settings: TextModelSettings, encoder: Encoder) -> None:
        super().__init__(settings)
        self._encoder = encoder

    def encode(self, texts: Sequence[str]) -> Encoded:
        tokens = self._encoder.tokens(texts)
        return Encoded(
            rows=self._vectors(tokens),
            read=[len(one.ids) for one in tokens],
            lost=[one.lost for one in tokens],
        )

    def _vectors(self, tokens: Sequence[Tokens]) -> NDArray[np.float32]:
        pooling = self.settings.pooling or "mean"
        rows = np.zeros((len(tokens), 0), np.float32)
        for places, hidden in self._encoder.run(tokens, rank=3):
            lengths = [len(tokens[place].ids) for place in places]
            found = hidden if hidden.ndim == 2 else pool(hidden, lengths, pooling)
            if not rows.shape[1]:
                rows = np.zeros((len(tokens), found.shape[1]), np.float32)
            rows[places] = found
        if self.settings.normalize:
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
        return rows


def pool(hidden: NDArray[np.float32], lengths: Sequence[int], pooling: Pooling) -> NDArray[np.float32]:
    """Return one vector a text: of its first token, the mean of its tokens, or the largest of each number.

    Args:
        hidden: texts x tokens x dimensions; what is beyond a text's length is padding.
        lengths: tokens of each text.
        pooling: which.

    >>> hidden = np.array([[[1.0, 5.0], [3.0, 1.0], [9.0, 9.0]]], np.float32)
    >>> [pool(hidden, [2], how).tolist()[0] for how in ("cls", "mean", "max")]
    [[1.0, 5.0], [2.0, 3.0], [3.0, 5.0]]
    """
    if pooling == "cls":
        return hidden[:, 0]
    rows = [row[:length] for row, length in zip(hidden, lengths, strict=True)]
    if pooling == "max":
        return np.stack([row.max(axis=0) for row in rows])
    return np.stack([row.mean(axis=0) for row in rows])


def make_minilm(settings: MiniLMSettings, where: Surroundings) -> OnnxEmbedder:
    """Return all-MiniLM-L6-v2 with its packaged 8-bit weights."""
    del where  # its files are in a package
    return OnnxEmbedder(
        settings, _encoder(settings, minilm.weights(), minilm.tokenizer(), extra=minilm.EXTRA)
    )


def make_onnx(settings: OnnxSettings | BgeSettings, where: Surroundings) -> OnnxEmbedder:
    """Return the model of a folder."""
    folder = model_folder(settings.model, where)
    tokenizers = load("tokenizers", feature=f"embedder {settings.name!r}", extra="onnx")
    tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer_files(folder)[0]))
    return OnnxEmbedder(settings, _encoder(settings, onnx_file(folder, settings.file), tokenizer))


make_bge = make_onnx


def _encoder(settings: TextModelSettings, file: Any, tokenizer: Any, *, extra: str = "onnx") -> Encoder:  # noqa: ANN401
    assert settings.max_length is not None  # it was resolved
    return Encoder(
        file,
        tokenizer,
        max_length=settings.max_length,
        threads=settings.threads,
        batch_tokens=settings.batch_tokens,
        feature=f"embedder {settings.name!r}",
        extra=extra,
    )
