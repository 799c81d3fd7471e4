"""Where a project's labels are: ``labels.db`` beside ``assay.toml``, or what ``[labels] url`` says.

Rooms: store (labels).
"""

from __future__ import annotations

import getpass
import os
from typing import TYPE_CHECKING

import msgspec

from assay.flows.project import FILE, Project
from assay.model.errors import ConfigError
from assay.model.settings import read_settings
from assay.store.labels import open_labels
from assay.store.labels.opening import FILE as LABELS

if TYPE_CHECKING:
    from assay.store.labels.store import LabelStore


class LabelsTable(msgspec.Struct, frozen=True, kw_only=True):
    """``[labels]``: where judgements, drafts and decisions are kept."""

    url: str | None = None
    """``postgresql+psycopg://user@host/name`` for a team; None: a file beside ``assay.toml``."""


def project_labels(project: Project) -> LabelStore:
    """Open the label store of a project; close it, or use it in a ``with`` block.

    Raises:
        ConfigError: ``[labels]`` is wrong.
        MissingExtraError: SQLAlchemy is not installed.
        StoreError: the store cannot be opened.
    """
    table, faults = read_settings(LabelsTable, project.raw.get("labels", {}), f"{FILE} [labels]")
    if table is None:
        raise ConfigError(faults)
    return open_labels(table.url or project.folder / LABELS)


def login_name() -> str:
    """Return who is at work: ``ASSAY_USER``, or the login name."""
    return os.environ.get("ASSAY_USER") or getpass.getuser()
