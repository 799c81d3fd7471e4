"""Settings of models with everything filled in: what files say, what a family asks for, and a digest.

All faults of a model's settings are found here, before anything runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from assay.model.errors import ConfigError, Fault
from assay.retrieval.models import minilm, static
from assay.retrieval.models.folders import (
    ModelFacts,
    family_of,
    fingerprint,
    model_folder,
    onnx_file,
    read_facts,
)
from assay.retrieval.models.optional import load
from assay.retrieval.models.protocols import Surroundings
from assay.retrieval.models.settings import (
    BgeSettings,
    CrossEncoderSettings,
    MaxSimSettings,
    MiniLMSettings,
    OnnxSettings,
    OpenAISettings,
    SentenceTransformersSettings,
    WordLlamaSettings,
)

Folder = TypeVar("Folder", OnnxSettings, BgeSettings, SentenceTransformersSettings)
MiniLM = TypeVar("MiniLM", MiniLMSettings, MaxSimSettings)
_DEFAULT_LENGTH = 512
"""What a cross-encoder reads where its files say nothing: what BERT was trained on."""


def resolve_minilm(settings: MiniLM, where: Surroundings) -> MiniLM:
    """Fill in the digest of the packaged weights, and see that all packages are there."""
    del where  # its files are in a package
    feature = f"{'reranker' if settings.name == 'maxsim' else 'embedder'} {settings.name!r}"
    for module in ("onnxruntime", "tokenizers"):
        load(module, feature=feature, extra="minilm")
    return replace(settings, fingerprint=fingerprint([minilm.weights(feature)]))


def resolve_static(settings: WordLlamaSettings, where: Surroundings) -> WordLlamaSettings:
    """Fill in the digest of the vectors."""
    files = static.files(settings, where)
    return replace(settings, fingerprint=fingerprint([files.vectors, files.tokenizer]))


def resolve_folder(settings: Folder, where: Surroundings) -> Folder:
    """Fill in pooling, window, prefixes and digest of a model in a folder (or on the hub)."""
    torch = isinstance(settings, SentenceTransformersSettings)
    folder = model_folder(settings.model, where, weights=torch)
    facts = read_facts(folder, settings.model)
    faults = _unknown(settings, facts, pooled=torch)
    if faults:
        raise ConfigError(faults)
    if torch:
        files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin"))
    else:
        files = [onnx_file(folder, settings.file), *tokenizer_files(folder)]
    return replace(
        settings,
        pooling=settings.pooling or facts.pooling,
        normalize=facts.normalize if settings.normalize is None else settings.normalize,
        max_length=settings.max_length or facts.max_length,
        query_prefix=facts.query_prefix if settings.query_prefix is None else settings.query_prefix,
        passage_prefix=facts.passage_prefix if settings.passage_prefix is None else settings.passage_prefix,
        fingerprint=fingerprint(files),
    )


def resolve_endpoint(settings: OpenAISettings, where: Surroundings) -> OpenAISettings:
    """Fill in the prefixes that the model's family asks for."""
    del where  # the server has the files
    family = family_of(settings.model)
    query, passage = (family.query_prefix, family.passage_prefix) if family else ("", "")
    return replace(
        settings,
        query_prefix=query if settings.query_prefix is None else settings.query_prefix,
        passage_prefix=passage if settings.passage_prefix is None else settings.passage_prefix,
    )


def resolve_cross_encoder(settings: CrossEncoderSettings, where: Surroundings) -> CrossEncoderSettings:
    """Fill in the window and the digest of a cross-encoder."""
    torch = settings.backend == "sentence-transformers"
    setting = "[pipeline.reranker] model"
    folder = model_folder(settings.model, where, setting=setting, weights=torch)
    if torch:
        files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin"))
    else:
        files = [
            onnx_file(folder, settings.file, setting="[pipeline.reranker] file"),
            *tokenizer_files(folder, setting),
        ]
    length = settings.max_length or read_facts(folder, settings.model).max_length or _DEFAULT_LENGTH
    return replace(settings, max_length=length, fingerprint=fingerprint(files))


def tokenizer_files(folder: Path, setting: str = "[pipeline.embedder] model") -> list[Path]:
    """Return the tokenizer of a folder, in a list.

    Raises:
        ConfigError: there is none.
    """
    path = folder / "tokenizer.json"
    if not path.is_file():
        what = f"the model's folder {folder.name!r} has no tokenizer.json"
        fix = "save it with a fast tokenizer: tokenizer.save_pretrained(folder)"
        raise ConfigError(Fault(where=setting, what=what, fix=fix))
    return [path]


def _unknown(settings: Folder, facts: ModelFacts, *, pooled: bool) -> list[Fault]:
    """Return what neither the settings nor the model say; a model that pools by itself needs no pooling."""
    faults: list[Fault] = []
    table = "[pipeline.embedder]"
    if not pooled and settings.pooling is None and facts.pooling is None:
        what = f"neither the files of {settings.model!r} nor its name say how its token vectors are pooled"
        faults.append(
            Fault(where=f"{table} pooling", what=what, fix='pooling = "mean" or "cls": see its card')
        )
    if settings.max_length is None and facts.max_length is None:
        what = f"the files of {settings.model!r} do not say how many tokens it reads"
        faults.append(
            Fault(where=f"{table} max_length", what=what, fix="max_length = 512, or as its card says")
        )
    return faults
