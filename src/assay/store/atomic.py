"""Writing so that a file is either there whole or not at all, whenever the program is stopped.

Each function writes beside the target, flushes to the disk, and renames: a reader sees the old file or
the new one, never a half. Two writers at once leave one of the two files, whole.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import StoreError

if TYPE_CHECKING:
    import polars as pl

PARTIAL = ".partial-"
"""How the names of unfinished files and folders begin; readers of folders skip them."""

_ABANDONED_AFTER_S = 3600.0


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file at once, making its folder when it is missing.

    Raises:
        StoreError: the disk is full, or the place cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=PARTIAL, suffix=path.suffix, dir=path.parent)
        partial = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.chmod(0o644)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


def write_text(path: Path, text: str) -> None:
    """Write a whole text file at once, as UTF-8 with the line ends that the text has.

    Raises:
        StoreError: the disk is full, or the place cannot be written.
    """
    write_bytes(path, text.encode())


def write_parquet(path: Path, table: pl.DataFrame) -> None:
    """Write a table at once, as Parquet. Equal tables give equal bytes.

    Raises:
        StoreError: the disk is full, or the place cannot be written.
    """
    write_bytes(path, parquet_bytes(table))


def parquet_bytes(table: pl.DataFrame) -> bytes:
    """Return a table as the bytes of a Parquet file (zstd, no statistics, nothing of the clock in it)."""
    import io  # noqa: PLC0415 - only where tables are written

    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", compression_level=3, statistics=False)
    return buffer.getvalue()


@contextlib.contextmanager
def new_folder(target: Path, *, replace: bool = False) -> Generator[Path]:
    """Give a folder to fill, and put it in the target's place when the block ends without an error.

    Args:
        target: where the folder shall stand.
        replace: put it in the place of a folder that is there; else a folder there that appears
            meanwhile is kept, and the new one is dropped.

    Raises:
        StoreError: the place cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target.parent)
        partial = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield partial
        _settle(partial, target, replace=replace)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _settle(partial: Path, target: Path, *, replace: bool) -> None:
    partial.chmod(0o755)
    if not target.exists():
        try:
            partial.rename(target)
        except OSError:
            if not target.exists():  # else: somebody else was quicker
                raise
        else:
            return
    if replace:
        old = target.with_name(f"{PARTIAL}old-{partial.name.removeprefix(PARTIAL)}")
        target.rename(old)
        partial.rename(target)
        shutil.rmtree(old, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Remove what a killed program left, once it is old enough to be nobody's work in progress."""
    limit = time.time() - _ABANDONED_AFTER_S
    for left in folder.glob(f"{PARTIAL}*"):
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < limit:
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{path}: cannot be written ({error.strerror or error})",
        fix="free the place, or make its folder writable",
    )
