"""Any model that the package sentence-transformers loads, on PyTorch; loaded only when settings name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.retrieval.models.folders import model_folder
from assay.retrieval.models.optional import load
from assay.retrieval.models.protocols import Surroundings
from assay.retrieval.models.settings import SentenceTransformersSettings
from assay.retrieval.models.windowed import Encoded, WindowedEmbedder

EXTRA = "sentence-transformers"


class SentenceTransformerEmbedder(WindowedEmbedder):
    """See the page's head.

    Args:
        settings: resolved ones.
        where: the surroundings.
    """

    def __init__(self, settings: SentenceTransformersSettings, where: Surroundings) -> None:
        super().__init__(settings)
        feature = "embedder 'sentence-transformers'"
        package = load("sentence_transformers", feature=feature, extra=EXTRA, package=EXTRA)
        torch = load("torch", feature=feature, extra=EXTRA)
        torch.set_num_threads(settings.threads)
        folder = model_folder(settings.model, where, weights=True)
        self._model: Any = package.SentenceTransformer(str(folder), device=settings.device)
        self._model.max_seq_length = settings.max_length
        self._model.default_prompt_name = None  # the prefixes are put there here, where they are counted
        self._batch_size = settings.batch_size

    def encode(self, texts: Sequence[str]) -> Encoded:
        rows = self._model.encode(
            list(texts),
            batch_size=self._batch_size,
            normalize_embeddings=bool(self.settings.normalize),
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        limit = self.settings.max_length or 0
        encoded = self._model.tokenizer(list(texts), truncation=False, verbose=False)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        return Encoded(
            rows=np.array(rows, np.float32),
            read=[min(length, limit) for length in lengths],
            lost=[max(length - limit, 0) for length in lengths],
        )
