"""Coded runs on disk: addressed by the content of their file, memory-mapped, sorted and proven clean.

A row is a 64-bit code of its document beside its score; the ids themselves are read only for the few
rows that are judged or tied. Scoring a run again then reads its codes, and comparing many runs reads little.
A cache entry is a folder; any of them may be deleted at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.store.atomic import new_folder
from assay.store.rankings.batch import (
    Batch,
    RepeatedError,
    ScatteredError,
    pairs_of,
    repeats,
    stacked,
    together,
    whole_queries,
)
from assay.store.rankings.digests import remembered_digest
from assay.store.rankings.ids import StoredDocs, no_docs
from assay.store.rankings.ordering import Ordering
from assay.store.rankings.sources import Readable

PART_ROWS = 1 << 20
"""Least rows of a part; parts are mapped and used one after the other."""
_VERSION = 1
_NOTES = "notes"
"""The folder of what is known of files, so that an untouched one need not be read to be found."""


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of one part beside its table."""

    queries: list[str]
    lengths: list[int]
    contradicted: list[str]


def with_cache(run: Readable, folder: Path) -> Readable:
    """Return the run as read from a folder of coded runs; it is coded when it is read for the first time.

    Runs that are no files (or many) come back as they are. A run that is not clean is never coded.

    Raises:
        StoreError: the folder cannot be written.
    """
    if run.path is None or run.path.is_dir():
        return run
    entry = _Entry(run, folder)
    return replace(run, clean=entry.batches)


class _Entry:
    """One run in one folder."""

    def __init__(self, run: Readable, folder: Path) -> None:
        self._run = run
        self._folder = folder
        self._scattered = False

    def batches(self) -> Iterator[Batch]:
        """Yield the run: from the folder where it is there, else from its file, which is coded on the way."""
        import polars as pl  # noqa: PLC0415 - only large runs are worth a cache

        path = self._run.path
        assert path is not None
        # the codes are the table engine's, and may change with its version
        name = (
            f"{remembered_digest(path, self._folder / _NOTES)}-{self._run.form}-v{_VERSION}-{pl.__version__}"
        )
        target = self._folder / name
        if target.is_dir():
            yield from _mapped(target)
            return
        with new_folder(target) as making:
            yield from self._coded(making)

    def _coded(self, making: Path) -> Iterator[Batch]:
        whole = self._run.clean()
        if self._scattered:
            whole = iter([together(stacked(list(whole)))])
        held: list[Batch] = []
        parts = 0
        try:
            for batch in whole_queries(whole):
                held.append(_sorted(batch))
                if sum(map(len, held)) >= PART_ROWS:
                    _write(making, parts, stacked(held))
                    held, parts = [], parts + 1
                yield batch
        except ScatteredError:
            self._scattered = True
            raise
        if held:
            _write(making, parts, stacked(held))


def _sorted(batch: Batch) -> Batch:
    """Return the batch in the order of its scores (ties as given), proven to repeat nothing."""
    again = repeats(batch)
    if len(again):
        raise RepeatedError(pairs_of(batch, again))
    ordering = Ordering(batch, "given")
    places: list[int] = ordering.contradicted().tolist()
    wrong = tuple(batch.queries[place] for place in places)
    ordered = batch.take(ordering.whole(), batch.queries, batch.lengths)
    return replace(ordered, ranks=None, contradicted=wrong)


def _write(making: Path, number: int, batch: Batch) -> None:
    import polars as pl  # noqa: PLC0415 - only large runs are worth a cache

    docs = no_docs().like(batch.docs)
    text = docs.series.str.join("").item() if len(docs) else ""
    columns = {
        "first": docs.keys(),
        "second": docs.second_keys(),
        "ends": docs.series.str.len_bytes().cast(pl.Int64).cum_sum().to_numpy(),
        "text": np.frombuffer(text.encode(), np.uint8),
    }
    if batch.scores is not None:
        columns["scores"] = batch.scores
    for name, column in columns.items():
        np.save(making / f"{number:05}-{name}.npy", column)
    part = _Part(queries=batch.queries, lengths=batch.lengths.tolist(), contradicted=list(batch.contradicted))
    (making / f"{number:05}.json").write_bytes(msgspec.json.encode(part))


def _mapped(folder: Path) -> Iterator[Batch]:
    for path in sorted(folder.glob("*.json")):
        part = msgspec.json.decode(path.read_bytes(), type=_Part)

        def column(name: str, stem: str = path.stem) -> Any:  # noqa: ANN401 - of the type that was saved
            return np.load(folder / f"{stem}-{name}.npy", mmap_mode="r")

        scores = folder / f"{path.stem}-scores.npy"
        yield Batch(
            queries=part.queries,
            lengths=np.array(part.lengths, np.int64),
            docs=StoredDocs(column("first"), column("second"), None, column("ends"), column("text")),
            scores=column("scores") if scores.exists() else None,
            contradicted=tuple(part.contradicted),
            proven=True,
        )
