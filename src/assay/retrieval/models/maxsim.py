"""MaxSim, the late-interaction reranker: every word of the query finds its best word in the passage.

Query and passage are embedded apart by MiniLM, a vector a token. The score is the mean, over the tokens of
the query, of the largest cosine to a token of the passage; the model's own signs (``[CLS]``, ``[SEP]``) take
no part. It needs no further weights than the embedder's, and no training for ranking: it stands between a
lexical reranker and a cross-encoder, and is neither.

The token vectors of passages are kept by content, 16 bits a number, so that each is computed once. They are
read as they are kept, so that the first run and the second give the same scores.

Source: Khattab and Zaharia, ColBERT (2020), section 3.2, here the mean in place of the sum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models import minilm
from assay.retrieval.models.counting import Account
from assay.retrieval.models.cross_encoder import passages_of
from assay.retrieval.models.encoder import Encoder
from assay.retrieval.models.kept import Kept, key_of
from assay.retrieval.models.protocols import Candidates, ModelReport, Reply, Surroundings, Window
from assay.retrieval.models.settings import MaxSimSettings

_FILE = "maxsim.sqlite"
_WHOLE = -1
"""In place of the signs that were read: all of them."""


class MaxSimReranker:
    """See the page's head.

    Args:
        settings: resolved ones.
        where: the surroundings.
    """

    def __init__(self, settings: MaxSimSettings, where: Surroundings) -> None:
        feature = "reranker 'maxsim'"
        self.settings = settings
        self._encoder = Encoder(
            minilm.weights(feature),
            minilm.tokenizer(feature),
            max_length=settings.max_length,
            threads=settings.threads,
            batch_tokens=settings.batch_tokens,
            feature=feature,
            extra=minilm.EXTRA,
        )
        path = None if where.cache is None else where.cache / _FILE
        self._kept = Kept(path, max_bytes=settings.keep_mb << 20)
        self._account = Account()

    @property
    def window(self) -> Window | None:
        return Window(max_length=self.settings.max_length, special_tokens=2, holds_query=False)

    def take_report(self) -> ModelReport:
        return self._account.take()

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:
        """Score every candidate; 0 where the query or the passage has no token."""
        scores = np.zeros(len(positions))
        passages = passages_of(positions, candidates)
        asked = _unit_rows(self._encode([query])[0][1])
        packed = self._passages(passages)
        read: dict[int, int] = {}
        for place, passage in enumerate(passages):
            signs, rows = packed[passage]
            if signs != _WHOLE:
                read[place] = signs
            if len(rows) and len(asked):
                # One passage at a time: a product of all at once could differ in its last bits.
                best = (asked @ rows.astype(np.float32).T).max(axis=1)
                scores[place] = best.mean(dtype=np.float64)
        self._account.add(ModelReport(texts=len(passages), cut=tuple(read)))
        return Reply(places=np.arange(len(positions), dtype=np.int64), scores=scores, read=read)

    def _passages(self, passages: Sequence[str]) -> dict[str, tuple[int, NDArray[np.float16]]]:
        """Return, for each passage, how many signs were read and one unit row a token."""
        own = self.settings
        keys = {text: key_of(own.fingerprint or "", str(own.max_length), text) for text in passages}
        kept = self._kept.get(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in kept]
        made: dict[bytes, bytes] = {}
        for text, (signs, rows) in zip(missing, self._encode(missing), strict=True):
            made[keys[text]] = np.int64(signs).tobytes() + _unit_rows(rows).astype(np.float16).tobytes()
        self._kept.put(made)
        held = kept | made
        return {text: _unpacked(held[key]) for text, key in keys.items()}

    def _encode(self, texts: Sequence[str]) -> list[tuple[int, NDArray[np.float32]]]:
        found: list[tuple[int, NDArray[np.float32]]] = [(0, np.zeros((0, 0), np.float32))] * len(texts)
        tokens = self._encoder.tokens(texts)
        for places, hidden in self._encoder.run(tokens, rank=3):
            for row, place in enumerate(places):
                one = tokens[place]
                signs = _WHOLE if one.read is None else one.read
                found[place] = signs, hidden[row, 1 : len(one.ids) - 1]
        return found


def _unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))


def _unpacked(value: bytes) -> tuple[int, NDArray[np.float16]]:
    (signs,) = np.frombuffer(value[:8], np.int64)
    return int(signs), np.frombuffer(value[8:], np.float16).reshape(-1, minilm.DIMENSIONS)
