"""Static vectors: a text is the mean of its tokens' vectors. No window, thousands of texts a second.

Two forms are read: the vectors that the package ``wordllama`` brings, and folders in the form of model2vec
(``model.safetensors`` and ``tokenizer.json``). Only the files are read; the packages' own code is not run:
wordllama's looks for its tokenizer in a folder where it is not, and then downloads it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import ConfigError, Fault
from assay.retrieval.models.folders import model_folder
from assay.retrieval.models.optional import load, package_folder
from assay.retrieval.models.protocols import State, Surroundings
from assay.retrieval.models.settings import WordLlamaSettings

_BLOCK = 256
"""Texts whose vectors are gathered at a time."""
_AT_ONCE = 512
"""Tokens whose vectors are summed at a time."""
_FEATURE, _EXTRA = "embedder 'wordllama'", "static"
_NAMES = ("embedding.weight", "embeddings")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticFiles:
    """Where the vectors and the tokenizer are."""

    vectors: Path
    tokenizer: Path


def files(settings: WordLlamaSettings, where: Surroundings) -> StaticFiles:
    """Return the files of a static model.

    Raises:
        MissingExtraError: a package is not installed.
        ConfigError: the folder does not hold them.
    """
    for module in ("safetensors", "tokenizers"):
        load(module, feature=_FEATURE, extra=_EXTRA)
    if settings.model is None:
        folder = package_folder("wordllama", feature=_FEATURE, extra=_EXTRA)
        return StaticFiles(
            vectors=folder / "weights" / "l2_supercat_256.safetensors",
            tokenizer=folder / "tokenizers" / "l2_supercat_tokenizer_config.json",
        )
    folder = model_folder(settings.model, where, weights=True)
    found = StaticFiles(vectors=folder / "model.safetensors", tokenizer=folder / "tokenizer.json")
    missing = [path.name for path in (found.vectors, found.tokenizer) if not path.is_file()]
    if missing:
        what = f"the folder {folder.name!r} has no {' and no '.join(missing)}"
        fix = "a static model in model2vec's form has both"
        raise ConfigError(Fault(where="[pipeline.embedder] model", what=what, fix=fix))
    return found


class StaticEmbedder:
    """See the page's head. A text without a known token has a row of zeros.

    Args:
        settings: resolved ones.
        where: the surroundings.
    """

    def __init__(self, settings: WordLlamaSettings, where: Surroundings) -> None:
        found = files(settings, where)
        tensors = cast(
            "dict[str, NDArray[Any]]",
            load("safetensors.numpy", feature=_FEATURE, extra=_EXTRA).load_file(str(found.vectors)),
        )
        name = next((name for name in _NAMES if name in tensors), None)
        if name is None:
            what = f"{found.vectors.name} holds {', '.join(sorted(tensors))}, and no {' or '.join(_NAMES)}"
            raise ConfigError(
                Fault(
                    where="[pipeline.embedder] model",
                    what=what,
                    fix="name a folder with a table of word vectors",
                )
            )
        self._vectors = np.ascontiguousarray(tensors[name].astype(np.float32))
        tokenizers = load("tokenizers", feature=_FEATURE, extra=_EXTRA)
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(found.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @property
    def dimensions(self) -> int:
        return self._vectors.shape[1]

    def fit(self, passages: Sequence[str]) -> State:
        """Nothing has to be learnt of the corpus."""
        del passages
        return {}

    def embed_passages(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        del state
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _BLOCK):
            self._embed(texts[start : start + _BLOCK], rows[start : start + _BLOCK])
        return rows

    def embed_queries(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        return self.embed_passages(texts, state)

    def _embed(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        clean = [text if text.isascii() else _SURROGATES.sub("\ufffd", text) for text in texts]
        encoded = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        ids: list[list[int]] = [one.ids for one in encoded]
        lengths = np.array([len(one) for one in ids], np.int64)
        order = np.argsort(lengths, kind="stable")
        bounds = [0, *(np.flatnonzero(np.diff(lengths[order])) + 1).tolist(), len(order)]
        for first, last in pairwise(bounds):
            length = int(lengths[order[first]])
            # Texts of one length are summed together, as many as fit into the processor's cache.
            step = max(1, _AT_ONCE // max(length, 1))
            for start in range(first, last if length else first, step):
                places: list[int] = order[start : min(start + step, last)].tolist()
                found = self._vectors.take([ids[place] for place in places], axis=0)
                rows[places] = found.sum(axis=1) / np.float32(length)
