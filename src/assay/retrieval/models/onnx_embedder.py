"""Embedders in ONNX Runtime: MiniLM from a package, bge-small and any other model from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models import minilm
from assay.retrieval.models.counting import Account
from assay.retrieval.models.encoder import Encoder, Tokens
from assay.retrieval.models.folders import model_folder, onnx_file
from assay.retrieval.models.optional import load
from assay.retrieval.models.protocols import ModelReport, State, Surroundings
from assay.retrieval.models.resolving import tokenizer_files
from assay.retrieval.models.settings import (
    BgeSettings,
    MiniLMSettings,
    OnnxSettings,
    Pooling,
    TextModelSettings,
)

_BLOCK = 256
"""Passages that are embedded between two words of progress."""


class OnnxEmbedder:
    """Pools the token vectors of an encoder. A text without a sign has a row of zeros.

    Args:
        settings: resolved ones.
        encoder: the model.
    """

    def __init__(self, settings: TextModelSettings, encoder: Encoder) -> None:
        self.settings = settings
        self._encoder = encoder
        self._account = Account()

    @property
    def block(self) -> int:
        return _BLOCK

    @cached_property
    def dimensions(self) -> int:
        """Length of its vectors: found by embedding a word, since not every file says it."""
        return self._vectors(self._encoder.tokens(["a"])).shape[1]

    def fit(self, passages: Sequence[str]) -> State:
        """Nothing has to be learnt of the corpus."""
        del passages
        return {}

    def embed_passages(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        del state
        return self._embed(texts, self.settings.passage_prefix or "")

    def embed_queries(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        del state
        return self._embed(texts, self.settings.query_prefix or "")

    def take_report(self) -> ModelReport:
        return self._account.take()

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        tokens = self._encoder.tokens([prefix + text for text in texts])
        rows = self._vectors(tokens)
        rows[[not text or text.isspace() for text in texts]] = 0
        cut = tuple(place for place, one in enumerate(tokens) if one.lost)
        self._account.add(
            ModelReport(
                texts=len(texts),
                tokens=sum(len(one.ids) for one in tokens),
                cut=cut,
                cut_tokens=sum(one.lost for one in tokens),
            )
        )
        return rows

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
