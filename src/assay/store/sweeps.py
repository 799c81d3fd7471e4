"""The folder of a sweep: its plan, and one line a measured configuration, appended and never changed.

A line is written whole and flushed to the disk before the next begins; what a killed program left half is cut
off when the sweep goes on. Results are keyed by what was measured, so that their order in the file, which
depends on who was quicker, changes nothing.
"""

from __future__ import annotations

import base64
import contextlib
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.model.errors import StoreError
from assay.store.atomic import write_bytes

PLAN, LOG, LOCK = "plan.json", "measured.jsonl", "lock"


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """One measured configuration."""

    key: str
    """What was measured: the configuration and the queries."""
    number: int
    """Of the configuration, for people who read the file."""
    round: int
    values: dict[str, str]
    """Column -> its float64 values, compressed."""
    costs: dict[str, float | int | None]
    samples: list[float]
    """Milliseconds of the queries that were timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One measured configuration, read back."""

    number: int
    round: int
    values: Mapping[str, NDArray[np.float64]]
    costs: Mapping[str, float | int | None]
    samples: tuple[float, ...]
    why: str | None = None
    """Why it could not be measured; None: it was. Such a record is not kept."""


class SweepLog:
    """The folder of one sweep, held open by one program at a time.

    Args:
        folder: where it is; made when it is missing.
        plan: the plan as plain values, written down for people.

    Raises:
        StoreError: another program works in it, or it cannot be written.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self.folder = folder
        self.records: dict[str, Record] = {}
        """Key -> what was measured."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder / LOCK)
            if not (folder / PLAN).is_file():
                text = msgspec.json.format(msgspec.json.encode(plan), indent=2)
                write_bytes(folder / PLAN, text + b"\n")
            self._read()
            self._file = (folder / LOG).open("ab")
        except OSError as error:
            raise StoreError(
                f"{folder}: cannot be written ({error.strerror or error})",
                fix="free the place, or make it writable",
            ) from error

    def append(self, key: str, record: Record) -> None:
        """Write one measured configuration down: when this returns, it is on the disk."""
        line = Line(
            key=key,
            number=record.number,
            round=record.round,
            values={name: _packed(values) for name, values in record.values.items()},
            costs=dict(record.costs),
            samples=list(record.samples),
        )
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.records[key] = record

    def close(self) -> None:
        """Let others in."""
        self._file.close()
        self._lock.close()

    def _read(self) -> None:
        path = self.folder / LOG
        if not path.is_file():
            return
        data = path.read_bytes()
        decoder = msgspec.json.Decoder(Line)
        whole = 0
        for raw in data.splitlines(keepends=True):
            try:
                line = decoder.decode(raw)
                values = {name: _unpacked(text) for name, text in line.values.items()}
            except (msgspec.DecodeError, ValueError, zlib.error):
                break  # a killed program left it half, and nothing was written after it
            if not raw.endswith(b"\n"):
                break
            whole += len(raw)
            self.records[line.key] = Record(
                number=line.number,
                round=line.round,
                values=values,
                costs=line.costs,
                samples=tuple(line.samples),
            )
        if whole < len(data):
            with path.open("r+b") as file:
                file.truncate(whole)


def _packed(values: NDArray[np.float64]) -> str:
    return base64.b64encode(zlib.compress(np.asarray(values, "<f8").tobytes(), 6)).decode()


def _unpacked(text: str) -> NDArray[np.float64]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), "<f8").astype(np.float64)


def _locked(path: Path) -> IO[bytes]:
    """Open a file that only one program has open so; the system lets go of it when the program ends."""
    file = path.open("ab")
    with contextlib.suppress(ImportError):  # where there is no such lock, two programs may do work twice
        import fcntl  # noqa: PLC0415 - not on Windows

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise StoreError(
                f"{path.parent}: another program runs this sweep",
                fix="wait for it, or stop it: what it has is kept",
            ) from None
    return file
