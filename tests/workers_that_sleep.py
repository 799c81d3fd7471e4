"""Work for tests of workers that are left alone: it tells its process, and sleeps."""

from __future__ import annotations

import os
import time
from collections.abc import Callable


def start_sleeping(_: None) -> Callable[[float], int]:
    def work(seconds: float) -> int:
        time.sleep(seconds)
        return os.getpid()

    return work
