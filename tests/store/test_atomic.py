"""Files and folders that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from assay.model.errors import StoreError
from assay.store import atomic
from assay.store.atomic import new_folder, parquet_bytes, write_bytes, write_parquet, write_text


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_whole_and_its_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    write_text(path, "Zürich\r\n")
    assert path.read_bytes() == "Zürich\r\n".encode()
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert names_in(path.parent) == ["b.txt"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "b.txt"
    write_text(path, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"b\.txt: cannot be written \(No space left on device\)"):
        write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert names_in(tmp_path) == ["b.txt"]


def test_a_place_that_cannot_be_a_folder_is_said(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "x")
    with pytest.raises(StoreError, match="cannot be written"):
        write_text(tmp_path / "file" / "below", "y")
    with pytest.raises(StoreError, match="cannot be written"), new_folder(tmp_path / "file" / "below"):
        pass


def test_equal_tables_are_equal_bytes(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": ["a", None, "ü"], "score": [0.5, None, float("inf")]})
    write_parquet(tmp_path / "t.parquet", table)
    assert (tmp_path / "t.parquet").read_bytes() == parquet_bytes(table.clone())
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table)


def test_a_folder_appears_when_its_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "run"
    with new_folder(target) as folder:
        write_text(folder / "a", "1")
        assert not target.exists()
    assert names_in(target) == ["a"]
    assert names_in(tmp_path) == ["run"]


def test_a_block_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    def fail() -> None:
        with new_folder(tmp_path / "run") as folder:
            write_text(folder / "a", "1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names_in(tmp_path) == []


def test_a_folder_that_appeared_meanwhile_is_kept_unless_it_shall_be_replaced(tmp_path: Path) -> None:
    target = tmp_path / "run"
    for replace, wanted in ((False, "theirs"), (True, "mine")):
        with new_folder(target, replace=replace) as folder:
            write_text(folder / "a", "mine")
            if not target.exists():
                write_text(target / "a", "theirs")
        assert (target / "a").read_text(encoding="utf-8") == wanted
    assert names_in(tmp_path) == ["run"]


def test_what_a_killed_program_left_is_swept_when_it_is_old(tmp_path: Path) -> None:
    old, young = tmp_path / f"{atomic.PARTIAL}old", tmp_path / f"{atomic.PARTIAL}young"
    for left in (old, young):
        write_text(left / "a", "1")
    os.utime(old, (0, 0))
    with new_folder(tmp_path / "run"):
        pass
    assert names_in(tmp_path) == [young.name, "run"]
