"""TREC files: three ways of reading with one result, and every fault with its line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.errors import InputError
from assay.store.rankings import opening, trec
from assay.store.rankings.batch import Batch, UncleanError
from assay.store.rankings.lines import read_lines, take_run
from assay.store.rankings.reading import meet_run, read_judgements, read_run
from assay.store.rankings.rows import Rows
from assay.store.rankings.sources import open_run
from shared_data import load_cases, needs_shared

CLEAN = "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.25 t\nq2 Q0 d1 1 7 t\n"


def written(folder: Path, text: str | bytes, name: str = "a.run") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(batch: Batch) -> list[tuple[str, str, float | None]]:
    queries = np.repeat(np.array(batch.queries, object), batch.lengths).tolist()
    scores: list[float | None] = [None] * len(batch) if batch.scores is None else batch.scores.tolist()
    return list(zip(queries, batch.docs.texts(), scores, strict=True))


def faults_of(path: Path, *, judgements: bool = False, **settings: Any) -> list[str]:
    with pytest.raises(InputError) as error:
        (read_judgements if judgements else read_run)(path, **settings)
    return [f"{Path(fault.where).name} {fault.what}" for fault in error.value.faults]


@pytest.fixture(params=["plain Python", "table engine"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read small files both ways."""
    if request.param == "table engine":
        monkeypatch.setattr(trec, "SMALL", 0)
    return request.param


EXPECTED = [("q1", "d1", 0.5), ("q1", "d2", 0.25), ("q2", "d1", 7.0)]


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    "text",
    [
        CLEAN,
        CLEAN.replace(" ", "\t"),
        CLEAN.replace(" ", "  \t "),
        CLEAN.replace("\n", "\r\n"),
        CLEAN.removesuffix("\n"),
        "\ufeff" + CLEAN,
        "# a comment\n" + CLEAN + "  \n\n# q9 Q0 d9 1 0.5 t\n",
        CLEAN.replace("\n", " \n").replace("q1", "  q1"),
        CLEAN.replace("d1 1", "d1 first"),
        CLEAN.replace("q2 Q0", "q2 0"),
    ],
)
def test_blanks_tabs_line_ends_and_comments_do_not_change_what_is_read(text: str, tmp_path: Path) -> None:
    assert rows(read_run(written(tmp_path, text))[0]) == EXPECTED


@pytest.mark.usefixtures("either_way")
def test_a_number_sign_inside_an_id_is_no_comment(tmp_path: Path) -> None:
    path = written(tmp_path, "q1 Q0 doc_1#4_2 1 0.5 t\n")
    assert rows(read_run(path)[0]) == [("q1", "doc_1#4_2", 0.5)]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_files_are_read_by_their_first_bytes(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.run{suffix}"
    if suffix == ".gz":
        path.write_bytes(gzip.compress(CLEAN.encode()))
    else:
        pa: Any = pytest.importorskip("pyarrow")
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(CLEAN.encode())
    assert rows(read_run(path)[0]) == EXPECTED


def test_a_broken_gzip_file_is_an_error_and_not_half_read(tmp_path: Path) -> None:
    packed = gzip.compress((CLEAN * 5000).encode())
    assert faults_of(written(tmp_path, packed[: len(packed) // 2], "a.run.gz")) != []


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("q1 Q0 d3 3 0.1", "5 fields where 6 belong"),
        ("q1 d3 Q0 3 0.1 t", "the third column is Q0"),
        ("q1 Q0 d 3 3 0.1 t", "7 fields where 6 belong (a blank inside an id?)"),
        ("q1 Q0 d3 3 high t", "the score 'high' is not a number"),
        ("q1 Q0 d3 3 1_000 t", "the score '1_000' is not a number"),
        ("q1 Q0 d1 3 0.1 t", "document 'd1' stands twice for query 'q1' (first in line 1)"),
    ],
)
def test_each_fault_is_named_with_its_line(line: str, what: str, tmp_path: Path) -> None:
    found = faults_of(written(tmp_path, f"{CLEAN}{line}\n"))
    assert [fault[: len(what) + 8] for fault in found] == [f"a.run:4 {what}"]


def test_all_faults_of_a_file_come_at_once(tmp_path: Path) -> None:
    text = "q1 Q0 d1 1\n" + CLEAN + "q1 Q0 d1 9 0.1 t\nq1 d7 Q0 1 1 t\n" + "q3 Q0 ä 1 ? t\n"
    assert [fault.split()[0] for fault in faults_of(written(tmp_path, text))] == [
        "a.run:1", "a.run:5", "a.run:6", "a.run:7",
    ]  # fmt: skip


def test_a_lenient_reading_says_what_it_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, CLEAN + "q9 Q0 d1 1\n")
    batch, notices = read_run(path, lenient=True)
    assert rows(batch) == EXPECTED
    assert [(notice.code, notice.ids) for notice in notices] == [("rows-left-out", ("4",))]
    assert "lines 4" in notices[0].text


@pytest.mark.usefixtures("either_way")
def test_text_that_is_not_utf_8_is_a_fault_with_its_line(tmp_path: Path) -> None:
    assert faults_of(written(tmp_path, CLEAN.encode() + b"q1 Q0 d\xff 1 1 t\n"))[0].startswith(
        "a.run:4 not UTF-8"
    )


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("number", ["nan", "NaN", "inf", "-Infinity", "1e400", "+.5", "5.", "-1E-3", "0.1"])
def test_scores_are_read_as_python_reads_them(number: str, tmp_path: Path) -> None:
    batch, _ = read_run(written(tmp_path, f"q1 Q0 d1 1 {number} t\n"))
    assert batch.scores is not None
    np.testing.assert_equal(batch.scores[0], float(number))


def test_ids_stay_text(tmp_path: Path) -> None:
    path = written(tmp_path, "1 0 007 1\n01 0 7 1\n", "a.qrels")
    judgements = read_judgements(path)
    assert (judgements.query_ids, judgements.docs.texts()) == (("1", "01"), ["007", "7"])


@pytest.mark.usefixtures("either_way")
def test_a_query_that_comes_back_is_put_together(tmp_path: Path) -> None:
    path = written(tmp_path, "q1 Q0 d1 1 3 t\nq2 Q0 d1 1 9 t\nq1 Q0 d2 2 2 t\n")
    assert rows(read_run(path)[0]) == [("q1", "d1", 3.0), ("q1", "d2", 2.0), ("q2", "d1", 9.0)]
    judgements = read_judgements({"q1": {"d2": 1}})
    assert meet_run(open_run(path), judgements).meeting.judged.found.rank.tolist() == [2]


def test_slices_end_anywhere_and_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(
        f"q{query} Q0 d{(query * 7 + rank) % 90} {rank} {1 / rank:.6f} t\n"
        for query in range(30)
        for rank in range(1, 1 + query % 9 + 1)
    )
    path = written(tmp_path, text)
    judgements = read_judgements(
        {f"q{query}": {f"d{(query * 7 + 2) % 90}": 1, "d1": 2} for query in range(30)}
    )
    whole = meet_run(open_run(path), judgements).meeting
    monkeypatch.setattr(trec, "SMALL", 0)
    for size in (40, 97, 256, 1000):
        monkeypatch.setattr(opening, "SLICE", size)
        part = meet_run(open_run(path), judgements).meeting
        for column in ("query", "rank", "grade"):
            np.testing.assert_array_equal(
                getattr(part.judged.found, column), getattr(whole.judged.found, column)
            )
        np.testing.assert_array_equal(part.judged.retrieved, whole.judged.retrieved)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2"]),
            st.text("ab#é_-.", min_size=1, max_size=3),
            st.floats(allow_nan=False, width=64),
        ),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[:2],
    )
)
def test_the_careful_way_reads_what_the_fast_ways_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, str, float]]
) -> None:
    text = "".join(f"{query} Q0 {doc} {rank} {score!r} t\n" for rank, (query, doc, score) in enumerate(lines))
    path = written(tmp_path_factory.mktemp("trec"), text)
    careful = Rows(where="a.run")
    read_lines(path, take_run, careful)
    expected = list(zip(careful.queries, careful.docs, careful.scores, strict=True))
    assert expected == lines
    for small in (0, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trec, "SMALL", small)
            try:
                found = [row for batch in trec.clean_batches(path, trec.RUN) for row in rows(batch)]
            except UncleanError:
                assert not text.isascii()
            else:
                assert found == expected


