"""What a job may spend: requests and tokens. It is kept before they are spent, not noticed afterwards."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


class BudgetSpentError(Exception):
    """There is not enough left for another request."""


@dataclass(kw_only=True)
class Budget:
    """A number of requests and of tokens; safe to share between threads.

    Before a request as many tokens are set aside as it may cost; when the answer is there, what it did cost
    takes their place. So the sum stays within the budget as far as the estimate holds.

    >>> budget = Budget(most_calls=1)
    >>> budget.take(200)
    >>> budget.settle(200, 150)
    >>> budget.tokens
    150
    >>> budget.take(200)
    Traceback (most recent call last):
    ...
    assay.building.budget.BudgetSpentError: the budget of 1 requests is spent
    """

    most_calls: int | None = None
    most_tokens: int | None = None
    calls: int = field(init=False, default=0)
    tokens: int = field(init=False, default=0)
    _aside: int = field(init=False, default=0)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def spent(self, *, calls: int, tokens: int) -> None:
        """Count what was spent before."""
        with self._lock:
            self.calls += calls
            self.tokens += tokens

    def take(self, tokens: int) -> None:
        """Count one request, and set tokens aside for it.

        Raises:
            BudgetSpentError: it would exceed the budget; nothing was counted.
        """
        with self._lock:
            if self.most_calls is not None and self.calls + 1 > self.most_calls:
                raise BudgetSpentError(f"the budget of {self.most_calls:,} requests is spent")
            needed = self.tokens + self._aside + tokens
            if self.most_tokens is not None and needed > self.most_tokens:
                left = self.most_tokens - self.tokens - self._aside
                raise BudgetSpentError(
                    f"the budget of {self.most_tokens:,} tokens has {left:,} left, and the next request may "
                    f"take {tokens:,}"
                )
            self.calls += 1
            self._aside += tokens

    def settle(self, aside: int, used: int) -> None:
        """Put what a request did cost in the place of what was set aside."""
        with self._lock:
            self._aside -= aside
            self.tokens += used
