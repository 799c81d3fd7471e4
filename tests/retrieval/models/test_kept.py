from __future__ import annotations

from pathlib import Path

from assay.retrieval.models.kept import Kept, key_of


def test_what_was_put_is_there_in_the_next_process(tmp_path: Path):
    path = tmp_path / "cache" / "kept.sqlite"
    Kept(path).put({b"a": b"1", b"b": b"2"})
    assert Kept(path).get([b"b", b"c", b"a"]) == {b"a": b"1", b"b": b"2"}


def test_without_a_file_memory_holds_it():
    kept = Kept(None)
    kept.put({b"a": b"1"})
    assert kept.get([b"a"]) == {b"a": b"1"}


def test_nothing_is_written_before_there_is_something(tmp_path: Path):
    path = tmp_path / "kept.sqlite"
    assert Kept(path).get([b"a"]) == {}
    Kept(path).put({})
    assert not path.exists()


def test_memory_lets_go_what_was_unused_the_longest(tmp_path: Path):
    kept = Kept(None, memory_bytes=10)
    kept.put({b"a": bytes(4), b"b": bytes(4)})
    kept.get([b"a"])
    kept.put({b"c": bytes(4)})
    assert set(kept.get([b"a", b"b", b"c"])) == {b"a", b"c"}


def test_the_file_stays_below_its_limit_and_the_oldest_go(tmp_path: Path):
    path = tmp_path / "kept.sqlite"
    kept = Kept(path, max_bytes=200_000)
    keys = [str(number).encode() for number in range(40)]
    for key in keys:
        kept.put({key: bytes(10_000)})
    left = Kept(path).get(keys)
    assert 5 <= len(left) <= 20
    assert keys[-1] in left
    assert keys[0] not in left


def test_many_keys_are_found_at_once(tmp_path: Path):
    values = {str(number).encode(): b"x" for number in range(1300)}
    Kept(tmp_path / "kept.sqlite").put(values)
    assert Kept(tmp_path / "kept.sqlite").get(list(values)) == values


def test_a_damaged_file_is_begun_again(tmp_path: Path):
    path = tmp_path / "kept.sqlite"
    path.write_bytes(b"this is no database, and long enough to be taken for one" * 40)
    kept = Kept(path)
    assert kept.get([b"a"]) == {}
    kept.put({b"a": b"1"})
    assert Kept(path).get([b"a"]) == {b"a": b"1"}


def test_keys_tell_apart_what_a_plain_join_would_not():
    assert len({key_of("a", "bc"), key_of("ab", "c"), key_of("abc"), key_of("a", "b", "c")}) == 4
