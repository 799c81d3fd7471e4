"""Reading a corpus: a folder, a glob, one file, or records."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.corpus.corpora import Corpus, corpus_of
from assay.corpus.decoding import declared_encoding, decode, encoding_fault
from assay.corpus.folders import RECORD_SUFFIXES, find_files, kind_of
from assay.corpus.html import read_html
from assay.corpus.outline import title_of
from assay.corpus.records import Columns, read_records
from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.notices import Notice, listed

_ELSEWHERE = "name a folder, a glob or a file that is there"
_HTML = frozenset({".html", ".htm", ".xhtml"})
# Files that people name by mistake: what is in them is not text, whatever their bytes are.
_NEED_CONVERTING = frozenset({".pdf", ".docx", ".doc", ".pptx", ".xlsx", ".epub", ".odt", ".parquet"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What one file gave."""

    documents: tuple[Document, ...] = ()
    faults: tuple[Fault, ...] = ()
    notices: tuple[Notice, ...] = ()
    nul_characters: int = 0


def read_corpus(
    source: Path | str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    encoding: str | None = None,
    columns: Columns | None = None,
) -> Corpus:
    """Return the documents of a folder, a glob (``docs/**/*.md``), a file, or a file of records.

    Text (txt, md, rst) is kept exactly as it stands, only the byte-order mark goes; of HTML the visible
    text is kept. JSONL, JSON and CSV files (also with ``.gz``) hold one document a record. Ids are paths
    relative to the folder, with forward slashes, or the ids of records; documents are in the order of their
    ids, whatever the order of the disk.

    Args:
        source: the folder, glob or file.
        include: patterns of the files to read; by default the text files of a folder.
        exclude: patterns of files and folders to leave out.
        encoding: of files without a byte-order mark; by default UTF-8 (HTML: what the page declares).
        columns: names of the id, text and title columns of records; by default found by their usual names.

    Raises:
        InputError: nothing is there, a file is not text, a record is broken, ids collide; all faults at once.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "refunds.md").write_text("# Refunds", encoding="utf-8")
    ...     read_corpus(folder).documents[0].title
    'Refunds'
    """
    faults = [fault for fault in (encoding_fault(encoding),) if fault]
    found = find_files(source, include=include, exclude=exclude)
    if found is None:
        raise InputError(
            [*faults, Fault(where=str(source), what="there is no such file or folder", fix=_ELSEWHERE)]
        )
    if not found.files:
        faults.append(_nothing(source, include, exclude, found.notices))
    if faults:
        raise InputError(faults)
    read = [_read_file(name, path, encoding, columns or Columns()) for name, path in found.files]
    faults = [fault for one in read for fault in one.faults]
    if faults:
        raise InputError(faults)
    notices = [*found.notices, *(notice for one in read for notice in one.notices)]
    strange = [name for (name, _), one in zip(found.files, read, strict=True) if one.nul_characters]
    if strange:
        notices.append(
            Notice(
                code="nul-characters",
                text=f"{len(strange)} file(s) hold a few NUL characters, which were kept: {listed(strange)}",
                ids=tuple(strange),
            )
        )
    return corpus_of((document for one in read for document in one.documents), notices=notices)


def _nothing(
    source: Path | str, include: Sequence[str], exclude: Sequence[str], notices: Sequence[Notice]
) -> Fault:
    looked = f"no file matches {', '.join(include)}" if include else "no text file is there"
    but = f" (exclude: {', '.join(exclude)})" if exclude else ""
    there = f"; {notices[0].text}" if notices else ""
    fix = "name files by include, for one **/*.md"
    records = [name for notice in notices for name in notice.ids if kind_of(name) in RECORD_SUFFIXES]
    if records:
        fix = f"a file of records is named itself: {(Path(source) / records[0]).as_posix()}"
    return Fault(where=str(source), what=f"{looked}{but}{there}", fix=fix)


def _read_file(name: str, path: Path, encoding: str | None, columns: Columns) -> _Read:
    zipped, kind = name.lower().endswith(".gz"), kind_of(name)
    if not name.isascii() and _is_broken(name):
        what = "the file's name is not valid UTF-8"
        return _Read(faults=(Fault(where=ascii(name), what=what, fix="rename the file"),))
    if kind in _NEED_CONVERTING:
        return _Read(
            faults=(
                Fault(where=name, what=f"{kind} is not read", fix="convert it to text or Markdown first"),
            )
        )
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if zipped else data
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return _Read(
            faults=(
                Fault(where=name, what=f"cannot be read: {reason}", fix="make it readable, or exclude it"),
            )
        )
    declared = declared_encoding(data) if kind in _HTML and encoding is None else None
    decoded = decode(data, where=name, encoding=encoding or declared)
    if decoded.fault is not None:
        return _Read(faults=(decoded.fault,))
    if kind in RECORD_SUFFIXES:
        records = read_records(decoded.text, name=name, suffix=kind, columns=columns)
        return _Read(documents=records.documents, faults=records.faults, notices=records.notices)
    if kind in _HTML:
        page = read_html(decoded.text)
        document = Document(id=name, text=page.text, title=page.title)
    else:
        document = Document(id=name, text=decoded.text, title=title_of(decoded.text, kind))
    return _Read(documents=(document,), nul_characters=decoded.nul_characters)


def _is_broken(name: str) -> bool:
    """Tell whether a name holds bytes that no text has: the system gives them as lone surrogates."""
    return any("\ud800" <= character <= "\udfff" for character in name)
