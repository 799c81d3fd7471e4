from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assay.retrieval.cache import Cache, EntryWriter


def numbers(writer: EntryWriter) -> None:
    writer.put("numbers", np.arange(5))
    rows = writer.create("rows", (2, 3), np.float32)
    rows[:] = 7.0


def never(writer: EntryWriter) -> None:
    raise AssertionError(f"made again: {writer}")


def entry_of(folder: Path) -> Path:
    (entry,) = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return entry


def test_without_a_folder_things_are_made_once_a_process():
    cache = Cache()
    made = cache.arrays("kind", "k1", numbers)
    assert cache.arrays("kind", "k1", never) is made
    assert (cache.made, cache.reused) == ({"kind": 1}, {"kind": 1})


def test_what_is_on_disk_outlives_the_process(tmp_path: Path):
    first = Cache(tmp_path / "cache").arrays("kind", "k1", numbers)
    again = Cache(tmp_path / "cache").arrays("kind", "k1", never)
    assert again["numbers"].tolist() == first["numbers"].tolist() == [0, 1, 2, 3, 4]
    assert again["rows"].tolist() == [[7.0] * 3] * 2


def test_other_keys_are_other_entries(tmp_path: Path):
    cache = Cache(tmp_path)
    cache.arrays("kind", "k1", numbers)
    other = cache.arrays("kind", "k2", lambda writer: writer.put("numbers", np.zeros(1)))
    assert list(other) == ["numbers"]


@pytest.mark.parametrize("damage", ["flip", "cut", "lose", "no entry", "not json", "odd json"])
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: str):
    Cache(tmp_path).arrays("kind", "k1", numbers)
    entry = entry_of(tmp_path)
    file = entry / "numbers.npy"
    if damage == "flip":
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-3])
    elif damage == "lose":
        file.unlink()
    elif damage == "no entry":
        (entry / "entry.json").unlink()
    else:
        (entry / "entry.json").write_text("{" if damage == "not json" else "[1]")
    cache = Cache(tmp_path)
    assert cache.arrays("kind", "k1", numbers)["numbers"].tolist() == [0, 1, 2, 3, 4]
    assert cache.made == {"kind": 1}
    # And it is whole again.
    assert Cache(tmp_path).arrays("kind", "k1", never)["numbers"].tolist() == [0, 1, 2, 3, 4]


def test_nothing_is_left_of_an_entry_that_could_not_be_made(tmp_path: Path):
    def fail(writer: EntryWriter) -> None:
        writer.put("numbers", np.arange(3))
        raise RuntimeError("no space")

    with pytest.raises(RuntimeError, match="no space"):
        Cache(tmp_path).arrays("kind", "k1", fail)
    assert list(tmp_path.iterdir()) == []


def test_pruning_takes_what_was_unused_the_longest(tmp_path: Path):
    cache = Cache(tmp_path)
    for age, key in ((300, "old"), (100, "new"), (200, "middle")):
        cache.arrays("kind", key, numbers)
        (entry,) = tmp_path.glob(f"kind-{key}-*")
        stamp = 1_700_000_000 - age
        os.utime(entry / "entry.json", (stamp, stamp))
    size = sum(file.stat().st_size for file in tmp_path.glob("kind-new-*/*"))
    assert cache.prune(max_bytes=size) == 2
    assert [path.name.split("-")[1] for path in tmp_path.iterdir()] == ["new"]
    assert cache.prune() == 0


def test_pruning_leaves_what_another_program_has_not_finished(tmp_path: Path):
    Cache(tmp_path).arrays("kind", "k1", numbers)
    unfinished = tmp_path / ".unfinished-kind-k1-1-abc"
    entry_of(tmp_path).rename(unfinished)  # as it is just before it is moved to its place
    assert Cache(tmp_path).prune(max_bytes=0) == 0
    assert len(list(unfinished.iterdir())) == 3


def test_pruning_takes_what_a_killed_program_left(tmp_path: Path):
    left = tmp_path / ".unfinished-kind-k1-1-abc"
    left.mkdir()
    (left / "rows.npy").write_bytes(b"half")
    long_ago = 1_700_000_000
    os.utime(left, (long_ago, long_ago))
    cache = Cache(tmp_path)
    cache.prune()
    assert left.is_dir()  # its folder is old, but something was written to it just now
    os.utime(left / "rows.npy", (long_ago, long_ago))
    cache.prune()
    assert not left.exists()


def test_an_entry_that_goes_away_while_it_is_measured_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cache = Cache(tmp_path)
    for key in ("gone", "kept"):
        cache.arrays("kind", key, numbers)
    listed = Path.iterdir

    def removed_meanwhile(path: Path) -> Iterator[Path]:
        files = list(listed(path))
        if path.name.startswith("kind-gone"):
            shutil.rmtree(path)
        yield from files

    monkeypatch.setattr(Path, "iterdir", removed_meanwhile)
    assert cache.prune(max_bytes=0) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_shelf_is_pruned_when_it_grows_too_large(tmp_path: Path):
    cache = Cache(tmp_path, max_bytes=1)
    kept = cache.arrays("kind", "k1", numbers)
    assert kept["numbers"].tolist() == [0, 1, 2, 3, 4]
    assert list(tmp_path.iterdir()) == []


def test_memory_forgets_what_was_unused_the_longest():
    cache = Cache(most=2)
    for key in ("a", "b", "a", "c"):
        cache.remember("kind", key, lambda key=key: key)
    assert cache.made == {"kind": 3}
    assert cache.remember("kind", "a", lambda: "made again") == "a"
    assert cache.remember("kind", "b", lambda: "made again") == "made again"


def test_a_large_file_is_mapped_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.retrieval.cache._CHECKED", 16)
    Cache(tmp_path).arrays("kind", "k1", numbers)
    stored = Cache(tmp_path).arrays("kind", "k1", never)
    assert isinstance(stored["rows"], np.memmap)
    assert json.loads((entry_of(tmp_path) / "entry.json").read_text())["files"]["rows"]["blake2b"] is None


def test_an_empty_array_can_be_kept(tmp_path: Path):
    def empty(writer: EntryWriter) -> None:
        writer.create("rows", (0, 8), np.float32)

    Cache(tmp_path).arrays("kind", "k1", empty)
    assert Cache(tmp_path).arrays("kind", "k1", never)["rows"].shape == (0, 8)


def test_of_two_programs_that_need_an_entry_at_once_one_makes_it(tmp_path: Path):
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "from assay.retrieval.cache import Cache\n"
        "def fill(writer):\n"
        "    time.sleep(1.0)\n"
        "    writer.put('rows', np.arange(3))\n"
        "cache = Cache(Path(sys.argv[1]))\n"
        "print(cache.arrays('vectors', 'k', fill)['rows'].tolist(), cache.made)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    told = sorted(one.communicate()[0] for one in both)
    assert told == ["[0, 1, 2] {'vectors': 1}\n", "[0, 1, 2] {}\n"]
