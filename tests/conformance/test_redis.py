"""Redis: the kit over a stand-in that speaks its protocol (Debian's server has no query engine)."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from conformance.engine_kit import EngineKit
from conformance.redis_server import Redis, serving


class TestRedis(EngineKit):
    __test__ = True

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _serve(cls) -> Generator[None]:
        with serving(Redis()) as url:
            cls.values = {"type": "redis", "url": url}
            yield

    def test_an_index_that_is_not_there_is_an_error_of_each_query(self):
        with pytest.raises(Exception, match="no such index"):
            self.connected(table="another").search("refunds", 5)
