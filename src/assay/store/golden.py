"""Reading and writing ``golden.jsonl``: strict, with every fault of the file at once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from assay.model.errors import Fault, InputError, in_line_order, nearest
from assay.model.golden import GoldenSet, Query
from assay.model.ids import id_key
from assay.model.notices import Notice, listed
from assay.store.atomic import write_bytes
from assay.store.golden_form import QueryRow
from assay.store.golden_rows import query_of, query_row, wrong_with
from assay.store.jsonl import decode, parse_json, read_raw, split_lines
from assay.store.strict import Problem, clean_record


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenLines:
    """A golden set with what only its file knows."""

    golden: GoldenSet
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    """Query id -> number of its line, from 1."""
    notices: tuple[Notice, ...] = ()
    skipped: tuple[int, ...] = ()
    """Lines that a lenient reading left out."""


def load_golden(path: Path | str, *, kinds: Sequence[str] = (), name: str | None = None) -> GoldenSet:
    """Return the golden set of a file.

    Args:
        path: a ``golden.jsonl``, plain or gzip: one query a line; the form is in
            ``docs/schemas/golden.schema.json``.
        kinds: the kinds that the project declares, in order of display.
        name: what people call the set; the file's name without its ending by default.

    Raises:
        InputError: the file is missing or wrong; every fault with its line and its fix.
    """
    return load_golden_lines(path, kinds=kinds, name=name).golden


def load_golden_lines(
    path: Path | str, *, kinds: Sequence[str] = (), name: str | None = None, lenient: bool = False
) -> GoldenLines:
    """Return the golden set of a file with the line of each query and what is worth saying of it.

    Args:
        path: as for ``load_golden``.
        kinds: as for ``load_golden``.
        name: as for ``load_golden``.
        lenient: leave faulty lines out, counted and listed, instead of refusing the file. An id that is
            used twice is refused all the same: no one can say which of the two was meant.

    Raises:
        InputError: the file is missing or wrong; every fault with its line and its fix.
    """
    path = Path(path)
    return parse_golden(
        decode(read_raw(path), str(path)),
        where=str(path),
        kinds=kinds,
        name=path.name.removesuffix(".gz").removesuffix(".jsonl") if name is None else name,
        lenient=lenient,
    )


def parse_golden(
    text: str, *, where: str, kinds: Sequence[str] = (), name: str = "golden", lenient: bool = False
) -> GoldenLines:
    """Return the golden set of a text, as ``load_golden_lines`` does of a file.

    Raises:
        InputError: the text is wrong; every fault with its line and its fix.

    >>> line = '{"id": 7, "query": "Who owns the keys?", "relevant": ["guide.md"]}'
    >>> parse_golden(line, where="golden.jsonl").golden.queries[0].labels
    {'guide.md': 1.0}
    """
    reading = _Reading(where=where)
    for number, line in enumerate(split_lines(text), start=1):
        if line.strip():
            reading.line(number, line)
    reading.check_ids()
    refused = reading.repeated if lenient else [*reading.faults, *reading.repeated]
    if refused:
        raise InputError(in_line_order(refused))
    if not reading.queries:
        raise InputError(Fault(where=where, what="holds no query", fix="write one query a line"))
    golden = GoldenSet(name=name, queries=tuple(reading.queries), kinds=tuple(kinds))
    return GoldenLines(
        golden=golden,
        lines={query.id: number for query, number in zip(golden.queries, reading.numbers, strict=True)},
        notices=(*_skipped(reading, where), *reading.notices(), *_remarks(golden)),
        skipped=tuple(sorted(reading.broken)),
    )


def save_golden(golden: GoldenSet, path: Path | str) -> None:
    """Write a golden set, whole or not at all.

    The order of queries is kept, keys have one order, and what equals its default is left out: loading
    a written file and saving it again gives the same bytes.

    Raises:
        StoreError: the place cannot be written.
    """
    write_bytes(Path(path), golden_bytes(golden))


def golden_bytes(golden: GoldenSet) -> bytes:
    r"""Return the bytes that ``save_golden`` writes: one line a query.

    >>> golden_bytes(GoldenSet(name="g", queries=(Query(id="q1", text="Who?", answerable=False),)))
    b'{"id": "q1", "query": "Who?", "answerable": false}\n'
    """
    rows = (msgspec.to_builtins(query_row(query)) for query in golden.queries)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


class _Reading:
    """One pass over the lines of a file: what was read, and what is wrong."""

    def __init__(self, *, where: str) -> None:
        self.where = where
        self.queries: list[Query] = []
        self.numbers: list[int] = []
        self.faults: list[Fault] = []
        self.repeated: list[Fault] = []
        self.broken: set[int] = set()
        self._folded: dict[str, list[str]] = {}
        self._ids: dict[str, list[int]] = defaultdict(list)

    def line(self, number: int, line: str) -> None:
        try:
            record = parse_json(line)
        except (ValueError, RecursionError) as error:
            problem = Problem(f"not JSON: {error}", "every line of the file is one JSON object")
            self._refuse(number, [problem])
            return
        clean, problems = clean_record(record, QueryRow)
        given_id = clean.get("id")
        query_id = id_key(given_id) if isinstance(given_id, str) else None
        if query_id:
            self._ids[query_id].append(number)
        if not problems:
            row = msgspec.convert(clean, QueryRow)
            problems = wrong_with(row)
            if not problems:
                query, folded = query_of(row)
                self.queries.append(query)
                self.numbers.append(number)
                if folded:
                    self._folded[query.id] = folded
                return
        self._refuse(number, problems, query_id)

    def check_ids(self) -> None:
        """Every id that is used more than once is one fault, at its second line."""
        for query_id, numbers in self._ids.items():
            if len(numbers) > 1:
                rows = ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"
                self.repeated.append(
                    Fault(
                        where=f"{self.where}:{numbers[1]}",
                        what=f"query id {query_id!r} is used {len(numbers)} times, in rows {rows}",
                        fix="give each question an id of its own",
                    )
                )

    def notices(self) -> Iterable[Notice]:
        if self._folded:
            items = [f"{item} ({query})" for query, names in self._folded.items() for item in names]
            yield Notice(
                code="repeated-items",
                text=f"golden item listed twice in one query, counted once: {listed(items)}",
                ids=tuple(self._folded),
            )

    def _refuse(self, number: int, problems: Iterable[Problem], query_id: str | None = None) -> None:
        self.broken.add(number)
        head = f"query {query_id!r}: " if query_id else ""
        self.faults.extend(
            Fault(where=f"{self.where}:{number}", what=head + problem.what, fix=problem.fix)
            for problem in problems
        )


def _remarks(golden: GoldenSet) -> Iterable[Notice]:
    negative = [
        query.id
        for query in golden.queries
        for grade in (*query.labels.values(), *(anchor.grade for anchor in query.anchors))
        if grade < 0
    ]
    if negative:
        many = _many(len(negative), "negative grade", "negative grades")
        yield _notice("negative-grades", f"{many} treated as 0", negative)
    unlabelled = [
        query.id for query in golden.queries if query.answerable and not query.anchors and not query.labels
    ]
    if unlabelled:
        many = _many(len(unlabelled), "query has", "queries have")
        text = f"{many} no anchor and no label, so no value, and no part in the mean"
        yield _notice("unlabelled", text, unlabelled)
    wordless = [query.id for query in golden.queries if not query.text.strip()]
    if wordless:
        many = _many(len(wordless), "query has", "queries have")
        yield _notice("no-text", f"{many} labels and no text", wordless)
    if golden.kinds:
        for kind in golden.all_kinds[len(dict.fromkeys(golden.kinds)) :]:
            near = nearest(kind, golden.kinds)
            hint = f" (did you mean {near!r}?)" if near else ""
            ids = [query.id for query in golden.queries if query.kind == kind]
            yield _notice("undeclared-kind", f"kind {kind!r} is not declared{hint}", ids)


def _skipped(reading: _Reading, where: str) -> Iterable[Notice]:
    if reading.broken:
        lines = [str(number) for number in sorted(reading.broken)]
        text = (
            f"{where}: {_many(len(lines), 'faulty line', 'faulty lines')} left out ({listed(lines)}), "
            f"{len(reading.queries)} loaded: every mean is over the loaded ones only"
        )
        yield Notice(code="skipped-lines", text=text, ids=tuple(lines))


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _notice(code: str, text: str, ids: Sequence[str]) -> Notice:
    unique = tuple(dict.fromkeys(ids))
    return Notice(code=code, text=f"{text}: {listed(unique)}", ids=unique)
