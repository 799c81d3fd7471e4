"""What every model behind a server has: its calls, the answers that are kept, and the account of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from assay.retrieval.models.client import Caller, Server
from assay.retrieval.models.counting import Account
from assay.retrieval.models.kept import Kept, key_of
from assay.retrieval.models.protocols import ModelReport, Surroundings, Window


class PricedServer(Server, Protocol):
    """The settings of a server that may say what its tokens cost."""

    @property
    def price_per_million_tokens(self) -> float | None:
        """What a million tokens cost; None: nothing is said of it."""
        ...


class Served:
    """Calls of one server.

    Args:
        settings: which server.
        where: the surroundings; answers are kept in their cache.
        file: the name of the file there.
        feature: what a message calls the model.
        tokens_per_minute: the pace, where there is one.
    """

    def __init__(
        self,
        settings: PricedServer,
        where: Surroundings,
        *,
        file: str,
        feature: str,
        tokens_per_minute: int | None = None,
    ) -> None:
        self.settings = settings
        self.feature = feature
        self.kept = Kept(None if where.cache is None else where.cache / file)
        self.account = Account()
        self._caller = Caller(settings, feature=feature, tokens_per_minute=tokens_per_minute)

    def post(self, path: str, body: Mapping[str, object], *, tokens: int = 0) -> object:
        """Ask the server; requests are counted whatever becomes of them.

        Raises:
            EndpointError: it refused, or did not answer.
        """
        requests, retried = self._caller.requests, self._caller.retried
        try:
            return self._caller.post(path, body, tokens=tokens)
        finally:
            done = ModelReport(
                requests=self._caller.requests - requests, retries=self._caller.retried - retried
            )
            self.account.add(done)

    def paid(self, tokens: int, *, texts: int = 0) -> None:
        """Count what an answer cost, and the texts that it was about."""
        price = self.settings.price_per_million_tokens or 0.0
        self.account.add(ModelReport(texts=texts, tokens=tokens, cost=tokens * price / 1e6))

    def held(self, kind: str, body: Mapping[str, object], *, texts: int) -> tuple[bytes, bytes | None]:
        """Return the key of a question, and its answer where it was given before (which is counted)."""
        key = key_of(kind, self.settings.base_url, msgspec.json.encode(body, order="sorted").decode())
        answer = self.kept.get([key]).get(key)
        if answer is not None:
            self.account.add(ModelReport(texts=texts, kept=texts))
        return key, answer


class ServedReranker:
    """A reranker behind a server, which does not say how much of a passage it reads.

    Args:
        served: the server.
    """

    def __init__(self, served: Served) -> None:
        self._served = served

    @property
    def window(self) -> Window | None:
        return None

    def take_report(self) -> ModelReport:
        return self._served.account.take()
