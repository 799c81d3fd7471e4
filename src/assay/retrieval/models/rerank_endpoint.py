"""Rerankers behind ``/rerank``: the form that Cohere, Jina, Voyage and vLLM share, and TEI's.

Answers are kept by the content of the question. How much of a passage the server reads, it does not say.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models.client import EndpointError
from assay.retrieval.models.cross_encoder import passages_of
from assay.retrieval.models.protocols import Candidates, Reply, Surroundings
from assay.retrieval.models.served import Served, ServedReranker
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


class EndpointReranker(ServedReranker):
    """See the page's head.

    Args:
        settings: which server.
        where: the surroundings; answers are kept in their cache.
    """

    def __init__(self, settings: RerankEndpointSettings, where: Surroundings) -> None:
        super().__init__(Served(settings, where, file=_FILE, feature=_FEATURE))
        self.settings = settings

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:
        """Return the server's rows: in any order, and only those that it gave."""
        passages = passages_of(positions, candidates)
        if not passages:
            return Reply(places=np.zeros(0, np.int64), scores=np.zeros(0))
        body = self._body(query, passages)
        key, held = self._served.held("rerank", body, texts=len(passages))
        if held is not None:
            rows = msgspec.json.decode(held, type=list[tuple[int, float]])
        else:
            rows = self._ask(body, len(passages))
            self._served.kept.put({key: msgspec.json.encode(rows)})
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
        said = self._served.post("/rerank", body)
        self._served.paid(_tokens(said), texts=n_passages)
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
