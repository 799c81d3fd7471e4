"""The cl100k vocabulary, read from a file that some package brought along; nothing is downloaded."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.corpus.tokens import TokenCounter, TokenSpans
from assay.model.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from tiktoken import Encoding

# tiktoken keeps a vocabulary under the SHA-1 of the address that it came from.
_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_SURROGATES = re.compile("[\ud800-\udfff]")


class Cl100kCounter(TokenCounter):
    """Tokens of OpenAI's cl100k_base vocabulary.

    A token may begin inside a character (an emoji takes several): its span then begins at that character.
    """

    name = "cl100k"

    def __init__(self) -> None:
        self._encoding = _encoding()

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))

    def spans(self, text: str) -> TokenSpans:
        whole = _SURROGATES.sub("\ufffd", text)
        tokens = self._encoding.decode_tokens_bytes(self._encoding.encode_ordinary(whole))
        data = np.frombuffer(whole.encode(), dtype=np.uint8)
        inside = (data & 0xC0) == 0x80  # a byte that continues a character
        character = np.cumsum(~inside) - 1  # of each byte: the character that it belongs to
        bounds = np.concatenate([[0], np.cumsum([len(token) for token in tokens])]).astype(np.int64)
        starts = character[bounds[:-1]]
        ends = character[bounds[1:] - 1] + 1
        return TokenSpans(starts=starts.tolist(), ends=ends.tolist())


def vocabulary_path() -> Path | None:
    """Return where the vocabulary's file is: tiktoken's cache, or inside llama-index-core; None: nowhere."""
    return next((folder / _FILE for folder in _folders() if (folder / _FILE).is_file()), None)


def _folders() -> Iterator[Path]:
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield Path(tempfile.gettempdir()) / "data-gym-cache"
    try:
        package = importlib.metadata.distribution("llama-index-core")
    except importlib.metadata.PackageNotFoundError:
        return
    yield Path(str(package.locate_file("llama_index/core/_static/tiktoken_cache")))


def _encoding() -> Encoding:
    try:
        from tiktoken import Encoding  # noqa: PLC0415 - an optional package
    except ImportError:
        raise MissingExtraError("token counter 'cl100k'", package="tiktoken", extra="chunkers") from None
    path = vocabulary_path()
    if path is None:
        raise InputError(
            f"token counter 'cl100k': its vocabulary (the file {_FILE}) is in no cache; none is downloaded",
            fix="pip install llama-index-core (its wheel brings the file), or name its folder in "
            "TIKTOKEN_CACHE_DIR; counter 'estimate' needs no vocabulary",
        )
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise InputError(f"{path}: is not the cl100k vocabulary (its SHA-256 differs)", fix="remove the file")
    rows = (line.split() for line in data.splitlines() if line)
    return Encoding(
        "cl100k_base",
        pat_str=_PATTERN,
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in rows},
        special_tokens={},
    )
