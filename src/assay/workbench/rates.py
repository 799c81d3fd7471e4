"""How many requests one address may send."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_MOST_ADDRESSES = 4096


class Rates:
    """A bucket of permits an address: it fills steadily, and each request takes one.

    Args:
        each_second: permits that come back in a second.
        burst: permits of a full bucket.
        clock: gives seconds; for tests.
    """

    def __init__(
        self, each_second: float, burst: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._each_second = each_second
        self._burst = burst
        self._clock = clock
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> float:
        """Take one permit; return 0.0, or the seconds to wait where there is none.

        >>> rates = Rates(2.0, 1.0, clock=lambda: 0.0)
        >>> rates.take("::1"), rates.take("::1")
        (0.0, 0.5)
        """
        now = self._clock()
        left, at = self._held.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._each_second)
        wait = 0.0 if left >= 1.0 else (1.0 - left) / self._each_second
        self._held[address] = (left - 1.0 if wait == 0.0 else left, now)
        if len(self._held) > _MOST_ADDRESSES:
            self._held.popitem(last=False)
        return wait
