"""How often the held-out queries were looked at: every look leaves a mark beside the golden set.

A held-out split is only worth something while nothing is chosen by it. So a comparison that looks at it
adds a line to ``heldout-looks.jsonl``, a file that belongs into git with the golden set. To look at the
same runs again under the same golden set is the same look, and adds none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.flows.project import Project
from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet
from assay.model.notices import Notice
from assay.store.jsonl import read_jsonl


class LookRow(msgspec.Struct, forbid_unknown_fields=True):
    """One line of ``heldout-looks.jsonl``."""

    by: str
    """The command that looked."""
    runs: list[str]
    """The runs that were looked at, sorted."""
    golden: str
    """Digest of the golden set."""
    at: str
    """ISO date and time, UTC."""


HELDOUT = "heldout"
FILE = "heldout-looks.jsonl"


def looks_path(project: Project) -> Path:
    """Return where the looks of a project are written."""
    return project.golden_path.parent / FILE


def record_look(project: Project, golden: GoldenSet, *, by: str, runs: Sequence[str]) -> Notice:
    """Write one look down and say how many there have been, over how many different runs.

    Args:
        project: the project.
        golden: its golden set, whose digest is written.
        by: the command that looked.
        runs: the runs that were looked at.

    Raises:
        InputError: the file of looks is broken.
    """
    path = looks_path(project)
    earlier = _read(path) if path.is_file() else []
    look = LookRow(
        by=by,
        runs=sorted(set(runs)),
        golden=golden.digest,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    looks = earlier
    if not any((one.runs, one.golden) == (look.runs, look.golden) for one in earlier):
        looks = [*earlier, look]
        with path.open("ab") as file:
            file.write(msgspec.json.encode(look) + b"\n")
    return _told(looks)


def told_looks(project: Project) -> Notice | None:
    """Say how often the held-out queries have been looked at; None when never. Nothing is written.

    Raises:
        InputError: the file of looks is broken.
    """
    path = looks_path(project)
    looks = _read(path) if path.is_file() else []
    return _told(looks) if looks else None


def _told(looks: Sequence[LookRow]) -> Notice:
    seen = {run for one in looks for run in one.runs}
    times = "once" if len(looks) == 1 else f"{len(looks)} times"
    text = (
        f"the held-out queries have been looked at {times}, over {len(seen)} runs ({FILE}); what is chosen "
        "by them is no longer held out: --split dev leaves them out"
    )
    return Notice(code="heldout-look", text=text, ids=tuple(sorted(seen)))


def _read(path: Path) -> list[LookRow]:
    looks: list[LookRow] = []
    faults: list[Fault] = []
    for line, record in read_jsonl(path).records:
        try:
            looks.append(msgspec.convert(record, LookRow))
        except msgspec.ValidationError as error:
            faults.append(Fault(where=f"{path}:{line}", what=str(error), fix="restore the file from git"))
    if faults:
        raise InputError(faults)
    return looks
