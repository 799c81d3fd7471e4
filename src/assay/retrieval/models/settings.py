"""The knobs of the models that live in optional packages, in folders or behind endpoints.

What is None is filled in from the model's own files (``resolving.py``) before anything runs, so that the
manifest of a run shows what was really used.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from assay.retrieval.models.protocols import EmbedderSettings, RerankerSettings

Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0)]
Seconds = Annotated[float, Meta(gt=0)]
Pooling = Literal["mean", "cls", "max"]
_SPEED = frozenset({"threads", "batch_tokens"})


class TextModelSettings(EmbedderSettings, frozen=True, kw_only=True):
    """What every embedder with a tokenizer and a window has."""

    silent: ClassVar[frozenset[str]] = _SPEED
    pooling: Pooling | None = None
    """How the vectors of the tokens become one."""
    normalize: bool | None = None
    """Whether vectors are scaled to length 1 (the pipeline does so in any case)."""
    max_length: Count | None = None
    """How many tokens of a text are read, the model's own signs included."""
    query_prefix: str | None = None
    """What is put before a query."""
    passage_prefix: str | None = None
    """What is put before a passage."""
    fingerprint: str | None = None
    """Digest of the model's files; filled in."""
    threads: Count = 2
    batch_tokens: Count = 512
    """How many tokens are computed at a time; a single longer text goes alone."""


class MiniLMSettings(TextModelSettings, frozen=True, kw_only=True):
    """``[pipeline.embedder] name = "minilm"``: all-MiniLM-L6-v2 with 8-bit weights, from a package."""

    name: Literal["minilm"] = "minilm"
    pooling: Pooling | None = "mean"
    normalize: bool | None = True
    max_length: Annotated[int, Meta(ge=3, le=512)] | None = 256
    query_prefix: str | None = ""
    passage_prefix: str | None = ""


class OnnxSettings(TextModelSettings, frozen=True, kw_only=True):
    """``[pipeline.embedder] name = "onnx"``: a folder or hub id with an ONNX file and a tokenizer.json."""

    name: Literal["onnx"] = "onnx"
    model: str
    """A folder (relative to ``assay.toml``), or a hub id, which is downloaded."""
    file: str | None = None
    """The ONNX file below the folder; None: ``model.onnx`` or ``onnx/model.onnx``."""


class BgeSettings(TextModelSettings, frozen=True, kw_only=True):
    """``[pipeline.embedder] name = "bge-small"``: bge-small-en-v1.5, its settings as its makers say."""

    name: Literal["bge-small"] = "bge-small"
    model: str = "BAAI/bge-small-en-v1.5"
    """A folder with the model, or its hub id, which is downloaded."""
    file: str | None = None
    pooling: Pooling | None = "cls"
    normalize: bool | None = True
    max_length: Count | None = 512
    query_prefix: str | None = "Represent this sentence for searching relevant passages: "
    passage_prefix: str | None = ""


class SentenceTransformersSettings(TextModelSettings, frozen=True, kw_only=True):
    """``[pipeline.embedder] name = "sentence-transformers"``: any model that the package loads."""

    silent: ClassVar[frozenset[str]] = _SPEED | {"device", "batch_size"}
    name: Literal["sentence-transformers"] = "sentence-transformers"
    model: str
    """A folder (relative to ``assay.toml``), or a hub id, which is downloaded."""
    device: str = "cpu"
    batch_size: Count = 16


class WordLlamaSettings(EmbedderSettings, frozen=True, kw_only=True):
    """``[pipeline.embedder] name = "wordllama"``: the mean of static word vectors; no window."""

    name: Literal["wordllama"] = "wordllama"
    model: str | None = None
    """A folder with another static model (model2vec's form); None: the vectors that wordllama brings."""
    fingerprint: str | None = None
    """Digest of the model's files; filled in."""


class Endpoint(EmbedderSettings, frozen=True, kw_only=True):
    """What every client of a server has. Never the key itself: it is read from the environment."""

    timeout_s: Seconds = 60.0
    retries: Annotated[int, Meta(ge=0)] = 5
    """How often a call is made again after 408, 429, 5xx, a timeout or a lost connection."""
    requests_per_minute: Count | None = None
    price_per_million_tokens: Share | None = None
    """What a million tokens cost, in any currency, for the run's account."""
    seed: int = 0
    """Of the random part of the waits between retries."""


