"""What a model's folder says of the model: pooling, window, prefixes; and what is known of model families.

The files are those of sentence-transformers and of the hub: ``modules.json``, ``1_Pooling/config.json``,
``sentence_bert_config.json``, ``config_sentence_transformers.json`` (prompts), ``tokenizer_config.json`` and
``config.json``. Where they are silent, the family that the model's name tells decides; where both are silent,
nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from assay.model.errors import ConfigError, Fault
from assay.retrieval.models.optional import load
from assay.retrieval.models.protocols import Surroundings
from assay.retrieval.models.settings import Pooling

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_FILES = ("*.json", "*.txt", "*.model", "1_Pooling/*", "*.onnx", "onnx/model.onnx", "*.onnx_data")
_WEIGHTS = ("*.safetensors", "*/config.json", "*/*.safetensors")
_BGE = "Represent this sentence for searching relevant passages: "
_MODES: dict[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}
_UNLIMITED = 1_000_000
"""Tokenizers write a huge number where they have no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How the makers of a family of models want them used."""

    pattern: str
    pooling: Pooling | None = None
    query_prefix: str = ""
    passage_prefix: str = ""


FAMILIES = (
    Family(pattern=r"bge-(small|base|large)-en", pooling="cls", query_prefix=_BGE),
    Family(pattern=r"bge-m3", pooling="cls"),
    Family(
        pattern=r"e5-(small|base|large)", pooling="mean", query_prefix="query: ", passage_prefix="passage: "
    ),
    Family(pattern=r"gte-\w+-en-v1\.5", pooling="cls"),
    Family(pattern=r"gte-(small|base|large)", pooling="mean"),
    Family(
        pattern=r"nomic-embed-text",
        pooling="mean",
        query_prefix="search_query: ",
        passage_prefix="search_document: ",
    ),
    Family(pattern=r"arctic-embed-\w+-v2", pooling="cls", query_prefix="query: "),
    Family(pattern=r"arctic-embed", pooling="cls", query_prefix=_BGE),
    Family(pattern=r"mxbai-embed-large", pooling="cls", query_prefix=_BGE),
    Family(pattern=r"all-minilm|all-mpnet|multi-qa|msmarco|paraphrase-", pooling="mean"),
    Family(pattern=r"text-embedding-(3|ada)"),
)
"""The first whose pattern stands in a model's name, whatever its case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known of an embedder before it is loaded; None: neither its files nor its name say."""

    pooling: Pooling | None
    normalize: bool
    max_length: int | None
    query_prefix: str
    passage_prefix: str


def family_of(name: str) -> Family | None:
    """Return the family that a model's name tells.

    >>> family_of("intfloat/multilingual-E5-small").query_prefix
    'query: '
    """
    return next((one for one in FAMILIES if re.search(one.pattern, name, re.IGNORECASE)), None)


def model_folder(
    model: str, where: Surroundings, *, setting: str = "[pipeline.embedder] model", weights: bool = False
) -> Path:
    """Return the folder of a model: as named, or downloaded from the hub when the name is a hub id.

    Args:
        model: a folder, relative to the surroundings' one, or ``owner/name``.
        where: the surroundings.
        setting: how a fault names the setting.
        weights: whether the weights of PyTorch are needed as well.

    Raises:
        ConfigError: it is neither, or the hub does not give it.
    """
    path = Path(model).expanduser()
    folder = path if path.is_absolute() or where.folder is None else where.folder / path
    if folder.is_dir():
        return folder
    if not _HUB_ID.fullmatch(model):
        fix = "name the folder that holds its files, or its hub id (owner/name)"
        raise ConfigError(Fault(where=setting, what=f"there is no folder {model!r}", fix=fix))
    hub = load("huggingface_hub", feature=f"model {model!r}", extra="onnx")
    patterns = [*_FILES, *_WEIGHTS] if weights else list(_FILES)
    try:
        return Path(hub.snapshot_download(model, allow_patterns=patterns))
    except Exception as error:
        what = f"{model!r} is no folder here, and the hub did not give it: {_first_line(error)}"
        raise ConfigError(
            Fault(where=setting, what=what, fix="name a folder that holds its files")
        ) from error


def onnx_file(folder: Path, file: str | None, *, setting: str = "[pipeline.embedder] file") -> Path:
    """Return the ONNX file of a model.

    Raises:
        ConfigError: there is none.
    """
    tried = [file] if file else ["model.onnx", "onnx/model.onnx"]
    found = next((folder / name for name in tried if (folder / name).is_file()), None)
    if found is None:
        have = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.onnx"))
        fix = f'file = "{have[0]}"' if have else 'export it to ONNX, or name = "sentence-transformers"'
        what = f"the model's folder {folder.name!r} has no {' and no '.join(tried)}"
        raise ConfigError(Fault(where=setting, what=what, fix=fix))
    return found


def read_facts(folder: Path, name: str) -> ModelFacts:
    """Return what the files of a folder, and else the family of its name, say of a model."""
    family = family_of(name) or family_of(folder.name)
    said: Mapping[str, str] = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    query = said.get("query") or (family.query_prefix if family else "")
    passage = said.get("document") or said.get("passage") or (family.passage_prefix if family else "")
    modules = _read_json(folder / "modules.json")
    return ModelFacts(
        pooling=_pooling(folder) or (family.pooling if family else None),
        normalize="Normalize" in json.dumps(modules) if modules is not None else True,
        max_length=_max_length(folder),
        query_prefix=query,
        passage_prefix=passage,
    )


def fingerprint(paths: Iterable[Path]) -> str:
    """Return the content address (16 hex digits) of files, in their order."""
    state = sha256()
    for path in paths:
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                state.update(part)
    return state.hexdigest()[:16]


def _pooling(folder: Path) -> Pooling | None:
    config = _json(folder / "1_Pooling" / "config.json")
    by_name = config.get("pooling_mode")
    modes = _MODES.items()
    chosen: list[Pooling] = [mode for key, mode in modes if config.get(key) is True or by_name == mode]
    return chosen[0] if len(chosen) == 1 else None


def _max_length(folder: Path) -> int | None:
    places = (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    )
    for file, key in places:
        value = _json(folder / file).get(key)
        if isinstance(value, int) and 0 < value < _UNLIMITED:
            return value
    return None


def _json(path: Path) -> Mapping[str, Any]:
    found = _read_json(path)
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


def _read_json(path: Path) -> object:
    """Return what a file says, or None where there is none."""
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(
            Fault(
                where=str(path),
                what=f"this is not JSON: {error}",
                fix="restore the file from where the model came",
            )
        ) from error


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
