"""Embeddings from any server with OpenAI's ``/v1/embeddings``: OpenAI, vLLM, TEI, Ollama, LM Studio, ...

Texts go in batches; each answer is kept by the content of its question, so that a repeated run, or one that
was broken off, asks for nothing twice. A batch that the server refuses for what is in it is halved, until the
text that it does not take stands alone in the message.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models.client import EndpointError
from assay.retrieval.models.kept import key_of
from assay.retrieval.models.protocols import ModelReport, State, Surroundings
from assay.retrieval.models.served import Served
from assay.retrieval.models.settings import OpenAISettings

_FILE = "embeddings.sqlite"
_FEATURE = "embedder 'openai'"
_CHARS_A_TOKEN = 4
"""About: for the pace alone; what is counted is what the server says."""
_REFUSED = frozenset({400, 413, 422})
"""Answers that speak of what is in the batch."""


class _Row(msgspec.Struct):
    index: Annotated[int, msgspec.Meta(ge=0)]
    embedding: list[float] | str
    """Numbers, or 32-bit ones in base64."""


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    total_tokens: int = 0


class _Answer(msgspec.Struct):
    data: list[_Row]
    usage: _Usage | None = None


class EndpointEmbedder:
    """See the page's head.

    Args:
        settings: resolved ones.
        where: the surroundings; answers are kept in their cache.
    """

    def __init__(self, settings: OpenAISettings, where: Surroundings) -> None:
        self.settings = settings
        self._served = Served(
            settings, where, file=_FILE, feature=_FEATURE, tokens_per_minute=settings.tokens_per_minute
        )
        self._dimensions = settings.dimensions
        self._sample = "a"

    @property
    def block(self) -> int:
        return 4 * self.settings.batch_size

    @property
    def dimensions(self) -> int:
        """Length of its vectors: found by asking for the first passage, which is then kept."""
        if self._dimensions is None:
            self._dimensions = self._ask([self._sample]).shape[1]
        return self._dimensions

    def fit(self, passages: Sequence[str]) -> State:
        """Nothing has to be learnt of the corpus."""
        if len(passages):
            self._sample = self._prepared([passages[0]], self.settings.passage_prefix)[0]
        return {}

    def embed_passages(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        del state
        return self._embed(texts, self.settings.passage_prefix)

    def embed_queries(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        del state
        return self._embed(texts, self.settings.query_prefix)

    def take_report(self) -> ModelReport:
        return self._served.account.take()

    def _embed(self, texts: Sequence[str], prefix: str | None) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        rows = self._ask(self._prepared(texts, prefix))
        rows[[not text or text.isspace() for text in texts]] = 0
        most = self.settings.max_chars
        cut = () if most is None else tuple(place for place, text in enumerate(texts) if len(text) > most)
        self._served.account.add(ModelReport(texts=len(texts), cut=cut))
        return rows

    def _prepared(self, texts: Sequence[str], prefix: str | None) -> list[str]:
        # Servers refuse an empty text; its row is a row of zeros in any case.
        most = self.settings.max_chars
        return [(prefix or "") + (text[:most] if text and not text.isspace() else "-") for text in texts]

    def _ask(self, texts: Sequence[str]) -> NDArray[np.float32]:
        own = self.settings
        keys = {
            text: key_of("embedding", own.base_url, own.model, str(own.dimensions), text) for text in texts
        }
        held = self._served.kept.get(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in held]
        self._served.account.add(ModelReport(kept=len(keys) - len(missing)))
        for start in range(0, len(missing), own.batch_size):
            batch = missing[start : start + own.batch_size]
            made = {keys[text]: row.tobytes() for text, row in zip(batch, self._halving(batch), strict=True)}
            self._served.kept.put(made)
            held |= made
        rows = [np.frombuffer(held[keys[text]], np.float32) for text in texts]
        lengths = sorted({len(row) for row in rows})
        if len(lengths) > 1:
            raise EndpointError(f"{_FEATURE}: the server gave vectors of different lengths: {lengths}")
        return np.stack(rows)

    def _halving(self, batch: Sequence[str]) -> list[NDArray[np.float32]]:
        try:
            return self._batch(batch)
        except EndpointError as error:
            if error.status not in _REFUSED:
                raise
            if len(batch) == 1:
                text = " ".join(batch[0][:60].split())
                message = f"{error.reason}; the text has {len(batch[0]):,} signs and begins {text!r}"
                fix = "make smaller chunks, or name a model that takes longer texts"
                raise EndpointError(message, status=error.status, fix=fix) from None
        half = len(batch) // 2
        return [*self._halving(batch[:half]), *self._halving(batch[half:])]

    def _batch(self, batch: Sequence[str]) -> list[NDArray[np.float32]]:
        own = self.settings
        body: dict[str, object] = {"model": own.model, "input": list(batch), "encoding_format": "float"}
        if own.dimensions is not None:
            body["dimensions"] = own.dimensions
        about = sum(len(text) for text in batch) // _CHARS_A_TOKEN
        answer = _converted(self._served.post("/embeddings", body, tokens=about))
        usage = answer.usage or _Usage()
        self._served.paid(usage.total_tokens or usage.prompt_tokens)
        return _rows(answer, len(batch))


def _converted(said: object) -> _Answer:
    try:
        return msgspec.convert(said, _Answer)
    except msgspec.ValidationError as error:
        raise EndpointError(
            f"{_FEATURE}: the server's answer has not the form of /v1/embeddings: {error}"
        ) from None


def _rows(answer: _Answer, n_texts: int) -> list[NDArray[np.float32]]:
    """Return one row a text, in the order in which they were sent."""
    places = sorted(row.index for row in answer.data)
    if places != list(range(n_texts)):
        raise EndpointError(
            f"{_FEATURE}: {n_texts} texts were sent, and the answer numbers them {places[:8]}"
        )
    rows = {row.index: _numbers(row.embedding) for row in answer.data}
    for place, row in rows.items():
        if not len(row) or not np.isfinite(row).all():
            raise EndpointError(f"{_FEATURE}: vector {place} of the answer is empty or not finite")
    return [rows[place] for place in range(n_texts)]


def _numbers(embedding: list[float] | str) -> NDArray[np.float32]:
    if not isinstance(embedding, str):
        return np.array(embedding, np.float32)
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float32)
    except (binascii.Error, ValueError):
        raise EndpointError(f"{_FEATURE}: a vector of the answer is text, but not base64") from None