_CALLING = frozenset(
    {"timeout_s", "retries", "requests_per_minute", "price_per_million_tokens", "seed", "key_env"}
)


class OpenAISettings(Endpoint, frozen=True, kw_only=True):
    """``[pipeline.embedder] name = "openai"``: any server with OpenAI's ``/v1/embeddings``."""

    silent: ClassVar[frozenset[str]] = _CALLING | {"batch_size", "tokens_per_minute"}
    name: Literal["openai"] = "openai"
    model: str
    base_url: str = "https://api.openai.com/v1"
    key_env: str | None = "OPENAI_API_KEY"
    """Name of the environment variable with the key; None: the server asks for none."""
    dimensions: Count | None = None
    """Asks the server for shorter vectors; None: the model's own."""
    max_chars: Count | None = None
    """Longer texts are cut here, and counted; None: they are sent as they are."""
    query_prefix: str | None = None
    passage_prefix: str | None = None
    batch_size: Count = 64
    tokens_per_minute: Count | None = None


class CrossEncoderSettings(RerankerSettings, frozen=True, kw_only=True):
    """``[pipeline.reranker] name = "cross-encoder"``: reads query and passage together."""

    silent: ClassVar[frozenset[str]] = _SPEED | {"device"}
    name: Literal["cross-encoder"] = "cross-encoder"
    model: str
    """A folder (relative to ``assay.toml``), or a hub id, which is downloaded."""
    backend: Literal["onnx", "sentence-transformers"] = "onnx"
    file: str | None = None
    """The ONNX file below the folder; None: ``model.onnx`` or ``onnx/model.onnx``."""
    max_length: Count | None = None
    """Tokens of query and passage together, the model's own signs included."""
    fingerprint: str | None = None
    device: str = "cpu"
    threads: Count = 2
    batch_tokens: Count = 1024


class MaxSimSettings(RerankerSettings, frozen=True, kw_only=True):
    """``[pipeline.reranker] name = "maxsim"``: late interaction over MiniLM's token vectors."""

    silent: ClassVar[frozenset[str]] = _SPEED | {"keep_mb"}
    name: Literal["maxsim"] = "maxsim"
    max_length: Annotated[int, Meta(ge=3, le=512)] = 256
    """Tokens of a passage, the model's two signs included; the query is read apart."""
    fingerprint: str | None = None
    threads: Count = 2
    batch_tokens: Count = 512
    keep_mb: Count = 1024
    """How much of token vectors is kept on disk; the oldest go first."""


class RerankerEndpoint(RerankerSettings, frozen=True, kw_only=True):
    """What every reranker behind a server has."""

    model: str
    timeout_s: Seconds = 60.0
    retries: Annotated[int, Meta(ge=0)] = 5
    requests_per_minute: Count | None = None
    price_per_million_tokens: Share | None = None
    seed: int = 0


class RerankEndpointSettings(RerankerEndpoint, frozen=True, kw_only=True):
    """``[pipeline.reranker] name = "rerank-endpoint"``: Cohere's and Jina's form, or TEI's."""

    silent: ClassVar[frozenset[str]] = _CALLING
    name: Literal["rerank-endpoint"] = "rerank-endpoint"
    base_url: str
    """Up to the word before ``/rerank``: ``https://api.jina.ai/v1``."""
    form: Literal["cohere", "tei"] = "cohere"
    key_env: str | None = None


class ChatSettings(RerankerEndpoint, frozen=True, kw_only=True):
    """``[pipeline.reranker] name = "chat"``: a language model grades the passages, 0 to 10."""

    silent: ClassVar[frozenset[str]] = _CALLING
    name: Literal["chat"] = "chat"
    base_url: str = "https://api.openai.com/v1"
    key_env: str | None = "OPENAI_API_KEY"
    passages: Count = 10
    """How many are graded in one call."""
    max_chars: Count = 2000
    """How much of a passage is shown."""
    structured: bool = True
    """Whether the server is asked to hold the reply to the JSON schema."""
