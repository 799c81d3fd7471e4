"""The models that settings can name: one line each, imported when they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from assay.retrieval.models.hashing import HashingSettings
from assay.retrieval.models.lexical import LexicalSettings
from assay.retrieval.models.protocols import (
    Embedder,
    EmbedderSettings,
    Reranker,
    RerankerSettings,
    Surroundings,
)
from assay.retrieval.models.settings import (
    BgeSettings,
    ChatSettings,
    CrossEncoderSettings,
    MaxSimSettings,
    MiniLMSettings,
    OnnxSettings,
    OpenAISettings,
    RerankEndpointSettings,
    SentenceTransformersSettings,
    WordLlamaSettings,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderKind:
    """An embedder that settings can name."""

    settings: type[EmbedderSettings]
    place: str
    """``module:class``; the class takes its settings and, unless it is light, its surroundings."""
    light: bool = False
    """Whether it needs no package, file or network: it can be tried at any time."""
    resolve: str | None = None
    """``module:function``: settings and surroundings -> the settings with all that the model's files say
    filled in, and their content's digest. None: the settings say all there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerKind:
    """A reranker that settings can name."""

    settings: type[RerankerSettings]
    place: str | None
    """``module:class``; None: nothing is reranked."""
    light: bool = False
    resolve: str | None = None
    """As an embedder's."""


class NoReranker(RerankerSettings, frozen=True, kw_only=True):
    """The pool goes on in its own order."""

    name: str = "none"


_HERE = "assay.retrieval.models"
_RESOLVED = f"{_HERE}.resolving"

EMBEDDERS: Mapping[str, EmbedderKind] = {
    "hashing": EmbedderKind(settings=HashingSettings, place=f"{_HERE}.hashing:HashingEmbedder", light=True),
    "wordllama": EmbedderKind(
        settings=WordLlamaSettings,
        place=f"{_HERE}.static:StaticEmbedder",
        resolve=f"{_RESOLVED}:resolve_static",
    ),
    "minilm": EmbedderKind(
        settings=MiniLMSettings,
        place=f"{_HERE}.onnx_embedder:make_minilm",
        resolve=f"{_RESOLVED}:resolve_minilm",
    ),
    "bge-small": EmbedderKind(
        settings=BgeSettings,
        place=f"{_HERE}.onnx_embedder:make_bge",
        resolve=f"{_RESOLVED}:resolve_folder",
    ),
    "onnx": EmbedderKind(
        settings=OnnxSettings,
        place=f"{_HERE}.onnx_embedder:make_onnx",
        resolve=f"{_RESOLVED}:resolve_folder",
    ),
    "sentence-transformers": EmbedderKind(
        settings=SentenceTransformersSettings,
        place=f"{_HERE}.sentence_transformer:SentenceTransformerEmbedder",
        resolve=f"{_RESOLVED}:resolve_folder",
    ),
    "openai": EmbedderKind(
        settings=OpenAISettings,
        place=f"{_HERE}.endpoint:EndpointEmbedder",
        resolve=f"{_RESOLVED}:resolve_endpoint",
    ),
}
RERANKERS: Mapping[str, RerankerKind] = {
    "none": RerankerKind(settings=NoReranker, place=None, light=True),
    "lexical": RerankerKind(settings=LexicalSettings, place=f"{_HERE}.lexical:LexicalReranker", light=True),
    "cross-encoder": RerankerKind(
        settings=CrossEncoderSettings,
        place=f"{_HERE}.cross_encoder:make_cross_encoder",
        resolve=f"{_RESOLVED}:resolve_cross_encoder",
    ),
    "maxsim": RerankerKind(
        settings=MaxSimSettings,
        place=f"{_HERE}.maxsim:MaxSimReranker",
        resolve=f"{_RESOLVED}:resolve_minilm",
    ),
    "rerank-endpoint": RerankerKind(
        settings=RerankEndpointSettings, place=f"{_HERE}.rerank_endpoint:EndpointReranker"
    ),
    "chat": RerankerKind(settings=ChatSettings, place=f"{_HERE}.chat:ChatReranker"),
}
_NOWHERE = Surroundings()


def resolve_embedder(settings: EmbedderSettings, where: Surroundings = _NOWHERE) -> EmbedderSettings:
    """Return the settings with everything filled in that the model's own files say.

    Raises:
        InputError: a package is missing, or the model is not where the settings say, or does not fit them.

    >>> resolve_embedder(HashingSettings()) == HashingSettings()
    True
    """
    place = EMBEDDERS[settings.name].resolve
    return settings if place is None else cast("EmbedderSettings", _load(place)(settings, where))


def resolve_reranker(settings: RerankerSettings, where: Surroundings = _NOWHERE) -> RerankerSettings:
    """Return the settings with everything filled in that the model's own files say.

    Raises:
        InputError: a package is missing, or the model is not where the settings say, or does not fit them.
    """
    place = RERANKERS[settings.name].resolve
    return settings if place is None else cast("RerankerSettings", _load(place)(settings, where))


def make_embedder(settings: EmbedderSettings, where: Surroundings = _NOWHERE) -> Embedder:
    """Return the embedder that the settings (resolved ones) name.

    >>> make_embedder(HashingSettings(dimensions=64)).dimensions
    64
    """
    kind = EMBEDDERS[settings.name]
    make = _load(kind.place)
    return cast("Embedder", make(settings) if kind.light else make(settings, where))


def make_reranker(settings: RerankerSettings, where: Surroundings = _NOWHERE) -> Reranker | None:
    """Return the reranker that the settings (resolved ones) name, or None for ``none``."""
    kind = RERANKERS[settings.name]
    if kind.place is None:
        return None
    make = _load(kind.place)
    return cast("Reranker", make(settings) if kind.light else make(settings, where))


def _load(place: str) -> Callable[..., object]:
    module, name = place.split(":")
    return cast("Callable[..., object]", getattr(import_module(module), name))
