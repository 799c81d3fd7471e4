"""The digest of a file's content, known again without reading the file when nobody has touched it since."""

from __future__ import annotations

import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from assay.model.errors import Fault, InputError
from assay.store.atomic import write_bytes
from assay.store.rankings.opening import opened_raw

_PIECE = 1 << 25
_SETTLED_NS = 2_000_000_000
"""A file that was written just before it was read may be written again within one tick of its clock."""


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was when its content was read."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    digest: str


def content_digest(path: Path) -> str:
    """Return 32 hex digits over the bytes of a file, hashed in pieces on all processors.

    Raises:
        InputError: the file cannot be read.
    """
    with opened_raw(path):
        size = path.stat().st_size

    def piece(start: int) -> bytes:
        with opened_raw(path) as file:
            file.seek(start)
            return hashlib.blake2b(file.read(_PIECE), digest_size=16).digest()

    with ThreadPoolExecutor() as pool:
        digests = list(pool.map(piece, range(0, size, _PIECE)))
    return hashlib.blake2b(b"".join([str(size).encode(), *digests]), digest_size=16).hexdigest()


def remembered_digest(path: Path, folder: Path) -> str:
    """Return the content's digest; from the notes in a folder, when the file is the one that was read.

    A note counts as long as size, inode and both times of the file are what they were; it is not made of a
    file that changed within the last two seconds, whose times could stay the same through a change.

    Raises:
        InputError: the file cannot be read.
        StoreError: the folder cannot be written.
    """
    with opened_raw(path) as file:
        at = os.fstat(file.fileno())
    place = str(path.resolve())
    note = folder / f"{hashlib.blake2b(place.encode(), digest_size=16).hexdigest()}.json"
    try:
        kept = msgspec.json.decode(note.read_bytes(), type=_Seen)
    except (OSError, msgspec.DecodeError):
        kept = None
    if kept is not None and kept == _seen(place, at, kept.digest):
        return kept.digest
    began = time.time_ns()
    made = _seen(place, at, content_digest(path))
    if max(at.st_mtime_ns, at.st_ctime_ns) < began - _SETTLED_NS:
        try:
            after = path.stat()
        except OSError as error:
            raise InputError(
                Fault(where=str(path), what="went away while it was read", fix="run the command again")
            ) from error
        if made == _seen(place, after, made.digest):
            write_bytes(note, msgspec.json.encode(made))
    return made.digest


def _seen(place: str, at: os.stat_result, digest: str) -> _Seen:
    return _Seen(
        path=place,
        size=at.st_size,
        mtime_ns=at.st_mtime_ns,
        ctime_ns=at.st_ctime_ns,
        inode=at.st_ino,
        device=at.st_dev,
        digest=digest,
    )
