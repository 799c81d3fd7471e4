"""Opening files as bytes, compressed or not, and cutting them at line ends."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from assay.model.errors import InputError, MissingExtraError

SLICE = 1 << 23
"""Bytes that are parsed at a time: small enough for the processor's cache, large enough for threads."""

_NEAR = 1 << 10

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"BZh": "bz2",
    b"\xfd7zXZ": "xz",
}
_SUFFIXES = {".gz", ".gzip", ".zst", ".zstd", ".lz4", ".bz2", ".xz"}


def compression(path: Path) -> str | None:
    """Return how a file is compressed, by its first bytes; None when it is not.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    with opened_raw(path) as file:
        head = file.read(6)
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def bare_suffix(path: Path) -> str:
    """Return the suffix that says the form, without that of the compression, in lower case.

    >>> bare_suffix(Path("runs/bm25.TREC.gz"))
    '.trec'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in _SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def opened_raw(path: Path) -> BinaryIO:
    """Open a file as it is.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    try:
        return path.open("rb", buffering=0) if path.is_file() else _missing(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror})", fix="make the file readable"
        ) from error


def opened(path: Path) -> BinaryIO:
    """Open a file for reading what is inside, whatever its compression.

    Raises:
        InputError: there is no such file, or it cannot be read.
        MissingExtraError: LZ4 needs a package that is not installed.
    """
    how = compression(path)
    if how == "gzip":
        import gzip  # noqa: PLC0415 - each only where a file needs it

        return cast("BinaryIO", gzip.open(path, "rb"))
    if how == "bz2":
        import bz2  # noqa: PLC0415

        return cast("BinaryIO", bz2.open(path, "rb"))
    if how == "xz":
        import lzma  # noqa: PLC0415

        return cast("BinaryIO", lzma.open(path, "rb"))
    if how == "zstd":
        return _opened_zstd(path)
    if how == "lz4":
        try:
            import lz4.frame  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise MissingExtraError(f"{path}: reading LZ4", package="lz4", extra="ranx") from None
        return cast("BinaryIO", lz4.frame.open(path, "rb"))  # pyright: ignore[reportUnknownMemberType]
    return opened_raw(path)


def whole(path: Path) -> bytes:
    """Return all bytes of a file, unpacked.

    Raises:
        InputError: as ``opened``, or the compressed file is broken.
    """
    return b"".join(_pieces(path))


def sliced(path: Path, size: int | None = None) -> Iterator[bytes]:
    """Yield a file in slices of at least ``size`` bytes (``SLICE``) that end where a line ends.

    Of a file that is not compressed they end, where that is near, where the first word of the lines changes.

    Raises:
        InputError: as ``opened``, or the compressed file is broken.
    """
    if compression(path) is None:
        yield from _sliced_plain(path, size or SLICE)
        return
    rest = b""
    for piece in _pieces(path):
        cut = piece.rfind(b"\n") + 1
        if not cut:
            rest += piece
            continue
        yield rest + piece[:cut] if rest else piece[:cut]
        rest = piece[cut:]
    if rest:
        yield rest


def _sliced_plain(path: Path, size: int) -> Iterator[bytes]:
    """Read each slice once, to where it ends."""
    with path.open("rb") as file:  # buffered, so that a read is never short before the end
        start = 0
        while True:
            file.seek(start + size)
            more = _to_line_end(file)
            more += _to_next_word(file, start + size + more, size)
            file.seek(start)
            data = file.read(size + more)
            if not data:
                return
            yield data
            start += len(data)


def _to_line_end(file: BinaryIO) -> int:
    more = 0
    while (near := file.read(_NEAR)) and b"\n" not in near:
        more += len(near)
    return more + near.find(b"\n") + 1


def _to_next_word(file: BinaryIO, start: int, most: int) -> int:
    """Return how many bytes from the beginning of a line have lines that begin with the same word."""
    file.seek(start)
    more, word = 0, None
    while more < most and (line := file.readline()):
        first = line[:_NEAR].split(None, 1)[:1]
        if word is not None and first != word:
            break
        word = first
        more += len(line)
    return more


def _pieces(path: Path) -> Iterator[bytes]:
    with opened(path) as file:
        while True:
            try:
                piece = file.read(SLICE)
            except (OSError, EOFError) as error:
                raise InputError(
                    f"{path}: the compressed file is broken ({error})", fix="copy or pack the file again"
                ) from error
            if not piece:
                return
            yield piece


def _opened_zstd(path: Path) -> BinaryIO:
    # Python has no zstd before 3.14; polars has, and reads whole lines.
    import polars as pl  # noqa: PLC0415

    lines = pl.read_csv(
        path.read_bytes(), separator="\x01", has_header=False, quote_char=None, infer_schema=False
    )
    text = lines.to_series().fill_null("").str.join("\n").item() if lines.width else ""
    return io.BytesIO(text.encode())


def unpacked_lz4(data: bytes) -> bytes:
    """Return what is inside LZ4 bytes; other bytes as they are."""
    if not data.startswith(b"\x04\x22\x4d\x18"):
        return data
    import lz4.frame  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    return cast("bytes", lz4.frame.decompress(data))  # pyright: ignore[reportUnknownMemberType]


def _missing(path: Path) -> BinaryIO:
    what = "is a folder, not a file" if path.is_dir() else "there is no such file"
    raise InputError(f"{path}: {what}", fix="name the file of the run or of the judgements")
