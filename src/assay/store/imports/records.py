"""Records of other people's files, each converted to its form, all faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from assay.model.errors import Fault, InputError
from assay.store.jsonl import WrittenFloat, records_of

S = TypeVar("S", bound=msgspec.Struct)


def read_as(path: Path, form: type[S]) -> list[tuple[int, S]]:
    """Return the records of a JSONL file or a JSON list as structures, each with its line (or place).

    Ids that stand there as numbers have to be declared as ``str | int`` in the form.

    Raises:
        InputError: the file is missing, no JSON, or records are not of the form: all of them.
    """
    found: list[tuple[int, S]] = []
    faults: list[Fault] = []
    for line, record in records_of(path):
        try:
            found.append((line, msgspec.convert(_plain(record), form)))
        except msgspec.ValidationError as error:
            sentence = str(error).replace("`", "")
            fix = f"a record has {', '.join(form.__struct_fields__)}"
            faults.append(Fault(where=f"{path}:{line}", what=sentence[:1].lower() + sentence[1:], fix=fix))
    if faults:
        raise InputError(faults)
    return found


def _plain(value: object) -> object:
    """Return the value with plain floats, which is what structures take."""
    if isinstance(value, WrittenFloat):
        return float(value)
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in cast("list[object]", value)]
    return value
