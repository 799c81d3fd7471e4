"""A transformer in ONNX Runtime with its tokenizer: texts (or pairs of texts) to the numbers that it gives.

Texts are computed in the order of their lengths, so many at a time that little is padding: on two cores two
long passages at once are as fast as any, and short queries gain much from company. What a text's numbers are
does not depend on its company: rows that are padding are masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import ConfigError, Fault
from assay.retrieval.models.optional import load

_SURROGATES = re.compile("[\ud800-\udfff]")
_KNOWN = frozenset({"input_ids", "attention_mask", "token_type_ids"})
Text = str | tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """One text (or pair) in tokens, as much of it as the model reads."""

    ids: list[int]
    types: list[int]
    """0 for the first text, 1 for the second."""
    lost: int
    """Tokens that stand beyond the window."""
    read: int | None
    """Signs of the last text that are within the window; None when it is whole."""


class Encoder:
    """A model and its tokenizer.

    Args:
        model: the ONNX file.
        tokenizer: of the package ``tokenizers``; it is changed to cut at ``max_length``.
        max_length: how many tokens are read.
        threads: how many compute.
        batch_tokens: how many tokens are computed at a time, padding included.
        feature: what needs it, for messages.
        extra: the extra that brings the packages.

    Raises:
        MissingExtraError: a package is not installed.
        ConfigError: the model cannot be loaded, or asks for what a text does not give.
    """

    def __init__(
        self,
        model: Path,
        tokenizer: Any,  # noqa: ANN401 - an object of another package
        *,
        max_length: int,
        threads: int,
        batch_tokens: int,
        feature: str,
        extra: str = "onnx",
    ) -> None:
        self.max_length = max_length
        self.batch_tokens = batch_tokens
        self.tokenizer = tokenizer
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length=max_length)
        runtime = load("onnxruntime", feature=feature, extra=extra)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Threads that wait in a loop are in the way of whoever else works on the machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session: Any = runtime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            what = f"ONNX Runtime cannot load {model.name}: {str(error).splitlines()[0]}"
            fix = 'export the model to ONNX again, or name another file: file = "..."'
            raise ConfigError(Fault(where=feature, what=what, fix=fix)) from error
        self._inputs = [str(one.name) for one in self._session.get_inputs()]
        unknown = sorted(set(self._inputs) - _KNOWN)
        if unknown:
            what = f"{model.name} asks for {', '.join(unknown)}: it is no encoder of texts"
            raise ConfigError(Fault(where=feature, what=what, fix="name a model that embeds texts"))
        self._outputs = [(str(one.name), len(one.shape or [])) for one in self._session.get_outputs()]

    def special_tokens(self, *, pair: bool = False) -> int:
        """Return how many signs of its own the model puts around a text, or around two."""
        return int(self.tokenizer.num_special_tokens_to_add(pair))

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, however long, without the model's own signs."""
        encoded = self.tokenizer.encode(_clean(text), add_special_tokens=False)
        return len(encoded.ids) + sum(len(more.ids) for more in encoded.overflowing)

    def tokens(self, texts: Sequence[Text]) -> list[Tokens]:
        """Cut texts into tokens."""
        pair = bool(texts) and isinstance(texts[0], tuple)
        last = 1 if pair else 0
        encoded = self.tokenizer.encode_batch([_clean(text) for text in texts])
        return [_tokens(one, last) for one in encoded]

    def run(self, tokens: Sequence[Tokens], *, rank: int) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Compute all texts, some at a time.

        Args:
            tokens: the texts.
            rank: how many dimensions the wanted output has; where the model has none such, another.

        Yields:
            Places of texts, and the model's output for them, one row a text.
        """
        name = self._output(rank)
        for places in self._batches([len(one.ids) for one in tokens]):
            batch = [tokens[place] for place in places]
            width = max(len(one.ids) for one in batch)
            columns = {key: np.zeros((len(batch), width), np.int64) for key in _KNOWN}
            for row, one in enumerate(batch):
                columns["input_ids"][row, : len(one.ids)] = one.ids
                columns["attention_mask"][row, : len(one.ids)] = 1
                columns["token_type_ids"][row, : len(one.ids)] = one.types
            (found,) = self._session.run([name], {key: columns[key] for key in self._inputs})
            yield places, cast("NDArray[np.float32]", found)

    def _output(self, rank: int) -> str:
        named = [name for name, dimensions in self._outputs if dimensions == rank]
        return named[0] if named else self._outputs[0][0]

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Yield places of texts, the shortest first, as many as fit."""
        batch: list[int] = []
        for place in np.argsort(np.array(lengths, np.int64), kind="stable").tolist():
            if batch and (len(batch) + 1) * lengths[place] > self.batch_tokens:
                yield batch
                batch = []
            batch.append(place)
        if batch:
            yield batch


def _tokens(encoded: Any, last: int) -> Tokens:  # noqa: ANN401 - an object of another package
    # What overflows a pair comes with the first text again, and every piece with the model's own signs.
    lost = sum(sequence == last for more in encoded.overflowing for sequence in more.sequence_ids)
    read = None
    if lost:
        ends = zip(encoded.sequence_ids, encoded.offsets, strict=True)
        read = max((end for sequence, (_, end) in ends if sequence == last), default=0)
    return Tokens(ids=encoded.ids, types=encoded.type_ids, lost=lost, read=read)


def _clean(text: Text) -> Any:  # noqa: ANN401 - what it was
    """Return text that can be written as UTF-8: halves of characters become the replacement sign."""
    if isinstance(text, tuple):
        return tuple(_clean(part) for part in text)
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
