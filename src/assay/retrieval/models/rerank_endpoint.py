"""Rerankers behind ``/rerank``: the form that Cohere, Jina, Voyage and vLLM share, and TEI's.

Answers are kept by the content of the question. How much of a passage the server reads, it does not say.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models.client import Caller, EndpointError
from assay.retrieval.models.counting import Account
from assay.retrieval.models.cross_encoder import passages_of
from assay.retrieval.models.kept import Kept, key_of
from assay.retrieval.models.protocols import Candidates, ModelReport, Reply, Surroundings, Window
from assay.retrieval.models.settings import RerankEndpointSettings

_FILE = "reranked.sqlite"
_FEATURE = "reranker 'rerank-endpoint'"
Index = Annotated[int, msgspec.Meta(ge=0)]


class _Row(msgspec.Struct):
    index: Index
    relevance_score: float


class _TeiRow(msgspec.Struct):
    index: Index
    score: float


class EndpointReranker:
    """See the page's head.

    Args:
        settings: which server.
        where: the surroundings; answers are kept in their cache.
    """

    def __init__(self, settings: RerankEndpointSettings, where: Surroundings) -> None:
        self.settings = settings
        self._caller = Caller(settings, feature=_FEATURE)
        self._kept = Kept(None if where.cache is None else where.cache / _FILE)
        self._account = Account()

    @property
    def window(self) -> Window | None:
        return None

    def take_report(self) -> ModelReport:
        return self._account.take()

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:
        """Return the server's rows: in any order, and only those that it gave."""
        passages = passages_of(positions, candidates)
        if not passages:
            return Reply(places=np.zeros(0, np.int64), scores=np.zeros(0))
        body = self._body(query, passages)
        key = key_of("rerank", self.settings.base_url, msgspec.json.encode(body, order="sorted").decode())
        held = self._kept.get([key])
        if key in held:
            rows = msgspec.json.decode(held[key], type=list[tuple[int, float]])
            self._account.add(ModelReport(texts=len(passages), kept=len(passages)))
        else:
            rows = self._ask(body, len(passages))
            self._kept.put({key: msgspec.json.encode(rows)})
        return Reply(
            places=np.array([place for place, _ in rows], np.int64),
            scores=np.array([score for _, score in rows], np.float64),
        )

    def _body(self, query: str, passages: list[str]) -> dict[str, object]:
        if self.settings.form == "tei":
            return {"query": query, "texts": passages, "raw_scores": True, "truncate": True}
        return {
            "model": self.settings.model,
            "query": query,
            "documents": passages,
            "top_n": len(passages),
            "return_documents": False,
        }

    def _ask(self, body: dict[str, object], n_passages: int) -> list[tuple[int, float]]:
        requests, retried = self._caller.requests, self._caller.retried
        try:
            said = self._caller.post("/rerank", body)
        finally:
            done = ModelReport(
                requests=self._caller.requests - requests, retries=self._caller.retried - retried
            )
            self._account.add(done)
        tokens = _tokens(said)
        price = self.settings.price_per_million_tokens or 0.0
        self._account.add(ModelReport(texts=n_passages, tokens=tokens, cost=tokens * price / 1e6))
        rows = self._rows(said)
        strange = [place for place, _ in rows if place >= n_passages]
        if strange:
            message = (
                f"{_FEATURE}: {n_passages} passages were sent, and the answer speaks of number {strange[0]}"
            )
            raise EndpointError(message)
        return rows

    def _rows(self, said: object) -> list[tuple[int, float]]:
        if isinstance(said, dict):
            fields = cast("dict[str, Any]", said)
            said = fields.get("results", fields.get("data", said))
        try:
            if self.settings.form == "tei":
                return [(row.index, row.score) for row in msgspec.convert(said, list[_TeiRow])]
            return [(row.index, row.relevance_score) for row in msgspec.convert(said, list[_Row])]
        except msgspec.ValidationError as error:
            raise EndpointError(
                f"{_FEATURE}: the server's answer has not the form of /rerank: {error}"
            ) from None


def _tokens(said: object) -> int:
    """Return the tokens that the server counted, where it says so."""
    if not isinstance(said, dict):
        return 0
    usage = cast("dict[str, Any]", said).get("usage")
    total = cast("dict[str, Any]", usage).get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) else 0
