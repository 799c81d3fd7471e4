"""Opening a label store: a file by default, PostgreSQL by URL."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from assay.model.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from assay.store.labels.store import LabelStore

FILE = "labels.db"
"""The file beside ``assay.toml``. It belongs to people: nothing that may be deleted is kept in it."""
_NAMED = re.compile(r"\$\{(\w+)\}")
_SCHEMES = ("sqlite", "postgresql+psycopg")


def open_labels(where: Path | str) -> LabelStore:
    """Return the label store of a file or of a URL, made or brought up to date where needed.

    Args:
        where: a path, or ``postgresql+psycopg://user@host/name``; ``${NAME}`` in a URL stands for a variable
            of the environment. A password is never written into the URL: it comes from the environment, by
            ``${NAME}`` or ``PGPASSWORD``.

    Raises:
        MissingExtraError: SQLAlchemy, or the driver of the URL, is not installed.
        ConfigError: the URL is none, holds a password, or names a variable that is not set.
        StoreError: the store cannot be opened, or was made by a newer Assay.
    """
    url = sqlite_url(where) if isinstance(where, Path) or "://" not in where else checked_url(where)
    try:
        from assay.store.labels.store import LabelStore  # noqa: PLC0415 - an optional package
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "the label store", package=error.name or "sqlalchemy", extra="labels"
        ) from error
    return LabelStore(url)


def sqlite_url(path: Path | str) -> str:
    """Return the URL of a file.

    >>> sqlite_url("labels.db")
    'sqlite:///labels.db'
    """
    return f"sqlite:///{Path(path).as_posix()}"


def checked_url(url: str) -> str:
    """Return a URL with the environment's values in it.

    Raises:
        ConfigError: the URL is of no known database, holds a password, or names a variable that is not set.

    >>> checked_url("postgresql://me@db/labels")
    'postgresql+psycopg://me@db/labels'
    """
    scheme, _, rest = url.partition("://")
    scheme = "postgresql+psycopg" if scheme in {"postgresql", "postgres"} else scheme
    where = "[labels] url"
    if scheme not in _SCHEMES:
        raise ConfigError(
            f"{where}: {scheme!r} is no known database", fix="postgresql+psycopg://user@host/name"
        )
    user = rest.rpartition("@")[0]
    password = user.partition(":")[2]
    if password and not _NAMED.fullmatch(password):
        raise ConfigError(
            f"{where}: a password stands in the file", fix="write ${NAME} in its place, or set PGPASSWORD"
        )
    missing = [name for name in _NAMED.findall(rest) if name not in os.environ]
    if missing:
        raise ConfigError(
            f"{where}: {', '.join(missing)} is not set in the environment", fix=f"export {missing[0]}"
        )
    return f"{scheme}://{_NAMED.sub(lambda found: quote(os.environ[found[1]], safe=''), rest)}"
