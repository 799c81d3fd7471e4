"""The hashing embedder: vectors from the signs of a text alone, without a model or a network.

A text is the sum of its features. Each feature is a 64-bit number; it adds its weight, with the sign of its
lowest bit, to the dimension that its other bits name (signed feature hashing: what collides cancels on
average). The features of a text are

- every content word, and its stem (``word_weight``, ``stem_weight``);
- the runs of ``min_ngram`` to ``max_ngram`` signs of every content word with its two edges marked, which
  together weigh ``ngram_weight``: they tie ``retriever`` to ``retrieval``, and a misspelt word to its own;
- every pair of neighbouring content words (``bigram_weight``).

A word or a pair that stands n times counts 1 + ln n times. With ``idf`` every word is also weighed by how
rare it is among the chunks: the corpus is then a part of the embedding, and is kept in the index.
A text of stop words alone is embedded by them; a text without a word is a row of zeros.

Source: Weinberger et al., Feature hashing for large scale multitask learning (2009); the runs of signs after
Bojanowski et al., Enriching word vectors with subword information (2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Annotated, Literal, cast

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from assay.model.words import STOP_WORDS, stem, words
from assay.retrieval.models.protocols import EmbedderSettings, State

_BLOCK = 2048
"""Texts that are embedded at a time."""
_WORD, _STEM, _PAIR, _RUN = (np.uint64(salt) for salt in (0x9E37, 0xC2B2, 0x1656, 0x27D4))
"""Keep the kinds of features apart: the word ``embed`` is not the stem ``embed``."""

Weight = Annotated[float, Meta(ge=0)]


class HashingSettings(EmbedderSettings, frozen=True, kw_only=True):
    """``[pipeline.embedder] name = "hashing"``."""

    name: Literal["hashing"] = "hashing"
    dimensions: Annotated[int, Meta(ge=1)] = 1024
    word_weight: Weight = 0.5
    stem_weight: Weight = 1.0
    bigram_weight: Weight = 0.4
    ngram_weight: Weight = 0.5
    min_ngram: Annotated[int, Meta(ge=1)] = 3
    max_ngram: Annotated[int, Meta(ge=0)] = 5
    """Below ``min_ngram``: no runs of signs."""
    idf: bool = False
    """Whether words are weighed by their rarity in the corpus."""


@dataclass(frozen=True, slots=True)
class HashingEmbedder:
    """See the page's head."""

    settings: HashingSettings

    @property
    def dimensions(self) -> int:
        return self.settings.dimensions

    def fit(self, passages: Sequence[str]) -> State:
        """Return nothing, or with ``idf`` the stems' hashes, sorted, and their weights."""
        if not self.settings.idf:
            return {}
        counts: dict[str, int] = {}
        for text in passages:
            for term in set(map(stem, _features_of(text))):
                counts[term] = counts.get(term, 0) + 1
        hashes = _hashes(list(counts))
        n = np.fromiter(counts.values(), np.float64, len(counts))
        order = np.argsort(hashes, kind="stable")
        return {"hashes": hashes[order], "idf": np.log1p((len(passages) - n + 0.5) / (n + 0.5))[order]}

    def embed_passages(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        """Return one row a text."""
        blocks = [self._embed(texts[start : start + _BLOCK], state) for start in range(0, len(texts), _BLOCK)]
        return np.concatenate(blocks) if blocks else np.zeros((0, self.dimensions), np.float32)

    def embed_queries(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        """Return one row a text: a query is embedded as a passage is."""
        return self.embed_passages(texts, state)

    def _embed(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        tokens = [_features_of(text) for text in texts]
        lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
        # Sorted, so that a text's features are summed in one order whatever texts stand beside it.
        vocabulary = sorted(set(chain.from_iterable(tokens)))
        number = {word: place for place, word in enumerate(vocabulary)}
        flat = np.fromiter(map(number.__getitem__, chain.from_iterable(tokens)), np.int64, int(lengths.sum()))
        rows = np.repeat(np.arange(len(tokens)), lengths)
        stems = _hashes([stem(word) for word in vocabulary])
        rarity = _rarity(stems, state)
        features = self._word_features(vocabulary, stems)
        vectors = np.zeros(len(tokens) * self.dimensions)
        self._add_words(vectors, rows, flat, rarity, features)
        self._add_pairs(vectors, rows, flat, rarity, stems)
        return _unit(vectors.reshape(len(tokens), self.dimensions))

    def _word_features(self, vocabulary: list[str], stems: NDArray[np.uint64]) -> _Features:
        own = self.settings
        everyone = np.arange(len(vocabulary))
        parts = [
            (everyone, _mixed(_hashes(vocabulary), _WORD), np.full(len(vocabulary), own.word_weight)),
            (everyone, _mixed(stems, _STEM), np.full(len(vocabulary), own.stem_weight)),
        ]
        if own.ngram_weight and own.max_ngram >= own.min_ngram:
            word, hashes = _sign_runs(vocabulary, own.min_ngram, own.max_ngram)
            runs = np.bincount(word, minlength=len(vocabulary))
            parts.append((word, hashes, (own.ngram_weight / np.sqrt(np.maximum(runs, 1)))[word]))
        word, hashes, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.argsort(word, kind="stable")
        places, signed = self._placed(hashes[order], weights[order])
        return _Features(
            starts=np.searchsorted(word[order], np.arange(len(vocabulary) + 1)), places=places, weights=signed
        )

    def _add_words(
        self,
        vectors: NDArray[np.float64],
        rows: NDArray[np.int64],
        flat: NDArray[np.int64],
        rarity: NDArray[np.float64],
        features: _Features,
    ) -> None:
        n_words = len(features.starts) - 1
        keys, counts = np.unique(rows * max(n_words, 1) + flat, return_counts=True)
        row, word = np.divmod(keys, max(n_words, 1))
        strength = (1.0 + np.log(counts)) * rarity[word]
        fan = features.starts[word + 1] - features.starts[word]
        at = np.arange(int(fan.sum())) + np.repeat(features.starts[word] - np.cumsum(fan) + fan, fan)
        places = np.repeat(row * self.dimensions, fan) + features.places[at]
        vectors += np.bincount(places, features.weights[at] * np.repeat(strength, fan), len(vectors))

    def _add_pairs(
        self,
        vectors: NDArray[np.float64],
        rows: NDArray[np.int64],
        flat: NDArray[np.int64],
        rarity: NDArray[np.float64],
        stems: NDArray[np.uint64],
    ) -> None:
        if not self.settings.bigram_weight or len(flat) < 2:
            return
        together = rows[1:] == rows[:-1]
        left, right, row = flat[:-1][together], flat[1:][together], rows[1:][together]
        n_words = len(rarity)
        pairs, pair = np.unique(left * n_words + right, return_inverse=True)
        keys, counts = np.unique(row * max(len(pairs), 1) + pair, return_counts=True)
        row, pair = np.divmod(keys, max(len(pairs), 1))
        left, right = np.divmod(pairs, n_words)
        hashes = _mixed(_mixed(stems[left], _PAIR) + stems[right], _PAIR)
        weights = self.settings.bigram_weight * (rarity[left] + rarity[right]) / 2.0
        places, signed = self._placed(hashes, weights)
        vectors += np.bincount(
            row * self.dimensions + places[pair], signed[pair] * (1.0 + np.log(counts)), len(vectors)
        )

    def _placed(
        self, hashes: NDArray[np.uint64], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        places = ((hashes >> np.uint64(1)) % np.uint64(self.dimensions)).astype(np.int64)
        return places, np.where(hashes & np.uint64(1), weights, -weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Features:
    """The features of each word of a block."""

    starts: NDArray[np.int64]
    """n_words + 1 values: the features of word ``i`` are ``places[starts[i]:starts[i + 1]]``."""
    places: NDArray[np.int64]
    weights: NDArray[np.float64]


def _features_of(text: str) -> list[str]:
    found = words(text)
    return [word for word in found if word not in STOP_WORDS] or found


def _hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Return a stable 64-bit number for each text."""
    joined = b"".join(blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)


def _mixed(values: NDArray[np.uint64], salt: np.uint64) -> NDArray[np.uint64]:
    """Scatter 64-bit numbers over all 64-bit numbers (the finaliser of splitmix64)."""
    mixed = values + salt * np.uint64(0x79B9_7F4A_7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _sign_runs(
    vocabulary: Sequence[str], shortest: int, longest: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return (word, hash) of every run of signs inside every word, edges marked ``<`` and ``>``."""
    signs = np.frombuffer("".join(f"<{word}>" for word in vocabulary).encode("utf-32-le"), dtype="<u4")
    lengths = np.fromiter((len(word) + 2 for word in vocabulary), np.int64, len(vocabulary))
    word = np.repeat(np.arange(len(vocabulary)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(word))  # signs from here to the word's end
    rolling = np.zeros(len(word), np.uint64)
    found_words: list[NDArray[np.int64]] = []
    found_hashes: list[NDArray[np.uint64]] = []
    for size in range(1, longest + 1):
        usable = max(len(word) - size + 1, 0)
        rolling = _mixed(rolling[:usable] + signs[size - 1 : size - 1 + usable], _RUN)
        if size >= shortest:
            inside = left[:usable] >= size
            found_words.append(word[:usable][inside])
            found_hashes.append(rolling[inside])
    return np.concatenate(found_words), np.concatenate(found_hashes)


def _rarity(stems: NDArray[np.uint64], state: State) -> NDArray[np.float64]:
    """Return the idf of each stem; a stem that the corpus lacks is as rare as the rarest."""
    if not state:
        return np.ones(len(stems))
    hashes, idf = state["hashes"], cast("NDArray[np.float64]", state["idf"])
    if not len(hashes):
        return np.ones(len(stems))
    at = np.minimum(np.searchsorted(hashes, stems), len(hashes) - 1)
    return np.where(hashes[at] == stems, idf[at], idf.max())


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
