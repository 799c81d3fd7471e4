"""Opening runs and judgements: whatever their form, they come out as batches of rows.

A source is a path, an object of objects, a Polars or pandas frame, or an iterable of records as
ir_datasets and ir-measures give them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from assay.model.errors import InputError, nearest
from assay.store.rankings import trec
from assay.store.rankings.ahead import ahead, begun
from assay.store.rankings.batch import Batch, UncleanError
from assay.store.rankings.columns import DOC, GRADE, QUERY, SCORE, find
from assay.store.rankings.opening import bare_suffix, opened
from assay.store.rankings.ordering import Ties
from assay.store.rankings.rows import Rows

if TYPE_CHECKING:
    from assay.store.rankings.tables import Frame

Form = Literal["trec", "jsonl", "json", "csv", "parquet", "arrow"]
FORMS: tuple[Form, ...] = ("trec", "jsonl", "json", "csv", "parquet", "arrow")

Source: TypeAlias = "str | Path | Mapping[str, object] | Iterable[object] | object"

_SUFFIXES: dict[str, Form] = {
    ".trec": "trec", ".run": "trec", ".res": "trec", ".qrels": "trec", ".qrel": "trec",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "csv",
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip

_MAGIC: dict[bytes, Form] = {b"PAR1": "parquet", b"ARROW1": "arrow"}

Said: TypeAlias = dict[str, dict[str, str]]
"""Query -> column -> value: what a file of judgements says of a query beside its documents."""


@dataclass(frozen=True, kw_only=True)
class Readable:
    """Rows that can be read, as often as they are needed."""

    name: str
    """The file, or what the caller calls it."""
    clean: Callable[[], Iterator[Batch]]
    """The fast way. It raises ``UncleanError`` where something has to be looked at."""
    careful: Callable[[Rows], None]
    """The patient way: every row, and all that is wrong with it."""
    ties: Ties = "given"
    """How equal scores stand unless the caller says otherwise: as in trec_eval for TREC files."""
    said: Callable[[], Said] = dict[str, "dict[str, str]"]
    path: Path | None = None
    form: Form | None = None

    @property
    def quick(self) -> bool:
        """Whether it is read sooner than what is coded of it would be: a TREC file of a few megabytes."""
        return self.form == "trec" and self.path is not None and trec.is_small(self.path)

    def begun(self) -> Readable:
        """Return the same rows, of which a long file begins to be read on another thread now."""
        if self.path is None or not self.path.is_file() or self.path.stat().st_size < trec.SMALL:
            return self
        waiting = [begun(self.clean())]
        return replace(self, clean=lambda: waiting.pop() if waiting else self.clean())


def open_run(source: Source, *, form: Form | None = None) -> Readable:
    """Return a run ready to be read.

    Args:
        source: a path, a mapping, a frame or an iterable of records.
        form: the form of a file, where neither its name nor its first bytes say it.

    Raises:
        InputError: there is no such file, or nobody can tell what it is.
    """
    return _opened(source, form, judgements=False)


def open_qrels(source: Source, *, form: Form | None = None) -> Readable:
    """Return judgements ready to be read.

    Args:
        source: a path, a mapping, a frame or an iterable of records.
        form: the form of a file, where neither its name nor its first bytes say it.

    Raises:
        InputError: there is no such file, or nobody can tell what it is.
    """
    return _opened(source, form, judgements=True)


def form_of(path: Path) -> Form:
    """Return the form of a file: by its name, else by its first bytes.

    Raises:
        InputError: there is no such file, or it is empty of anything to go by.
    """
    if _is_dataset(path):
        return "parquet"
    suffix = bare_suffix(path)
    form = _SUFFIXES.get(suffix)
    if form != "csv" and form is not None:
        return form
    if path.suffix.lower() == ".lz4" and not suffix:
        return "json"  # ranx's own: the object of objects as CBOR
    with opened(path) as file:
        head = file.read(1 << 16)
    return _form_of_bytes(head, csv=form == "csv")


def _is_dataset(path: Path) -> bool:
    """Return whether a path is a folder of Parquet files, as engines write them."""
    return path.is_dir() and any(path.glob("*.parquet"))


def _form_of_bytes(head: bytes, *, csv: bool) -> Form:
    for magic, binary in _MAGIC.items():
        if head.startswith(magic):
            return binary
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        first = text.split(b"\n", 1)[0].rstrip()
        return "jsonl" if first.endswith(b"}") and b"\n" in text else "json"
    first = text.split(b"\n", 1)[0].decode(errors="replace").strip()
    cells = first.split("\t" if "\t" in first else ",")
    header = find(cells, QUERY) is not None and find(cells, DOC) is not None
    return "csv" if header or (csv and "," in first) else "trec"


def form_by_name(path: Path) -> Form:
    """Return the form that a file's name says, for a file that is to be written.

    Raises:
        InputError: the name says none.

    >>> form_by_name(Path("run.jsonl.gz"))
    'jsonl'
    """
    form = _SUFFIXES.get(bare_suffix(path))
    if form is None:
        raise InputError(
            f"{path}: the name does not say the form",
            fix="end it in .run, .qrels, .jsonl, .json, .csv or .parquet",
        )
    return form


def as_form(text: str | None) -> Form | None:
    """Return the form of that name; None stays None.

    Raises:
        InputError: there is no such form.

    >>> as_form("trec")
    'trec'
    """
    if text is None or text in FORMS:
        return text
    close = nearest(text, FORMS)
    fix = f"did you mean {close!r}?" if close else f"one of {', '.join(FORMS)}"
    raise InputError(f"there is no form {text!r}", fix=fix)


def _opened(source: Source, form: Form | None, *, judgements: bool) -> Readable:
    if isinstance(source, str | Path):
        return _file(Path(source), form, judgements=judgements)
    name = "judgements" if judgements else "run"
    if isinstance(source, Mapping):
        from assay.store.rankings import mappings  # noqa: PLC0415 - a small TREC file is read before it loads

        take = partial(mappings.take_mapping, source, judgements=judgements)
        return Readable(name=name, clean=partial(_listed, name, take), careful=take)
    kind = type(source).__module__.partition(".")[0]
    from assay.store.rankings import tables  # noqa: PLC0415

    if kind == "polars":
        return _table(name, lambda: source, judgements=judgements)
    if kind == "pandas":
        return _table(name, partial(tables.from_pandas, source), judgements=judgements)
    if kind == "pyarrow":
        return _table(name, partial(tables.from_arrow, source), judgements=judgements)
    if isinstance(source, Iterable):
        kept = list(cast("Iterable[object]", source))
        take = partial(_take_records, kept, judgements=judgements)
        return Readable(name=name, clean=partial(_listed, name, take), careful=take)
    raise InputError(
        f"{name}: should be a path, a mapping, a frame or an iterable of records, not {type(source).__name__}"
    )


def _file(path: Path, form: Form | None, *, judgements: bool) -> Readable:
    if not _is_dataset(path):
        opened(path).close()  # a missing file is said before anything else
    form = form or form_of(path)
    name = str(path)
    if form == "trec":
        return Readable(
            name=name,
            path=path,
            form=form,
            ties="trec",
            clean=partial(trec.clean_batches, path, trec.QRELS if judgements else trec.RUN),
            careful=partial(_by_line, path, judgements=judgements),
        )
    from assay.store.rankings import mappings, records, tables  # noqa: PLC0415

    if form in {"parquet", "arrow"}:
        return _table(name, partial(tables.scanned, path), path=path, form=form, judgements=judgements)
    if form == "csv":
        table = _table(name, partial(tables.read_csv, path), path=path, form=form, judgements=judgements)
        careful = partial(tables.csv_rows, path, judgements=judgements)
        return Readable(name=name, path=path, form=form, clean=table.clean, careful=careful, said=table.said)
    if form == "jsonl":
        said: Said = {}

        def take(rows: Rows) -> None:
            said.update(records.read_records(path, rows, judgements=judgements))

        return Readable(
            name=name,
            path=path,
            form=form,
            clean=partial(_listed, name, take),
            careful=take,
            said=lambda: said,
        )
    take_json = partial(mappings.read_json, path, judgements=judgements)
    return Readable(
        name=name, path=path, form=form, clean=partial(_listed, name, take_json), careful=take_json
    )


def _by_line(path: Path, rows: Rows, *, judgements: bool) -> None:
    from assay.store.rankings import lines  # noqa: PLC0415 - clean files do without

    lines.read_lines(path, lines.take_qrels if judgements else lines.take_run, rows)


def _table(
    name: str,
    make: Callable[[], object],
    *,
    judgements: bool,
    path: Path | None = None,
    form: Form | None = None,
) -> Readable:
    from assay.store.rankings import tables  # noqa: PLC0415 - a small TREC file is read before it loads

    frame = cast("Callable[[], Frame]", make)

    def clean() -> Iterator[Batch]:
        batches = tables.frame_batches(frame(), name, judgements=judgements)
        return batches if path is None else ahead(batches)

    return Readable(
        name=name,
        path=path,
        form=form,
        clean=clean,
        careful=lambda rows: tables.frame_rows(frame(), rows, judgements=judgements),
        said=lambda: tables.other_columns(frame(), name, judgements=judgements),
    )


def _listed(name: str, take: Callable[[Rows], None]) -> Iterator[Batch]:
    """Read row by row as if it were the fast way: for forms where there is only one way."""
    rows = Rows(where=name)
    take(rows)
    if rows.faults:
        raise UncleanError
    yield rows.batch()


def _take_records(kept: list[object], rows: Rows, *, judgements: bool) -> None:
    from assay.store.rankings import records  # noqa: PLC0415 - a small TREC file is read before it loads

    for number, record in enumerate(kept, start=1):
        fields = _fields(record)
        query, doc = find(list(fields), QUERY), find(list(fields), DOC)
        value = find(list(fields), GRADE if judgements else SCORE)
        if query is None or doc is None or (judgements and value is None):
            wanted = "query_id, doc_id and relevance" if judgements else "query_id, doc_id and score"
            rows.fault(
                number, f"{record!r} has no {wanted}", "give named tuples or mappings with these fields"
            )
            continue
        number_value = fields[value] if value else None
        records.take_hit(rows, number, str(fields[query]), fields[doc], number_value, judgements=judgements)


def _fields(record: object) -> Mapping[str, object]:
    if isinstance(record, Mapping):
        return cast("Mapping[str, object]", record)
    as_dict = getattr(record, "_asdict", None)
    if as_dict is not None:
        return cast("Mapping[str, object]", as_dict())
    names = getattr(record, "__dataclass_fields__", {})
    return {name: getattr(record, name) for name in names}
