"""What every embedder with a tokenizer and a window has: prefixes, zeros for empty texts, and the account."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models.counting import Account
from assay.retrieval.models.protocols import ModelReport, State
from assay.retrieval.models.settings import TextModelSettings

_BLOCK = 256
"""Passages that are embedded between two words of progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """Texts as a model read them."""

    rows: NDArray[np.float32]
    """One vector a text."""
    read: Sequence[int]
    """Tokens of each text that were read."""
    lost: Sequence[int]
    """Tokens of each text that lay beyond the window."""


class WindowedEmbedder(ABC):
    """Makes vectors by a model that learns nothing of the corpus; a text without a sign has a row of zeros.

    Args:
        settings: resolved ones.
    """

    def __init__(self, settings: TextModelSettings) -> None:
        self.settings = settings
        self._account = Account()

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of texts that have their prefixes."""

    @property
    def block(self) -> int:
        return _BLOCK

    @cached_property
    def dimensions(self) -> int:
        """Length of its vectors: found by embedding a word, since not every file says it."""
        return int(self.encode(["a"]).rows.shape[1])

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
        encoded = self.encode([prefix + text for text in texts])
        rows = encoded.rows
        rows[[not text or text.isspace() for text in texts]] = 0
        self._account.add(
            ModelReport(
                texts=len(texts),
                tokens=sum(encoded.read),
                cut=tuple(place for place, lost in enumerate(encoded.lost) if lost),
                cut_tokens=sum(encoded.lost),
            )
        )
        return rows
