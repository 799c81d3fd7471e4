"""Stored runs: written once and whole, found by id, checked when they are read."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import msgspec
import numpy as np

from assay._version import __version__
from assay.model.errors import StoreError, nearest
from assay.model.runs import Run
from assay.store.atomic import PARTIAL, new_folder, write_bytes
from assay.store.run_form import FORM, Manifest, StageEntry, Timings
from assay.store.run_tables import (
    OLD_TIMINGS,
    TIMINGS,
    chunks_from,
    content_id,
    query_ids_from,
    result_files,
    stages_from,
    timings_file,
)

LATEST = "latest"
_LATEST = re.compile(r"latest(?:~(\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What a list of runs shows of one."""

    id: str
    name: str
    saved_at: datetime
    """When it was saved last, in UTC."""
    k: int
    queries: int
    chunks: int
    stages: tuple[str, ...]
    failed: int
    """Failures, counted over all stages."""
    seed: int
    pipeline_digest: str
    golden_digest: str
    corpus_digest: str
    elapsed_ms: float
    """Over all stages that were timed."""


class RunStore:
    """A folder of runs, one folder a run, named by content.

    Args:
        folder: where the runs stand; it is made when the first is saved.
        clock: gives the time of saving; for tests.
    """

    def __init__(self, folder: Path | str, *, clock: Callable[[], datetime] | None = None) -> None:
        self.folder = Path(folder)
        self._clock = clock or _now

    def save(self, run: Run) -> str:
        """Write a run and return its id, which is its content address whatever ``run.id`` says.

        A run that is there already is not written again: only its timings are, so that it is the latest.

        Raises:
            StoreError: the place cannot be written, or a setting of the run is no JSON value.
        """
        run = replace(run, id=content_id(run))
        place = self.folder / run.id
        if self._damage_of(place) is None and _changed_file(place) is None:
            for name, data in self._timings(run).items():
                write_bytes(place / name, data)
            (place / OLD_TIMINGS).unlink(missing_ok=True)
            return run.id
        tables = result_files(run)
        with new_folder(place, replace=True) as partial:
            for name, data in (tables | {"manifest.json": _manifest(run, tables)}).items():
                write_bytes(partial / name, data)
            for name, data in self._timings(run).items():
                write_bytes(partial / name, data)
        return run.id

    def load(self, id: str = LATEST) -> Run:  # noqa: A002 - it is what the command line calls it
        """Return a stored run.

        Args:
            id: an id, a beginning of one that fits one run alone, ``latest``, or ``latest~1`` for the
                one before.

        Raises:
            StoreError: no run or several fit, or the run's files are not what was written.
        """
        place = self.folder / self.find(id)
        manifest = _read_manifest(place)
        files: dict[str, bytes] = {}
        for name, wanted in manifest.files.items():
            files[name] = _read_file(place / name)
            if hashlib.sha256(files[name]).hexdigest() != wanted:
                raise _damaged(place, f"{name} is not what was written")
        for name in (TIMINGS, OLD_TIMINGS):
            if (place / name).is_file():
                files[name] = _read_file(place / name)
        import polars.exceptions  # noqa: PLC0415 - only where tables are read

        try:
            return Run(
                id=manifest.id,
                name=manifest.name,
                pipeline=manifest.pipeline,
                pipeline_digest=manifest.pipeline_digest,
                golden_digest=manifest.golden_digest,
                corpus_digest=manifest.corpus_digest,
                k=manifest.k,
                query_ids=query_ids_from(files),
                chunks=chunks_from(files),
                stages=stages_from(files, manifest.stages, manifest.queries),
                seed=manifest.seed,
                meta=manifest.meta,
            )
        except (KeyError, ValueError, polars.exceptions.PolarsError) as error:
            raise _damaged(place, f"{error}") from error

    def find(self, id: str) -> str:  # noqa: A002 - it is what the command line calls it
        """Return the full id that an id, a beginning of one, ``latest`` or ``latest~1`` means.

        Raises:
            StoreError: no run or several fit.
        """
        back = _LATEST.fullmatch(id)
        if back:
            runs = self.list()
            steps = int(back[1] or 0)
            if not runs:
                raise StoreError(f"{self.folder}: no run is stored yet", fix="assay run")
            if steps >= len(runs):
                raise StoreError(
                    f"{self.folder}: no run is that far back ({len(runs)} are stored)",
                    fix="assay runs lists those that are stored",
                )
            return runs[-1 - steps].id
        ids = self._ids()
        fitting = [name for name in ids if id and name.startswith(id)]
        if id in ids:
            return id
        if len(fitting) > 1:
            raise StoreError(f"run {id!r} fits several: {', '.join(fitting)}", fix="give more digits")
        if fitting:
            return fitting[0]
        near = nearest(id, ids)
        hint = f"did you mean {near!r}?" if near else "assay runs lists those that are stored"
        raise StoreError(f"{self.folder}: there is no run {id!r}", fix=hint)

    def list(self) -> tuple[RunSummary, ...]:
        """Return what is stored, in the order of saving, the latest last; damaged runs are left out."""
        found = [
            self._summary(self.folder / name)
            for name in self._ids()
            if self._damage_of(self.folder / name) is None
        ]
        return tuple(sorted(found, key=lambda run: (run.saved_at, run.id)))

    def versions(self, id: str = LATEST) -> Mapping[str, str]:  # noqa: A002 - it is what the command line calls it
        """Return the versions of the program, and of what it computed with, that made a stored run.

        Raises:
            StoreError: no run or several fit.
        """
        return _read_manifest(self.folder / self.find(id)).versions

    @property
    def damaged(self) -> Mapping[str, str]:
        """Return the runs that cannot be listed, id -> why."""
        reasons = {name: self._damage_of(self.folder / name) for name in self._ids()}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def _ids(self) -> tuple[str, ...]:
        if not self.folder.is_dir():
            return ()
        return tuple(
            sorted(
                place.name
                for place in self.folder.iterdir()
                if place.is_dir() and not place.name.startswith(PARTIAL)
            )
        )

    def _damage_of(self, place: Path) -> str | None:
        """Why a run's folder cannot be listed; tables are held against their digests by ``load`` alone."""
        try:
            manifest = _read_manifest(place)
            _read_timings(place)
        except StoreError as error:
            return str(error)
        missing = [name for name in manifest.files if not (place / name).is_file()]
        return f"{missing[0]} is missing" if missing else None

    def _summary(self, place: Path) -> RunSummary:
        manifest = _read_manifest(place)
        timings = _read_timings(place)
        return RunSummary(
            id=manifest.id,
            name=manifest.name,
            saved_at=datetime.fromisoformat(timings.saved_at),
            k=manifest.k,
            queries=manifest.queries,
            chunks=manifest.chunks,
            stages=tuple(stage.name for stage in manifest.stages),
            failed=sum(stage.errors for stage in manifest.stages),
            seed=manifest.seed,
            pipeline_digest=manifest.pipeline_digest,
            golden_digest=manifest.golden_digest,
            corpus_digest=manifest.corpus_digest,
            elapsed_ms=sum(timings.elapsed_ms.values()),
        )

    def _timings(self, run: Run) -> dict[str, bytes]:
        totals = {
            f"{place} {stage.name}": float(np.nansum(stage.elapsed_ms))
            for place, stage in enumerate(run.stages)
            if stage.elapsed_ms is not None
        }
        timings = Timings(saved_at=self._clock().astimezone(UTC).isoformat(), elapsed_ms=totals)
        return {TIMINGS: timings_file(run), "timings.json": _json(timings)}


