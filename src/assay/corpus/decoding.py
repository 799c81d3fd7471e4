"""Bytes to text: which encoding, what happens to the mark, and what is not text at all."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from assay.model.errors import Fault

# Longest marks first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY_SHARE = 0.001
_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The text of a file, or what is wrong with it."""

    text: str = ""
    fault: Fault | None = None
    nul_characters: int = 0
    """NUL characters that the text holds; more than one in a thousand bytes makes it a fault."""


def decode(data: bytes, *, where: str, encoding: str | None = None) -> Decoded:
    r"""Return the text of some bytes without their byte-order mark; line ends stay as they are.

    A mark decides the encoding. Without one it is ``encoding``, or UTF-8. Bytes that are not valid in it,
    and files full of NUL, are faults: a replacement character in a corpus would move nothing and match
    nothing.

    >>> decode(b"\xef\xbb\xbfone\r\ntwo", where="a.txt").text
    'one\r\ntwo'
    >>> print(decode(b"caf\xe9", where="a.txt").fault)
    a.txt: not valid UTF-8: byte 0xe9 at offset 3, line 1
      fix: save it as UTF-8, or name its encoding (encoding = "cp1252", for one)
    """
    for mark, marked in _MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], where, marked)
    return _decode(data, where, encoding or "utf-8")


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding that an HTML file declares in its first kilobytes, or None.

    >>> declared_encoding(b'<html><meta charset="iso-8859-1">')
    'iso-8859-1'
    """
    found = _DECLARED.search(data[:4096])
    if found is None:
        return None
    name = found.group(1).decode("ascii")
    return name if _known(name) else None


def encoding_fault(encoding: str | None) -> Fault | None:
    """Return what is wrong with a named encoding; None when Python knows it.

    >>> print(encoding_fault("utf-9"))
    encoding: no encoding is called 'utf-9'
      fix: name one that Python knows: utf-8, cp1252, iso-8859-1, utf-16, shift_jis, gb18030
    """
    if encoding is None or _known(encoding):
        return None
    return Fault(
        where="encoding",
        what=f"no encoding is called {encoding!r}",
        fix="name one that Python knows: utf-8, cp1252, iso-8859-1, utf-16, shift_jis, gb18030",
    )


def _known(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding)._is_text_encoding  # noqa: SLF001 - the only mark of base64 and its like
    except LookupError:
        return False


def _decode(data: bytes, where: str, encoding: str) -> Decoded:
    wide = encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32"))
    nul_bytes = 0 if wide else data.count(0)
    if nul_bytes > len(data) * _BINARY_SHARE:
        return Decoded(fault=_binary_fault(data, where, nul_bytes))
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        return Decoded(fault=_undecodable(data, where, encoding, error))
    return Decoded(text=text.removeprefix("\ufeff"), nul_characters=text.count("\0"))


def _binary_fault(data: bytes, where: str, nul_bytes: int) -> Fault:
    # Latin text in UTF-16 is NUL in every second byte.
    if len(data) % 2 == 0 and nul_bytes >= len(data) * 0.3:
        return Fault(
            where=where,
            what=f"every other byte is NUL ({nul_bytes} of {len(data)}): it looks like UTF-16 without a mark",
            fix='name its encoding (encoding = "utf-16-le"), save it as UTF-8, or exclude it',
        )
    return Fault(
        where=where,
        what=f"not text: {nul_bytes} NUL bytes in {len(data)}, the first at offset {data.index(0)}",
        fix="exclude it, or save its text as UTF-8",
    )


def _undecodable(data: bytes, where: str, encoding: str, error: UnicodeDecodeError) -> Fault:
    line = data.count(b"\n", 0, error.start) + 1
    named = "UTF-8" if encoding == "utf-8" else encoding
    place = f"byte 0x{data[error.start]:02x} at offset {error.start}, line {line}"
    return Fault(
        where=where,
        what=f"not valid {named}: {place}",
        fix='save it as UTF-8, or name its encoding (encoding = "cp1252", for one)',
    )
