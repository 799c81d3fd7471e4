"""Any model that the package sentence-transformers loads, on PyTorch; loaded only when settings name it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models.counting import Account
from assay.retrieval.models.folders import model_folder
from assay.retrieval.models.optional import load
from assay.retrieval.models.protocols import ModelReport, State, Surroundings
from assay.retrieval.models.settings import SentenceTransformersSettings

EXTRA = "sentence-transformers"
_BLOCK = 256


class SentenceTransformerEmbedder:
    """See the page's head.

    Args:
        settings: resolved ones.
        where: the surroundings.
    """

    def __init__(self, settings: SentenceTransformersSettings, where: Surroundings) -> None:
        feature = "embedder 'sentence-transformers'"
        package = load("sentence_transformers", feature=feature, extra=EXTRA, package=EXTRA)
        torch = load("torch", feature=feature, extra=EXTRA)
        torch.set_num_threads(settings.threads)
        folder = model_folder(settings.model, where, weights=True)
        self.settings = settings
        self._model: Any = package.SentenceTransformer(str(folder), device=settings.device)
        self._model.max_seq_length = settings.max_length
        self._model.default_prompt_name = None  # the prefixes are put there here, where they are counted
        self._account = Account()

    @property
    def block(self) -> int:
        return _BLOCK

    @cached_property
    def dimensions(self) -> int:
        return int(self._encode(["a"]).shape[1])

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
        prefixed = [prefix + text for text in texts]
        rows = self._encode(prefixed)
        rows[[not text or text.isspace() for text in texts]] = 0
        limit = self.settings.max_length or 0
        encoded = self._model.tokenizer(prefixed, truncation=False, verbose=False)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        self._account.add(
            ModelReport(
                texts=len(texts),
                tokens=sum(min(length, limit) for length in lengths),
                cut=tuple(place for place, length in enumerate(lengths) if length > limit),
                cut_tokens=sum(max(length - limit, 0) for length in lengths),
            )
        )
        return rows

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = self._model.encode(
            list(texts),
            batch_size=self.settings.batch_size,
            normalize_embeddings=bool(self.settings.normalize),
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.array(found, np.float32)
