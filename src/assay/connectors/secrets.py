"""Secrets come from the environment: ``${NAME}`` in a setting is replaced when something is sent.

What is shown, digested or recorded is the setting as it was written, so a secret stands in no file of ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, cast

from assay.model.errors import ConfigError, Fault

_NAME = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_IN_URL = re.compile(r"(?P<head>[a-z][a-z0-9+.-]*://[^:/?#@\s]*):(?P<secret>[^@/\s]*)@")
_TELLING = re.compile(r"authori[sz]ation|api-?key|token|secret|password|cookie", re.IGNORECASE)
HIDDEN = "***"


def names_in(value: object) -> list[str]:
    """Return the environment variables that a setting names, in order.

    >>> names_in({"Authorization": "Bearer ${TOKEN}", "X": ["${A}"]})
    ['TOKEN', 'A']
    """
    if isinstance(value, str):
        return [match["name"] for match in _NAME.finditer(value)]
    if isinstance(value, Mapping):
        return [name for inner in cast("Mapping[str, object]", value).values() for name in names_in(inner)]
    if isinstance(value, list | tuple):
        return [name for inner in cast("list[object]", value) for name in names_in(inner)]
    return []


def missing_faults(values: Mapping[str, Any], where: str) -> list[Fault]:
    """Return a fault for each environment variable that settings name and that is not set."""
    return [
        Fault(
            where=f"{where} {key}",
            what=f"the environment variable {name} is not set",
            fix=f"export {name}=...",
        )
        for key, value in values.items()
        for name in dict.fromkeys(names_in(value))
        if name not in os.environ
    ]


def expand(text: str) -> str:
    """Return a setting with the values of the environment variables that it names.

    Raises:
        ConfigError: one of them is not set.
    """

    def value_of(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in os.environ:
            raise ConfigError(
                Fault(
                    where="retriever",
                    what=f"the environment variable {name} is not set",
                    fix=f"export {name}=...",
                )
            )
        return os.environ[name]

    return _NAME.sub(value_of, text)


def hide(text: str, names: list[str]) -> str:
    """Return a text in which the values of environment variables are their names again."""
    for name in names:
        secret = os.environ.get(name)
        if secret:
            text = text.replace(secret, f"${{{name}}}")
    return text


def shown(value: Any, key: str = "") -> Any:  # noqa: ANN401 - plain values of settings
    """Return a setting as it may be shown: passwords in URLs and telling headers are hidden.

    A value that names its environment variable is shown as it is.

    >>> shown({"url": "postgresql://me:hunter2@db/shop", "headers": {"Api-Key": "k1", "Accept": "json"}})
    {'url': 'postgresql://me:***@db/shop', 'headers': {'Api-Key': '***', 'Accept': 'json'}}
    >>> shown({"Authorization": "Bearer ${TOKEN}"})
    {'Authorization': 'Bearer ${TOKEN}'}
    """
    if isinstance(value, Mapping):
        return {name: shown(inner, name) for name, inner in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [shown(inner, key) for inner in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value
    if _TELLING.search(key) and value and not _NAME.search(value):
        return HIDDEN
    return _IN_URL.sub(
        lambda match: match[0] if _NAME.fullmatch(match["secret"]) else f"{match['head']}:{HIDDEN}@",
        value,
    )
