"""PostgreSQL with pgvector: a real server, started here."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.engine_kit import EngineKit
from conformance.postgresql_server import postgresql_url


class TestPostgresql(EngineKit):
    __test__ = True

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"type": "postgresql", "url": postgresql_url()}
