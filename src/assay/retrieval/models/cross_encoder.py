"""Cross-encoders: query and passage are read together, and one number says how well they fit.

In ONNX Runtime, from a folder (or hub id) with an ONNX file and a ``tokenizer.json``; or by the package
sentence-transformers. Query and passage share the window: the longer of the two is cut first, as the models
were trained. The score is the model's own output: one column as it is, of two the second less the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import ConfigError, Fault
from assay.retrieval.models.counting import Account
from assay.retrieval.models.encoder import Encoder
from assay.retrieval.models.folders import model_folder, onnx_file
from assay.retrieval.models.optional import load
from assay.retrieval.models.protocols import (
    Candidates,
    ModelReport,
    Reply,
    Reranker,
    Surroundings,
    Window,
)
from assay.retrieval.models.resolving import tokenizer_files
from assay.retrieval.models.settings import CrossEncoderSettings

_FEATURE = "reranker 'cross-encoder'"


class OnnxCrossEncoder:
    """A cross-encoder in ONNX Runtime.

    Args:
        settings: resolved ones.
        where: the surroundings.
    """

    def __init__(self, settings: CrossEncoderSettings, where: Surroundings) -> None:
        assert settings.max_length is not None  # it was resolved
        folder = model_folder(settings.model, where, setting="[pipeline.reranker] model")
        tokenizers = load("tokenizers", feature=_FEATURE, extra="onnx")
        self._encoder = Encoder(
            onnx_file(folder, settings.file),
            tokenizers.Tokenizer.from_file(str(tokenizer_files(folder)[0])),
            max_length=settings.max_length,
            threads=settings.threads,
            batch_tokens=settings.batch_tokens,
            feature=_FEATURE,
        )
        self._window = Window(
            max_length=settings.max_length, special_tokens=self._encoder.special_tokens(pair=True)
        )
        self._account = Account()

    @property
    def window(self) -> Window | None:
        return self._window

    def take_report(self) -> ModelReport:
        return self._account.take()

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:
        """Score every candidate."""
        scores = np.zeros(len(positions))
        passages = passages_of(positions, candidates)
        tokens = self._encoder.tokens([(query, passage) for passage in passages])
        for places, logits in self._encoder.run(tokens, rank=2):
            scores[places] = one_number(logits)
        cut = tuple(place for place, one in enumerate(tokens) if one.lost)
        self._account.add(
            ModelReport(
                texts=len(tokens),
                tokens=sum(len(one.ids) for one in tokens),
                cut=cut,
                cut_tokens=sum(one.lost for one in tokens),
            )
        )
        read = {place: one.read for place, one in enumerate(tokens) if one.read is not None}
        return Reply(places=np.arange(len(positions), dtype=np.int64), scores=scores, read=read)


class TorchCrossEncoder:
    """A cross-encoder by the package sentence-transformers.

    Args:
        settings: resolved ones.
        where: the surroundings.
    """

    def __init__(self, settings: CrossEncoderSettings, where: Surroundings) -> None:
        assert settings.max_length is not None  # it was resolved
        extra = "sentence-transformers"
        package = load("sentence_transformers", feature=_FEATURE, extra=extra, package=extra)
        torch = load("torch", feature=_FEATURE, extra=extra)
        torch.set_num_threads(settings.threads)
        folder = model_folder(settings.model, where, setting="[pipeline.reranker] model", weights=True)
        self._limit = settings.max_length
        self._model: Any = package.CrossEncoder(
            str(folder), max_length=settings.max_length, device=settings.device
        )
        self._identity: Any = torch.nn.Identity()
        special = int(self._model.tokenizer.num_special_tokens_to_add(pair=True))
        self._window = Window(max_length=settings.max_length, special_tokens=special)

    @property
    def window(self) -> Window | None:
        return self._window

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:
        """Score every candidate."""
        pairs = [(query, passage) for passage in passages_of(positions, candidates)]
        places = np.arange(len(positions), dtype=np.int64)
        if not pairs:
            return Reply(places=places, scores=np.zeros(0))
        found = self._model.predict(pairs, activation_fn=self._identity, show_progress_bar=False)
        logits = np.array(found, np.float32).reshape(len(pairs), -1)
        return Reply(places=places, scores=one_number(logits), read=self._read(pairs))

    def _read(self, pairs: Sequence[tuple[str, str]]) -> dict[int, int]:
        encoded = self._model.tokenizer(
            [query for query, _ in pairs],
            [passage for _, passage in pairs],
            truncation="longest_first",
            max_length=self._limit,
            return_offsets_mapping=True,
        )
        read: dict[int, int] = {}
        for place, (_, passage) in enumerate(pairs):
            spans = zip(encoded.sequence_ids(place), encoded["offset_mapping"][place], strict=True)
            end = max((int(span[1]) for sequence, span in spans if sequence == 1), default=0)
            if end < len(passage.rstrip()):
                read[place] = end
        return read


def make_cross_encoder(settings: CrossEncoderSettings, where: Surroundings) -> Reranker:
    """Return the cross-encoder on the backend that the settings name."""
    if settings.backend == "onnx":
        return OnnxCrossEncoder(settings, where)
    return TorchCrossEncoder(settings, where)


def passages_of(positions: NDArray[np.int32], candidates: Candidates) -> list[str]:
    """Return what is searched of each candidate."""
    return [candidates.chunks[int(place)].searchable for place in positions]


def one_number(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return one score a row.

    Raises:
        ConfigError: the model has neither one column nor two.

    >>> one_number(np.array([[1.0, 3.0]], np.float32)).tolist()
    [2.0]
    """
    wide = logits.astype(np.float64)
    if wide.ndim == 1:
        return wide
    if wide.ndim == 2 and wide.shape[1] == 1:
        return wide[:, 0]
    if wide.ndim == 2 and wide.shape[1] == 2:
        return wide[:, 1] - wide[:, 0]
    what = f"the model gives {' x '.join(map(str, wide.shape[1:]))} numbers a pair: it is no reranker"
    raise ConfigError(Fault(where=_FEATURE, what=what, fix="name a model that gives one number a pair"))
