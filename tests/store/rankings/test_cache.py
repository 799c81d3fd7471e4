"""Coded runs: the same results, addressed by content, never of a run that is not clean."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.model.errors import InputError, StoreError
from assay.store.rankings import cache, digests, trec
from assay.store.rankings.cache import with_cache
from assay.store.rankings.digests import content_digest, remembered_digest
from assay.store.rankings.meet import Rules
from assay.store.rankings.ordering import Ties
from assay.store.rankings.reading import Met, meet_run, read_judgements
from assay.store.rankings.sources import open_run


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "notes") if folder.exists() else []


def shown(met: Met) -> dict[str, Any]:
    judged = met.meeting.judged
    return {
        "rows": [judged.found.query.tolist(), judged.found.rank.tolist(), judged.found.grade.tolist()],
        "ties": [met.meeting.first.tolist(), met.meeting.last.tolist()],
        "retrieved": judged.retrieved.tolist(),
        "notices": sorted((notice.code, notice.ids) for notice in met.notices),
    }


@st.composite
def run_texts(draw: st.DrawFn) -> str:
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["q1", "q2", "q9"]),
                st.sampled_from(["a", "b", "c", "dé", "e"]),
                st.integers(1, 3),
                st.sampled_from(["1", "2", "nan", "-inf", "0.5"]),
            ),
            min_size=1, max_size=12, unique_by=lambda row: row[:2],
        )
    )  # fmt: skip
    return "".join(
        f"{query} Q0 {doc} {rank} {score} t\n" for query, doc, rank, score in [("q1", "z", 1, "1"), *rows]
    )


@settings(max_examples=60)
@given(run_texts(), st.sampled_from(["trec", "given"]), st.booleans())
def test_a_coded_run_gives_what_its_file_gives(
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    ties: Ties,
    small_parts: bool,  # noqa: FBT001
) -> None:
    folder = tmp_path_factory.mktemp("coded")
    path = folder / "a.run"
    path.write_text(text, encoding="utf-8")
    judgements = read_judgements({"q1": {"a": 1, "b": 0, "dé": 2}, "q2": {"c": 1, "e": 1}})
    rules = Rules(ties=ties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "PART_ROWS", 1 if small_parts else 100)
        plain = meet_run(open_run(path), judgements, rules)
        first = meet_run(with_cache(open_run(path), folder / "cache"), judgements, rules)
        again = meet_run(with_cache(open_run(path), folder / "cache"), judgements, rules)
    assert shown(first) == shown(plain)
    assert shown(again) == shown(plain)


def test_the_address_is_the_content_and_not_the_name(tmp_path: Path) -> None:
    text = "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n"
    judgements = read_judgements({"q1": {"b": 1}})
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text(text)
        meet_run(with_cache(open_run(tmp_path / name), tmp_path / "cache"), judgements)
    assert len(entries(tmp_path / "cache")) == 1
    (tmp_path / "a.run").write_text(text.replace("2 1 t", "2 3 t"))
    met = meet_run(with_cache(open_run(tmp_path / "a.run"), tmp_path / "cache"), judgements)
    assert met.meeting.judged.found.rank.tolist() == [1]
    assert len(entries(tmp_path / "cache")) == 2


def test_the_digest_covers_every_piece_and_the_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_PIECE", 4)
    made: set[str] = set()
    for text in ("abcdefgh", "abcdefgi", "xbcdefgh", "abcdefg", "efghabcd", ""):
        path = tmp_path / "a"
        path.write_text(text)
        made.add(content_digest(path))
    assert len(made) == 6


def test_a_run_that_is_not_clean_is_never_coded(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n")
    judgements = read_judgements({"q1": {"a": 1}})
    with pytest.raises(InputError, match="stands twice"):
        meet_run(with_cache(open_run(path), tmp_path / "cache"), judgements)
    met = meet_run(with_cache(open_run(path), tmp_path / "cache"), judgements, Rules(duplicates="best"))
    assert met.meeting.folded == 1
    assert entries(tmp_path / "cache") == []


def test_lists_without_scores_keep_their_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "q1", "ranked": ["b", "a"]}\n')
    judgements = read_judgements({"q1": {"a": 1}})
    for _ in range(2):
        met = meet_run(with_cache(open_run(path), tmp_path / "cache"), judgements)
        assert met.meeting.judged.found.rank.tolist() == [2]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a 1 2 t\n")
    with pytest.raises(StoreError, match="cannot be written"):
        meet_run(with_cache(open_run(path), path), read_judgements({"q1": {"a": 1}}))


def test_a_run_that_is_no_file_is_left_alone(tmp_path: Path) -> None:
    run = open_run({"q1": {"a": 1.0}})
    assert with_cache(run, tmp_path / "cache") is run


def test_stored_text_is_read_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trec, "SMALL", 0)
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 zürich 1 2 t\nq1 Q0 b 2 1 t\n", encoding="utf-8")
    list(with_cache(open_run(path), tmp_path / "cache").clean())
    (batch,) = with_cache(open_run(path), tmp_path / "cache").clean()
    docs = batch.docs
    assert docs.texts() == ["zürich", "b"]
    assert docs.take(np.array([1, 0, 1])).texts() == ["b", "zürich", "b"]
    assert docs.cut(1, 2).texts() == ["b"]


def aged(path: Path, seconds: int) -> None:
    """Make a file look as if it was written some seconds ago; its inode's time stays now."""
    before = time.time() - seconds
    os.utime(path, (before, before))


def never(path: Path) -> str:
    pytest.fail(f"{path} was read again")


def test_an_untouched_file_is_known_again_without_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes = tmp_path / "a.run", tmp_path / "notes"
    path.write_text("q1 Q0 a 1 2 t\n")
    monkeypatch.setattr(digests, "_SETTLED_NS", 0)
    first = remembered_digest(path, notes)
    assert first == content_digest(path)
    monkeypatch.setattr(digests, "content_digest", never)
    assert remembered_digest(path, notes) == first


def test_a_file_that_changed_is_read_again_also_at_the_same_size_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes = tmp_path / "a.run", tmp_path / "notes"
    path.write_text("q1 Q0 a 1 2 t\n")
    aged(path, 100)
    monkeypatch.setattr(digests, "_SETTLED_NS", 0)
    first = remembered_digest(path, notes)
    before = path.stat()
    path.write_text("q1 Q0 b 1 2 t\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert remembered_digest(path, notes) == content_digest(path) != first


def test_no_note_is_made_of_a_file_that_was_written_just_now(tmp_path: Path) -> None:
    path, notes = tmp_path / "a.run", tmp_path / "notes"
    path.write_text("q1 Q0 a 1 2 t\n")
    assert remembered_digest(path, notes) == content_digest(path)
    assert not notes.exists()


def test_a_damaged_note_is_as_good_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, notes = tmp_path / "a.run", tmp_path / "notes"
    path.write_text("q1 Q0 a 1 2 t\n")
    monkeypatch.setattr(digests, "_SETTLED_NS", 0)
    first = remembered_digest(path, notes)
    (note,) = notes.iterdir()
    note.write_text("{")
    assert remembered_digest(path, notes) == first


def test_a_file_that_goes_away_while_it_is_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a 1 2 t\n")
    monkeypatch.setattr(digests, "_SETTLED_NS", 0)

    def gone(read: Path) -> str:
        read.unlink()
        return "0" * 32

    monkeypatch.setattr(digests, "content_digest", gone)
    with pytest.raises(
        InputError, match=r"a\.run: went away while it was read\n  fix: run the command again"
    ):
        remembered_digest(path, tmp_path / "notes")