# the shared cases


@needs_shared
def test_case_l05_tabs_missing_and_swapped_columns(tmp_path: Path) -> None:
    case = load_cases()["L05"]["input"]
    tab = read_judgements(written(tmp_path, case["qrels_tab"], "tab.qrels"))
    blank = read_judgements(written(tmp_path, case["qrels_blank"], "blank.qrels"))
    assert (tab.query_ids, tab.docs.texts(), tab.grades.tolist()) == (
        blank.query_ids, blank.docs.texts(), blank.grades.tolist(),
    )  # fmt: skip
    two = faults_of(written(tmp_path, case["qrels_two_columns"], "two.qrels"), judgements=True)
    assert two[0].startswith("two.qrels:1 2 fields")
    swapped = faults_of(written(tmp_path, "\n".join(case["run_swapped"]), "b.run"))
    assert swapped == ["b.run:1 the third column is Q0, where the document belongs"]
    repeats = faults_of(written(tmp_path, "\n".join(case["run_repeats"]), "c.run"))
    assert repeats == ["c.run:2 document 'd2' stands twice for query 'q1' (first in line 1)"]
    run = open_run(written(tmp_path, "\n".join(case["run_ok"]), "d.run"))
    met = meet_run(run, read_judgements({"q1": {"d2": 1}}))
    assert met.meeting.judged.found.rank.tolist() == [1]
    assert [notice.code for notice in met.notices] == ["rank-column"]


@needs_shared
def test_case_i02_composed_letters_and_blanks(tmp_path: Path) -> None:
    case = load_cases()["I02"]
    judgements = read_judgements(
        {query: dict.fromkeys(ids, 1) for query, ids in case["input"]["golden"].items()}
    )
    met = meet_run(open_run(case["input"]["run"]), judgements)
    assert met.meeting.judged.found.rank.tolist() == [1]
    both = {"q1": dict.fromkeys(case["input"]["index_ids"], 1)}
    with pytest.raises(InputError, match="spelt in two ways"):
        read_judgements(both)
    fault = faults_of(written(tmp_path, case["input"]["trec_line"]))
    assert fault[0].startswith("a.run:1 7 fields where 6 belong")


def test_decomposed_ids_in_a_file_are_composed(tmp_path: Path) -> None:
    path = written(tmp_path, "q1 Q0 Zu\u0308rich 1 0.5 t\n")
    assert read_run(path)[0].docs.texts() == ["Z\u00fcrich"]
