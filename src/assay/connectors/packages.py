"""Optional packages, imported when they are used and not before."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from assay.model.errors import MissingExtraError


def need(module: str, *, feature: str, extra: str, package: str | None = None) -> Any:  # noqa: ANN401 - a module of somebody else's
    """Import a package that a feature needs.

    Args:
        module: what is imported.
        feature: who needs it, as people call it.
        extra: the extra of this distribution that brings it.
        package: its name where it is installed from, when that is another one.

    Raises:
        MissingExtraError: it is not installed; the fault says what to install.

    >>> need("json", feature="this line", extra="none").dumps([1])
    '[1]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".", maxsplit=1)[0]:
            raise
        raise MissingExtraError(
            feature, package=package or module.split(".", maxsplit=1)[0], extra=extra
        ) from error
