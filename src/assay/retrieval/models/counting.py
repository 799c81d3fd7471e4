"""The account of what a model did, kept until somebody asks."""

from __future__ import annotations

from assay.retrieval.models.protocols import NOTHING_DONE, ModelReport


class Account:
    """Adds up; see ``ModelReport`` for the counts."""

    def __init__(self) -> None:
        self._held = NOTHING_DONE

    def add(self, report: ModelReport) -> None:
        """Add what was done; texts follow those that were counted before."""
        held = self._held
        self._held = ModelReport(
            texts=held.texts + report.texts,
            tokens=held.tokens + report.tokens,
            cut=(*held.cut, *(held.texts + place for place in report.cut)),
            cut_tokens=held.cut_tokens + report.cut_tokens,
            requests=held.requests + report.requests,
            retries=held.retries + report.retries,
            kept=held.kept + report.kept,
            malformed=held.malformed + report.malformed,
            cost=held.cost + report.cost,
        )

    def take(self) -> ModelReport:
        """Return the account, and begin a new one.

        >>> account = Account()
        >>> account.add(ModelReport(texts=3, cut=(2,)))
        >>> account.add(ModelReport(texts=2, cut=(0,)))
        >>> account.take().cut, account.take().texts
        ((2, 3), 0)
        """
        held, self._held = self._held, NOTHING_DONE
        return held
