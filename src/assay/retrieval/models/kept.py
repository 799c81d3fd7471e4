"""Answers that are slow or cost money, kept by their content: a repeated run asks for nothing twice.

With a folder it is one SQLite file, which several processes may use at once; without one, memory alone. It
can be deleted at any time; what is damaged is made again.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path

_AT_ONCE = 500
"""Keys that SQLite is asked for at a time."""
_TABLE = "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB NOT NULL, made INTEGER)"


class Kept:
    """Values by key.

    Args:
        path: the file; None: in memory alone.
        max_bytes: how much is kept on disk; the oldest go first.
        memory_bytes: how much is kept in memory; what was unused the longest goes first.
    """

    def __init__(self, path: Path | None, *, max_bytes: int = 4 << 30, memory_bytes: int = 512 << 20) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._memory_bytes = memory_bytes
        self._memory: OrderedDict[bytes, bytes] = OrderedDict()
        self._held = 0

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values that are there."""
        found: dict[bytes, bytes] = {}
        for key in keys:
            value = self._memory.get(key)
            if value is not None:
                self._memory.move_to_end(key)
                found[key] = value
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        stored = dict(self._stored(missing)) if missing and self._path is not None else {}
        self._remember(stored)
        return found | stored

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values."""
        self._remember(values)
        if self._path is None or not values:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._write(values)
        except sqlite3.DatabaseError:  # a damaged file: begin again
            self._path.unlink(missing_ok=True)
            self._write(values)

    def _write(self, values: Mapping[bytes, bytes]) -> None:
        with self._open() as file:
            file.execute(_TABLE)
            (last,) = file.execute("SELECT COALESCE(MAX(made), 0) FROM kept").fetchone()
            rows = [(key, value, last + 1) for key, value in values.items()]
            file.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)
            size = _bytes(file)
            if size > self._max_bytes:
                oldest = file.execute("SELECT key, LENGTH(value) FROM kept ORDER BY made, key").fetchall()
                for key, length in oldest:
                    if size <= self._max_bytes // 2:
                        break
                    file.execute("DELETE FROM kept WHERE key = ?", (key,))
                    size -= length

    def _stored(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        if self._path is None or not self._path.is_file():
            return
        try:
            with self._open() as file:
                for start in range(0, len(keys), _AT_ONCE):
                    part = keys[start : start + _AT_ONCE]
                    marks = ",".join("?" * len(part))
                    yield from file.execute(f"SELECT key, value FROM kept WHERE key IN ({marks})", part)  # noqa: S608 - only question marks
        except sqlite3.DatabaseError:
            return

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        assert self._path is not None  # else nothing is opened
        with closing(sqlite3.connect(self._path, timeout=60.0)) as file, file:
            yield file

    def _remember(self, values: Mapping[bytes, bytes]) -> None:
        for key, value in values.items():
            self._held += len(value) - len(self._memory.pop(key, b""))
            self._memory[key] = value
        while self._held > self._memory_bytes and self._memory:
            _, gone = self._memory.popitem(last=False)
            self._held -= len(gone)


def _bytes(file: sqlite3.Connection) -> int:
    pages, free, size = (
        int(file.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def key_of(*parts: str) -> bytes:
    """Return the key of an answer: the digest of all that the question held.

    >>> key_of("a", "bc") == key_of("ab", "c")
    False
    """
    state = blake2b(digest_size=20)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(f"{len(data)} ".encode())
        state.update(data)
    return state.digest()
