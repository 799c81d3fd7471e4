"""Reading JSON and JSON lines with a place for every fault.

What people's files hold and a plain parser trips over: a byte-order mark, blank lines, a line that a
killed writer left half, ids written as numbers, the same key twice in one object, ``NaN``.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self, cast

from assay.model.errors import Fault, InputError
from assay.model.notices import Notice, listed


class WrittenFloat(float):
    """A float that remembers how it was written, because ``1.10`` can be an id."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number


class RepeatedKeys(dict[str, object]):
    """An object in which a key stood more than once; the last value was kept, as JSON readers do."""

    __slots__ = ("repeated",)
    repeated: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLines:
    """The records of a JSON lines file, each with the number of its line (from 1)."""

    records: tuple[tuple[int, object], ...]
    skipped: tuple[int, ...] = ()
    """Lines that a lenient reading left out; none when it was strict."""
    notices: tuple[Notice, ...] = ()


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, plain or gzip, without a byte-order mark; line ends are kept.

    Raises:
        InputError: there is no such file, it is not UTF-8, or its gzip stream is broken.
    """
    return decode(read_raw(path), str(path))


def read_raw(path: Path) -> bytes:
    """Return the bytes of a file, unpacked when it is gzip.

    Raises:
        InputError: there is no such file, or its gzip stream is broken.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        fix = "write it, or name the file that is there"
        raise InputError(Fault(where=str(path), what="there is no such file", fix=fix)) from None
    except OSError as error:
        fix = "name a file" if path.is_dir() else "see who may read it: ls -l"
        raise InputError(
            Fault(where=str(path), what=f"cannot be read ({error.strerror})", fix=fix)
        ) from error
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            Fault(
                where=str(path),
                what=f"the gzip stream is broken ({error})",
                fix="copy or pack the file again",
            )
        ) from error


def decode(data: bytes, where: str) -> str:
    r"""Return bytes as text: UTF-8 without its byte-order mark.

    Raises:
        InputError: the bytes are not UTF-8; the place of the first wrong one is named.

    >>> decode(b"\xef\xbb\xbfAlpha", "a.txt")
    'Alpha'
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            Fault(
                where=f"{where}:{line}",
                what=f"byte {data[error.start]:#04x} at {error.start} is not UTF-8",
                fix="save the file as UTF-8",
            )
        ) from error


def parse_json(text: str) -> object:
    """Parse JSON strictly: numbers keep their spelling, repeated keys are remembered, NaN is refused.

    Raises:
        ValueError: the text is not JSON; the message says where and why.
    """
    value: object = json.loads(
        text, parse_float=WrittenFloat, parse_constant=_refuse_constant, object_pairs_hook=_object
    )
    if _ESCAPED_SURROGATE in text.lower():
        _refuse_half_pairs(value)
    return value


def read_json(path: Path) -> object:
    """Return the one JSON value of a file.

    Raises:
        InputError: there is no such file, or it is not JSON.
    """
    text = read_text(path)
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        raise InputError(
            Fault(where=f"{path}:{error.lineno}", what=f"not JSON: {error.msg}", fix="mend the file there")
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(Fault(where=str(path), what=f"not JSON: {error}", fix="mend the file")) from error


def read_jsonl(path: Path, *, lenient: bool = False) -> JsonLines:
    """Return the records of a JSON lines file; blank lines and a byte-order mark are nothing.

    Args:
        path: the file, plain or gzip.
        lenient: leave broken lines out, counted and said, instead of refusing the file.

    Raises:
        InputError: lines are broken: all of them, each with its number.
    """
    records: list[tuple[int, object]] = []
    faults: list[Fault] = []
    skipped: list[int] = []
    for number, line in enumerate(split_lines(read_text(path)), start=1):
        if not line.strip():
            continue
        try:
            records.append((number, parse_json(line)))
        except (ValueError, RecursionError) as error:
            skipped.append(number)
            faults.append(Fault(where=f"{path}:{number}", what=f"not JSON: {_reason(error)}", fix=_FIX))
    if faults and not lenient:
        raise InputError(faults)
    return JsonLines(
        records=tuple(records), skipped=tuple(skipped), notices=_skip_notices(path, skipped, len(records))
    )


def split_lines(text: str) -> list[str]:
    r"""Split at line feeds only (with or without a carriage return): JSON strings may hold U+2028.

    >>> split_lines("a\r\nb\u2028c\n")
    ['a', 'b\u2028c', '']
    """
    return [line.removesuffix("\r") for line in text.split("\n")]


def id_text(value: object) -> str | None:
    """Return an id as text: a number is its spelling; None for what cannot be an id.

    >>> id_text(7), id_text("007"), id_text(parse_json("1.10")), id_text(True)
    ('7', '007', '1.10', None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, WrittenFloat):
        return value.text
    if isinstance(value, bool):
        return None
    return str(value) if isinstance(value, int | float) else None


def records_of(path: Path) -> list[tuple[int, dict[str, object]]]:
    """Return the records of a file of objects, each with its line: JSON lines, or one JSON list.

    For a JSON list the number is that of the element.

    Raises:
        InputError: the file is not that, or a record is not an object.
    """
    if path.name.removesuffix(".gz").endswith(".json"):
        value = read_json(path)
        if not isinstance(value, list):
            raise InputError(
                Fault(
                    where=str(path),
                    what="holds no list of records",
                    fix="one list of objects, or a .jsonl with an object a line",
                )
            )
        numbered: list[tuple[int, object]] = list(enumerate(cast("list[object]", value), start=1))
    else:
        numbered = list(read_jsonl(path).records)
    wrong = [number for number, record in numbered if not isinstance(record, dict)]
    if wrong:
        raise InputError(
            Fault(
                where=f"{path}:{number}",
                what="is not an object",
                fix="mend or remove it; every record is one JSON object",
            )
            for number in wrong
        )
    return cast("list[tuple[int, dict[str, object]]]", numbered)


_FIX = "mend or remove the line; every line of the file is one JSON object"


_ESCAPED_SURROGATE = "\\ud"


def _refuse_half_pairs(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"holds half a surrogate pair (\\u{ord(error.object[error.start]):x})") from error


def _reason(error: Exception) -> str:
    return f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    seen: set[str] = set()
    repeated = [key for key, _ in pairs if key in seen or seen.add(key)]
    marked = RepeatedKeys(plain)
    marked.repeated = tuple(dict.fromkeys(repeated))
    return marked


def _skip_notices(path: Path, skipped: list[int], loaded: int) -> tuple[Notice, ...]:
    if not skipped:
        return ()
    lines = [str(number) for number in skipped]
    plural = "lines were" if len(lines) > 1 else "line was"
    return (
        Notice(
            code="skipped-lines",
            text=f"{path.name}: {len(lines)} broken {plural} left out ({listed(lines)}); {loaded} loaded",
            ids=tuple(lines),
        ),
    )
