"""Work that is done once: embeddings and indexes by content and settings, stages of equal prefixes.

Two shelves. **In memory** stand the results of stages, by the digest of all that went into them: two
pipelines that begin alike share what they share (trials and sweeps turn one knob). **On disk**, where a
folder is given, stand embeddings and indexes, one folder an entry: arrays as ``.npy`` files, and
``entry.json`` with the size and checksum of each. An entry is written beside its place and moved there
whole; one that is damaged is made again; the oldest unused ones are removed when the shelf grows too large.
It can be deleted at any time.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Arrays = Mapping[str, NDArray[Any]]

_FORM = 1
"""Raised when what is stored changes its meaning, so that old entries are left alone."""
_CHECKED = 64 << 20
"""Files up to this many bytes are read whole and checked; larger ones are mapped, and only their size is."""
_UNFINISHED = ".unfinished-"
_ABANDONED_AFTER_S = 7 * 24 * 3600.0
"""What is not finished, and was not written to for so long, is of a program that was killed."""


class EntryWriter:
    """Takes the arrays of one entry; large ones can be filled piece by piece, without being in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.arrays: dict[str, NDArray[Any]] = {}

    def put(self, name: str, values: NDArray[Any]) -> None:
        """Store an array."""
        if self.folder is not None:
            np.save(self.folder / f"{name}.npy", values)
        self.arrays[name] = values

    def create(self, name: str, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array to be filled: on disk where the cache is, else in memory."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self.folder is None or not size:
            made: NDArray[Any] = np.zeros(shape, dtype)
            if self.folder is not None:
                np.save(self.folder / f"{name}.npy", made)
        else:
            made = np.lib.format.open_memmap(
                self.folder / f"{name}.npy", mode="w+", dtype=np.dtype(dtype), shape=shape
            )
        self.arrays[name] = made
        return made


class Cache:
    """The two shelves.

    Args:
        folder: where embeddings and indexes are kept; None: nothing outlives the process.
        max_bytes: how large the folder may grow before the entries that were unused the longest go.
        most: how many results are kept in memory; the one unused the longest goes.
    """

    def __init__(self, folder: Path | None = None, *, max_bytes: int = 8 << 30, most: int = 256) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self.most = most
        self.made: dict[str, int] = {}
        """Kind -> how many results of that kind had to be made."""
        self.reused: dict[str, int] = {}
        """Kind -> how many were found, in memory or on disk."""
        self._memory: OrderedDict[str, object] = OrderedDict()

    def remember(self, kind: str, key: str, make: Callable[[], T]) -> T:
        """Return what ``make`` made when it was first asked for this key in this process."""
        name = f"{kind}-{key}"
        if name in self._memory:
            self._memory.move_to_end(name)
            self.reused[kind] = self.reused.get(kind, 0) + 1
            return cast("T", self._memory[name])
        made = make()
        self.made[kind] = self.made.get(kind, 0) + 1
        self._keep(name, made)
        return made

    def arrays(self, kind: str, key: str, fill: Callable[[EntryWriter], None]) -> Arrays:
        """Return the arrays of an entry, from memory, from disk, or as ``fill`` makes them.

        Args:
            kind: what they are: ``vectors``, ``terms``.
            key: digest of all that they depend on.
            fill: puts them into a writer.
        """
        name = f"{kind}-{key}-{_FORM}"
        if name in self._memory:
            self._memory.move_to_end(name)
            self.reused[kind] = self.reused.get(kind, 0) + 1
            return cast("Arrays", self._memory[name])
        stored = None if self.folder is None else _read(self.folder / name)
        if stored is None:
            # Whoever comes second waits, and finds what the first has made.
            with _one_at_a_time(self.folder, name):
                stored = None if self.folder is None else _read(self.folder / name)
                if stored is None:
                    stored = self._make(name, fill)
                    self.made[kind] = self.made.get(kind, 0) + 1
                else:
                    self.reused[kind] = self.reused.get(kind, 0) + 1
        else:
            self.reused[kind] = self.reused.get(kind, 0) + 1
        self._keep(name, stored)
        return stored

    def prune(self, max_bytes: int | None = None) -> int:
        """Remove the entries that were unused the longest until the folder is small enough.

        What a killed program left unfinished goes too, once nothing has been written to it for a week.

        Returns:
            How many entries went.
        """
        if self.folder is None or not self.folder.is_dir():
            return 0
        entries: list[tuple[float, int, Path]] = []
        for entry in self.folder.iterdir():
            # Other programs move and remove entries meanwhile: what goes away is no longer anybody's concern.
            with suppress(OSError):
                if not entry.name.startswith(_UNFINISHED):
                    entries.append((_used(entry), _bytes(entry), entry))
                elif time.time() - max(map(_changed, (entry, *entry.iterdir()))) > _ABANDONED_AFTER_S:
                    shutil.rmtree(entry)
        entries.sort()
        excess = sum(size for _, size, _ in entries) - (self.max_bytes if max_bytes is None else max_bytes)
        removed = 0
        for _, size, entry in entries:
            if excess <= 0:
                break
            shutil.rmtree(entry, ignore_errors=True)
            excess -= size
            removed += 1
        return removed

    def _keep(self, name: str, value: object) -> None:
        self._memory[name] = value
        while len(self._memory) > self.most:
            self._memory.popitem(last=False)

    def _make(self, name: str, fill: Callable[[EntryWriter], None]) -> Arrays:
        if self.folder is None:
            writer = EntryWriter(None)
            fill(writer)
            return writer.arrays
        self.folder.mkdir(parents=True, exist_ok=True)
        place = self.folder / name
        unfinished = Path(tempfile.mkdtemp(prefix=f"{_UNFINISHED}{name}-", dir=self.folder))
        try:
            writer = EntryWriter(unfinished)
            fill(writer)
            _seal(unfinished, writer.arrays)
            shutil.rmtree(place, ignore_errors=True)  # what is there could not be read
            try:
                unfinished.rename(place)
            except OSError:  # somebody else made it meanwhile
                shutil.rmtree(unfinished, ignore_errors=True)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        self.prune()
        return _read(place) or writer.arrays


@contextmanager
def _one_at_a_time(folder: Path | None, name: str) -> Generator[None]:
    """Let one program at a time make an entry; the system lets go of the lock when a program ends."""
    lock = None if folder is None else _locked(folder, name)
    if lock is None:
        yield
        return
    with lock:
        try:
            yield
        finally:
            # Gone before it is let go: whoever waited sees that it holds a file that is no longer there.
            Path(lock.name).unlink(missing_ok=True)


def _locked(folder: Path, name: str) -> IO[bytes] | None:
    """Wait for the lock of an entry; None where there are no locks, and two programs may do work twice."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows

        # Not in the folder, which may be deleted at any time; and one lock an entry, for entries may nest.
        locks = Path(tempfile.gettempdir()) / f"assay-locks-{os.getuid()}"
        locks.mkdir(mode=0o700, exist_ok=True)
        place = locks / blake2b(f"{folder.resolve()}\n{name}".encode(), digest_size=12).hexdigest()
        while True:
            lock = place.open("ab")
            fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock.fileno()), place.stat()):
                    return lock
            lock.close()
    except (ImportError, OSError):
        return None


def _seal(folder: Path, arrays: Arrays) -> None:
    """Write ``entry.json``: the last file, so that an entry with it is whole."""
    files: dict[str, dict[str, object]] = {}
    for name, values in arrays.items():
        if isinstance(values, np.memmap):
            values.flush()
        path = folder / f"{name}.npy"
        size = path.stat().st_size
        files[name] = {"bytes": size, "blake2b": _checksum(path) if size <= _CHECKED else None}
    (folder / "entry.json").write_text(json.dumps({"form": _FORM, "files": files}), encoding="utf-8")


def _read(folder: Path) -> Arrays | None:
    """Return the arrays of an entry, or None when it is absent or damaged."""
    try:
        entry = json.loads((folder / "entry.json").read_text(encoding="utf-8"))
        arrays: dict[str, NDArray[Any]] = {}
        for name, said in entry["files"].items():
            path = folder / f"{name}.npy"
            if path.stat().st_size != said["bytes"]:
                return None
            if said["bytes"] <= _CHECKED:
                if _checksum(path) != said["blake2b"]:
                    return None
                arrays[name] = np.load(path, allow_pickle=False)
            else:
                arrays[name] = np.load(path, allow_pickle=False, mmap_mode="r")
        os.utime(folder / "entry.json", (time.time(), time.time()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError):
        return None
    return arrays


def _checksum(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _used(entry: Path) -> float:
    return _changed(entry / "entry.json")


def _changed(path: Path) -> float:
    return path.stat().st_mtime


def _bytes(entry: Path) -> int:
    return sum(file.stat().st_size for file in entry.iterdir())