def _now() -> datetime:
    return datetime.now(UTC)


def _manifest(run: Run, tables: Mapping[str, bytes]) -> bytes:
    import polars as pl  # noqa: PLC0415 - only where tables are written

    return _json(
        Manifest(
            form=FORM,
            id=run.id,
            name=run.name,
            pipeline=dict(run.pipeline),
            pipeline_digest=run.pipeline_digest,
            golden_digest=run.golden_digest,
            corpus_digest=run.corpus_digest,
            k=run.k,
            seed=run.seed,
            queries=len(run.query_ids),
            chunks=len(run.chunks),
            stages=[
                StageEntry(name=stage.name, role=stage.role, hits=len(stage.chunks), errors=len(stage.errors))
                for stage in run.stages
            ],
            meta=dict(run.meta),
            versions={
                "assay": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "polars": pl.__version__,
            },
            files={name: hashlib.sha256(data).hexdigest() for name, data in sorted(tables.items())},
        )
    )


def _json(record: msgspec.Struct) -> bytes:
    try:
        plain = msgspec.to_builtins(record, enc_hook=_plain_value)
        text = json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"the run's settings are no JSON values: {error}", fix="set texts, numbers, lists and tables only"
        ) from error
    return f"{text}\n".encode()


def _plain_value(value: object) -> object:
    if isinstance(value, np.generic):
        return cast("object", value.item())
    if isinstance(value, Path):
        return value.as_posix()
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def _changed_file(place: Path) -> str | None:
    """Return the first table whose bytes are not those that the manifest speaks of."""
    for name, wanted in _read_manifest(place).files.items():
        if hashlib.sha256(_read_file(place / name)).hexdigest() != wanted:
            return name
    return None


def _read_manifest(place: Path) -> Manifest:
    data = _read_file(place / "manifest.json")
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(place, f"manifest.json: {error}") from error
    if manifest.form != FORM:
        raise StoreError(
            f"{place}: the run is of form {manifest.form}, and this version of Assay reads form {FORM}",
            fix="use the version that wrote it",
        )
    return manifest


def _read_timings(place: Path) -> Timings:
    try:
        timings = msgspec.json.decode(_read_file(place / "timings.json"), type=Timings)
        datetime.fromisoformat(timings.saved_at)
    except (ValueError, msgspec.DecodeError) as error:
        raise _damaged(place, f"timings.json: {error}") from error
    return timings


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _damaged(path.parent, f"{path.name}: {error.strerror}") from error


def _damaged(place: Path, what: str) -> StoreError:
    return StoreError(f"{place}: the run is damaged: {what}", fix="remove the folder and run again")
