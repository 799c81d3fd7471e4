"""Settings of chunkers: typed, checked, all that is wrong with them at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, get_type_hints

import msgspec

from assay.model.errors import ConfigError, Fault, nearest

Context = Literal["none", "title", "headings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkerSettings:
    """What every chunker has.

    Raises:
        ConfigError: values are out of their range; all of them.
    """

    context: Context = "none"
    """What is put before a chunk for search: nothing, the document's title, or title and heading path."""

    def __post_init__(self) -> None:
        faults = [Fault(where=name, what=what) for name, what in self.faults()]
        if faults:
            raise ConfigError(faults)

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the fault of each value that is out of its range."""
        yield from ()

    def plain(self) -> dict[str, object]:
        """Return the settings as plain JSON values, for digests and manifests."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return msgspec.json.decode(msgspec.json.encode(values), type=dict[str, object])


SettingsT = TypeVar("SettingsT", bound=ChunkerSettings)


def size_faults(size: int, overlap: int, *, size_name: str = "size") -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a size and its overlap.

    >>> list(size_faults(100, 100))
    [('overlap', 'must be below size (100), not 100: no chunk would go forward')]
    """
    if size < 1:
        yield size_name, f"must be at least 1, not {size}"
    if overlap < 0:
        yield "overlap", f"must be at least 0, not {overlap}"
    if overlap >= max(size, 1):
        yield "overlap", f"must be below {size_name} ({size}), not {overlap}: no chunk would go forward"


def read_settings(kind: type[SettingsT], values: Mapping[str, object], *, where: str) -> SettingsT:
    """Return the settings that a mapping describes.

    Raises:
        ConfigError: keys are unknown (the nearest is named), values have the wrong type or are out of range.
    """
    hints = get_type_hints(kind)
    known = [one.name for one in fields(kind)]
    faults: list[Fault] = []
    good: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            like = nearest(key, known)
            fix = f"did you mean {like!r}?" if like else f"there are: {', '.join(known)}"
            faults.append(Fault(where=where, what=f"no setting is called {key!r}", fix=fix))
            continue
        try:
            good[key] = msgspec.convert(value, hints[key], strict=True)
        except msgspec.ValidationError as error:
            told = str(error).replace("`", "'")
            faults.append(
                Fault(
                    where=f"{where} {key}",
                    what=f"{value!r} is not right: {told}",
                    fix="write a value of that sort",
                )
            )
    try:
        settings = kind(**good)
    except ConfigError as error:
        faults.extend(Fault(where=f"{where} {one.where}", what=one.what, fix=one.fix) for one in error.faults)
        raise ConfigError(faults) from None
    if faults:
        raise ConfigError(faults)
    return settings
