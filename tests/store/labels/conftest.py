"""One store a test, on each database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.store.labels.store import LabelStore
from label_stores import BACKENDS, new_store_url, store_at


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LabelStore]:
    with store_at(new_store_url(request.param, tmp_path)) as opened:
        yield opened
