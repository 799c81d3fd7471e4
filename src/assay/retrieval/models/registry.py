"""The models that settings can name: one line each, imported when they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from assay.retrieval.models.hashing import HashingSettings
from assay.retrieval.models.lexical import LexicalSettings
from assay.retrieval.models.protocols import Embedder, EmbedderSettings, Reranker, RerankerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderKind:
    """An embedder that settings can name."""

    settings: type[EmbedderSettings]
    place: str
    """``module:class``; the class takes its settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerKind:
    """A reranker that settings can name."""

    settings: type[RerankerSettings]
    place: str | None
    """``module:class``; None: nothing is reranked."""


class NoReranker(RerankerSettings, frozen=True, kw_only=True):
    """The pool goes on in its own order."""

    name: str = "none"


EMBEDDERS: Mapping[str, EmbedderKind] = {
    "hashing": EmbedderKind(settings=HashingSettings, place="assay.retrieval.models.hashing:HashingEmbedder"),
}
RERANKERS: Mapping[str, RerankerKind] = {
    "none": RerankerKind(settings=NoReranker, place=None),
    "lexical": RerankerKind(settings=LexicalSettings, place="assay.retrieval.models.lexical:LexicalReranker"),
}


def make_embedder(settings: EmbedderSettings) -> Embedder:
    """Return the embedder that the settings name.

    >>> make_embedder(HashingSettings(dimensions=64)).dimensions
    64
    """
    return cast("Embedder", _load(EMBEDDERS[settings.name].place, settings))


def make_reranker(settings: RerankerSettings) -> Reranker | None:
    """Return the reranker that the settings name, or None for ``none``."""
    place = RERANKERS[settings.name].place
    return None if place is None else cast("Reranker", _load(place, settings))


def _load(place: str, settings: object) -> object:
    module, name = place.split(":")
    return getattr(import_module(module), name)(settings)
