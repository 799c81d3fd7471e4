"""Reading settings: unknown keys get the nearest name, and all faults of a table come at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from assay.model.errors import Fault, nearest

S = TypeVar("S", bound=msgspec.Struct)


def read_settings(kind: type[S], values: Mapping[str, Any], where: str) -> tuple[S | None, list[Fault]]:
    """Convert a table of plain values into settings of a kind.

    Args:
        kind: a ``msgspec.Struct`` whose fields are the known keys.
        values: the table as it was read from TOML, JSON or the command line.
        where: how a fault names the table: ``assay.toml [corpus]``.

    Returns:
        The settings, or None when there are faults; and the faults, all of them.

    >>> class Size(msgspec.Struct):
    ...     width: int = 1
    >>> read_settings(Size, {"width": 3}, "[size]")
    (Size(width=3), [])
    >>> print(*read_settings(Size, {"widht": 3}, "[size]")[1])
    [size] widht: there is no such setting
      fix: did you mean 'width'?
    """
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    faults = [unknown_key(key, list(fields), where) for key in values if key not in fields]
    for key, field in fields.items():
        if key in values:
            try:
                msgspec.convert(values[key], field.type)
            except msgspec.ValidationError as error:
                faults.append(Fault(where=f"{where} {key}", what=f"{_told(error)}; it is {values[key]!r}"))
        elif field.required:
            faults.append(Fault(where=where, what=f"{key!r} is missing", fix=f"add {key} = ..."))
    if faults:
        return None, faults
    return msgspec.convert(dict(values), kind), []


def unknown_key(key: str, known: list[str], where: str) -> Fault:
    """Return the fault of a key that nobody knows, with the nearest that somebody does."""
    close = nearest(key, known)
    fix = f"did you mean {close!r}?" if close else f"known are {', '.join(known)}"
    return Fault(where=f"{where} {key}", what="there is no such setting", fix=fix)


def _told(error: msgspec.ValidationError) -> str:
    sentence = str(error).replace("`", "").split(" - at ")[0]
    return sentence[:1].lower() + sentence[1:]
