"""What is known of judges: ``judges.jsonl`` beside the golden set, one look at the test part a line.

The file belongs into git with the golden set: a licence must be known where the labels are not, as in CI.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import msgspec

from assay.model.errors import Fault, InputError
from assay.model.judges import JudgeRecord
from assay.store.atomic import write_text
from assay.store.jsonl import read_jsonl

FILE = "judges.jsonl"


def load_judges(path: Path) -> dict[str, JudgeRecord]:
    """Return judge -> its latest record; none where there is no file.

    Raises:
        InputError: lines are wrong: all of them, each with its number.
    """
    records: dict[str, JudgeRecord] = {}
    faults: list[Fault] = []
    for line, value in read_jsonl(path).records if path.is_file() else ():
        try:
            record = msgspec.convert(value, JudgeRecord)
        except msgspec.ValidationError as error:
            faults.append(Fault(where=f"{path}:{line}", what=str(error), fix="restore the file from git"))
            continue
        records[record.judge] = record
    if faults:
        raise InputError(faults)
    return records


def save_judge(path: Path, record: JudgeRecord) -> None:
    """Add a record behind those that are there.

    Raises:
        StoreError: the place cannot be written.
    """
    held = path.read_text(encoding="utf-8") if path.is_file() else ""
    if held and not held.endswith("\n"):
        held += "\n"
    write_text(path, held + json.dumps(asdict(record), ensure_ascii=False) + "\n")
