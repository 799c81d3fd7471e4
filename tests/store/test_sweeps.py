from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.model.errors import StoreError
from assay.store.sweeps import Record, SweepLog


def record(number: int) -> Record:
    values = {"recall@10": np.array([1.0, np.nan, 1 / 3, -0.0, 5e-324]), "hit@10": np.array([0.1 + 0.2] * 5)}
    return Record(
        number=number, round=0, values=values, costs={"chunks": 7, "build_ms": 1.25}, samples=(0.1, 0.2)
    )


def test_what_is_appended_is_read_back_bit_by_bit(tmp_path: Path):
    log = SweepLog(tmp_path / "s", {"form": 1})
    for number in range(3):
        log.append(f"k{number}", record(number))
    log.close()
    again = SweepLog(tmp_path / "s", {"form": 1})
    assert list(again.records) == ["k0", "k1", "k2"]
    for number, (_, one) in enumerate(again.records.items()):
        assert one.number == number
        assert one.costs == {"chunks": 7, "build_ms": 1.25}
        for name, values in record(number).values.items():
            assert one.values[name].tobytes() == values.tobytes()
    again.close()
    assert (tmp_path / "s" / "plan.json").read_text() == '{\n  "form": 1\n}\n'


@pytest.mark.parametrize("left", [b"{", b'{"key": "k9", "numb', b'{"key": "k9"}\n', b"\xff\xfe\n", b"\n"])
def test_what_a_killed_program_left_is_cut_off(tmp_path: Path, left: bytes):
    log = SweepLog(tmp_path, {})
    log.append("k0", record(0))
    log.close()
    whole = (tmp_path / "measured.jsonl").read_bytes()
    (tmp_path / "measured.jsonl").write_bytes(whole + left)
    again = SweepLog(tmp_path, {})
    assert list(again.records) == ["k0"]
    again.append("k1", record(1))
    again.close()
    last = SweepLog(tmp_path, {})
    assert list(last.records) == ["k0", "k1"]
    last.close()


def test_a_whole_line_without_its_end_is_not_trusted(tmp_path: Path):
    log = SweepLog(tmp_path, {})
    log.append("k0", record(0))
    log.close()
    path = tmp_path / "measured.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    again = SweepLog(tmp_path, {})
    assert not again.records
    assert path.read_bytes() == b""
    again.close()


def test_a_folder_is_open_to_one_at_a_time(tmp_path: Path):
    log = SweepLog(tmp_path, {})
    with pytest.raises(StoreError, match="another program"):
        SweepLog(tmp_path, {})
    log.close()
    SweepLog(tmp_path, {}).close()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        SweepLog(tmp_path / "file" / "s", {})
