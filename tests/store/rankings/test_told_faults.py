"""What is said of files that cannot be read at all, and of files that say more of each query."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.flows.score import Scoring, score_runs
from assay.model.errors import InputError, MissingExtraError
from assay.store.rankings.query_columns import read_query_columns
from assay.store.rankings.reading import read_judgements, read_run
from assay.store.rankings.rows import MOST_FAULTS


def told_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_run(path)
    return str(caught.value)


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 0.9 x\n", encoding="utf-8")

    def refuse(self: Path, *_how: object, **_more: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    assert told_of(path) == f"{path}: cannot be read (Permission denied)\n  fix: make the file readable"


def test_a_table_that_is_none_says_how_it_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"not a table")
    told = told_of(path)
    assert told.startswith(f"{path}: cannot be read as a table: ")
    assert told.endswith("\n  fix: write it as Parquet or CSV again; the end of its name says which")


def test_a_csv_of_other_letters_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("query,doc,score\nq1,caf\xe9,1\n".encode("latin-1"))
    assert told_of(path) == f"{path}:2: not UTF-8\n  fix: save the file as UTF-8"


def test_a_file_of_ranx_needs_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lz4")
    import lz4.frame  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

    path = tmp_path / "a.lz4"
    path.write_bytes(lz4.frame.compress(lz4.frame.compress(b"\xa0")))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    monkeypatch.setitem(sys.modules, "cbor2", None)
    with pytest.raises(MissingExtraError) as caught:
        read_run(path)
    assert str(caught.value) == (
        f"{path}: reading ranx's LZ4 files needs the package 'cbor2', which is not installed\n"
        "  fix: pip install 'retrieval-assay[ranx]'"
    )


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('{"kind": "a"}', 1, "no query id\n  fix: name it 'query' or 'id'"),
        (
            '{"id": "q1", "kind": "a"}\n{"id": "q1", "kind": "b"}',
            2,
            "query 'q1' stands twice and differs\n  fix: keep one of the two rows",
        ),
        (
            "{",
            1,
            (
                "not JSON: Input data was truncated\n"
                "  fix: mend or remove the line; every line is one JSON object"
            ),
        ),
        ("[1]", 1, "not an object\n  fix: mend or remove the line; every line is one JSON object"),
    ],
)
def test_a_file_of_queries_names_the_line_that_is_wrong(
    text: str, line: int, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_query_columns(path)
    assert str(caught.value) == f"{path}:{line}: {told}"


def test_judgements_and_runs_without_a_row_say_what_a_row_is(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_judgements(path)
    assert (
        str(caught.value) == f"{path}: there are no judgements\n  fix: query, document and grade: q1 0 d3 1"
    )


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            ['{"query": "q1", "doc": "", "score": 1}'],
            "{path}:1: the document id is empty\n  fix: fill it in, or remove the row",
        ),
        (
            ['{"query": "q1", "doc": "d1", "score": 1}', '{"query": "q1", "doc": "d2"}'],
            (
                "{path}: 1 of 2 rows have no score\n"
                "  fix: give every row a score, or none: then their order counts"
            ),
        ),
        (
            ["{"] * (MOST_FAULTS + 2),
            (
                f"{{path}}: 2 more faults, lines {MOST_FAULTS + 1}, {MOST_FAULTS + 2}\n"
                "  fix: mend these first, or leave them out: --lenient"
            ),
        ),
    ],
)
def test_rows_that_are_wrong_are_told_with_their_fix(rows: list[str], told: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert str(caught.value.faults[-1]) == told.format(path=path)


def test_a_run_without_a_row_meets_no_judgements(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        score_runs([tmp_path / "a.run"], tmp_path / "a.qrels", Scoring())
    assert str(caught.value) == (
        f"{tmp_path / 'a.run'}: the run has no rows\n"
        "  fix: name the run that the retriever wrote: q1 Q0 d3 1 0.9 name"
    )
