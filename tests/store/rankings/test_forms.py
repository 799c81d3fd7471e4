"""Forms other than TREC: the same rows whatever the file, and every fault with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from assay.model.errors import InputError, MissingExtraError
from assay.store.rankings.reading import meet_run, read_judgements, read_run
from assay.store.rankings.sources import as_form, form_of, open_run
from shared_data import load_cases, needs_shared

RUN = {"q1": {"d1": 0.5, "007": 0.25}, "q2": {"7": 7.0}}
GRADES = {"q1": {"d1": 2, "x": 0}, "q2": {"7": 1}}
LINES = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
GRADE_LINES = [(query, doc, grade) for query, docs in GRADES.items() for doc, grade in docs.items()]


def rows_of(source: Any, **settings: Any) -> list[tuple[str, str, float]]:
    batch, _ = read_run(source, **settings)
    assert batch.scores is not None
    lengths: list[int] = batch.lengths.tolist()
    queries = [query for query, length in zip(batch.queries, lengths, strict=True) for _ in range(length)]
    return list(zip(queries, batch.docs.texts(), batch.scores.tolist(), strict=True))


def grades_of(source: Any) -> list[tuple[str, str, float]]:
    judgements = read_judgements(source)
    places: list[int] = judgements.query.tolist()
    queries = [judgements.query_ids[place] for place in places]
    return list(zip(queries, judgements.docs.texts(), judgements.grades.tolist(), strict=True))


def faults_of(source: Any, *, judgements: bool = False) -> list[str]:
    with pytest.raises(InputError) as error:
        (read_judgements if judgements else read_run)(source)
    return [f"{Path(fault.where).name} {fault.what}" for fault in error.value.faults]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def jsonl(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


class Hit(NamedTuple):
    """A scored document, as ir_datasets gives it."""

    query_id: str
    doc_id: str
    score: float


def run_sources(folder: Path) -> dict[str, Any]:
    frame = pl.DataFrame(LINES, schema=["query_id", "doc_id", "score"], orient="row")
    frame.write_parquet(folder / "a.parquet")
    frame.write_ipc(folder / "a.arrow")
    table = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{s}\n" for q, d, s in LINES)
    return {
        "json": written(folder, "a.json", json.dumps(RUN)),
        "json of lists of pairs": written(
            folder,
            "b.json",
            json.dumps({query: [list(pair) for pair in docs.items()] for query, docs in RUN.items()}),
        ),
        "jsonl of hits": written(
            folder, "a.jsonl", jsonl([{"query": q, "doc": d, "score": s} for q, d, s in LINES])
        ),
        "jsonl of queries": written(
            folder,
            "b.jsonl",
            jsonl(
                [
                    {"id": q, "hits": [{"id": d, "score": s} for d, s in docs.items()]}
                    for q, docs in RUN.items()
                ]
            ),
        ),
        "tsv": written(folder, "a.tsv", table),
        "csv": written(folder, "a.csv", table.replace("\t", ",").replace("q2,7", '"q2","7"')),
        "parquet": folder / "a.parquet",
        "arrow": folder / "a.arrow",
        "mapping": RUN,
        "polars": frame,
        "lazy polars": frame.lazy(),
        "tuples": [Hit(*line) for line in LINES],
        "generator": (Hit(*line) for line in LINES),
        "mappings": [{"qid": q, "docno": d, "score": s} for q, d, s in LINES],
    }


@pytest.mark.parametrize("form", list(run_sources(Path("/tmp"))))
def test_a_run_says_the_same_in_every_form(form: str, tmp_path: Path) -> None:
    assert rows_of(run_sources(tmp_path)[form]) == LINES


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_frames_of_other_packages_are_read(kind: str) -> None:
    package: Any = pytest.importorskip(kind)
    columns = {
        "qid": [q for q, _, _ in LINES],
        "docno": [d for _, d, _ in LINES],
        "score": [s for *_, s in LINES],
    }
    source = package.DataFrame(columns) if kind == "pandas" else package.table(columns)
    assert rows_of(source) == LINES
    whole = package.DataFrame({"qid": [1, 2], "docno": [7, 8], "score": [1, 2]}) if kind == "pandas" else None
    if whole is not None:
        assert rows_of(whole) == [("1", "7", 1.0), ("2", "8", 2.0)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps(GRADES)),
        ("a.qrels", "q1 0 d1 2\nq1 0 x 0\nq2 0 7 1\n"),
        ("a.jsonl", jsonl([{"query": q, "doc": d, "grade": g} for q, d, g in GRADE_LINES])),
        ("b.jsonl", jsonl([{"id": q, "relevant": docs} for q, docs in GRADES.items()])),
        ("a.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\tx\t0\nq2\t7\t1\n"),
        ("a.csv", "qid,docno,label\nq1,d1,2\nq1,x,0\nq2,7,1\n"),
    ],
)
def test_judgements_say_the_same_in_every_form(name: str, text: str, tmp_path: Path) -> None:
    assert grades_of(written(tmp_path, name, text)) == GRADE_LINES


def test_a_list_without_scores_is_in_the_order_given(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", jsonl([{"id": "q1", "ranked": ["b", "a", 7]}]))
    batch, _ = read_run(path)
    assert (batch.docs.texts(), batch.scores) == (["b", "a", "7"], None)
    met = meet_run(open_run(path), read_judgements({"q1": {"7": 1}}))
    assert met.meeting.judged.found.rank.tolist() == [3]


def test_a_table_of_ranks_without_scores_is_ordered_by_rank() -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "rank": [2, 1]})
    met = meet_run(open_run(frame), read_judgements({"q": {"b": 1}}))
    assert met.meeting.judged.found.rank.tolist() == [1]


def test_numbers_in_json_are_read_as_their_text(tmp_path: Path) -> None:
    path = written(
        tmp_path, "a.jsonl", '{"query": 1, "doc": 7.0, "score": 1}\n{"query": 1, "doc": 7, "score": 0}\n'
    )
    assert rows_of(path) == [("1", "7.0", 1.0), ("1", "7", 0.0)]


def test_a_folder_of_parquet_files_is_one_run_in_the_order_of_their_names(tmp_path: Path) -> None:
    for part, line in enumerate(LINES):
        pl.DataFrame([line], schema=["query", "doc", "score"], orient="row").write_parquet(
            tmp_path / f"part-{part:03}.parquet"
        )
    assert rows_of(tmp_path) == LINES


def test_ids_of_a_table_that_are_fractions_are_refused() -> None:
    frame = pl.DataFrame({"query": ["q"], "doc": [7.0], "score": [1.0]})
    assert faults_of(frame) == [
        "run column 'doc' holds fractions, and ids are texts (is 7.0 the id 7, or 7.0?)"
    ]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.jsonl",
            '{"query": "q", "doc": "d", "score": "x"}\n',
            "a.jsonl:1 query 'q', document 'd': the score 'x'",
        ),
        ("a.jsonl", '\n{"query": "q"}\n', "a.jsonl:2 nothing is said of a document (keys: query)"),
        ("a.jsonl", '{"doc": "d"}\n', "a.jsonl:1 no query id (its keys are doc)"),
        ("a.jsonl", '{"query": null, "doc": "d"}\n', "a.jsonl:1 no query id (query is None)"),
        ("a.jsonl", "[1]\n{}\n", "a.jsonl:1 not an object: '[1]'"),
        (
            "a.json",
            '{"q": {"d": 1, "d": 2}}',
            "a.json:1 document 'd' stands twice for query 'q' (in the same line)",
        ),
        ("a.json", '{"q": {"d": 1}, "q": {"e": 2}}', "a.json query 'q' stands twice"),
        ("a.json", "[1]", "a.json should be query -> document -> number, not list"),
        ("a.json", "{", "a.json not JSON"),
        ("a.csv", "query,doc,score\nq,d,1\nq,e\n", "a.csv:3 2 fields where the header has 3"),
        ("a.csv", "query,doc,score\nq,d,many\n", "a.csv:2 the score 'many' is not a number"),
        ("a.csv", "query,doc,score\nq,d,1\nq,d,2\n", "a.csv:3 document 'd' stands twice for query 'q'"),
        ("a.csv", "query,text,score\nq,d,1\n", "a.csv there is no column for the document; the columns are"),
    ],
)
def test_each_fault_is_named_with_its_line(name: str, text: str, expected: str, tmp_path: Path) -> None:
    assert faults_of(written(tmp_path, name, text))[0].startswith(expected)


def test_a_table_with_empty_cells_names_their_rows() -> None:
    frame = pl.DataFrame({"query": ["q", None, "q"], "doc": ["a", "b", None], "score": [1.0, 1.0, 1.0]})
    assert faults_of(frame) == ["run:2 column 'query' is empty", "run:3 column 'doc' is empty"]


def test_a_column_that_says_one_thing_of_each_query_is_kept(tmp_path: Path) -> None:
    text = "query,doc,grade,kind,page\nq1,a,1,table,1\nq1,b,1,table,2\nq2,c,1,,3\n"
    judgements = read_judgements(written(tmp_path, "a.csv", text))
    assert judgements.groups == {"kind": ("table", None)}


def test_a_form_is_known_by_its_name_or_its_first_bytes(tmp_path: Path) -> None:
    pl.DataFrame({"query": ["q"], "doc": ["d"]}).write_parquet(tmp_path / "bare")
    assert form_of(tmp_path / "bare") == "parquet"
    for text, form in [("q Q0 d 1 1 t\n", "trec"), ('{"q": {"d": 1}}', "json"), ("{}\n{}\n", "jsonl"),
                       ("query,doc\nq,d\n", "csv"), ("query\tdoc\nq\td\n", "csv")]:  # fmt: skip
        assert form_of(written(tmp_path, "some.txt", text)) == form
    # MS MARCO's judgements end in .tsv, and are TREC's
    assert form_of(written(tmp_path, "qrels.dev.tsv", "1\t0\t7\t1\n")) == "trec"
    with pytest.raises(InputError, match="did you mean 'parquet'"):
        as_form("parqet")


def test_a_missing_file_is_said_at_once(tmp_path: Path) -> None:
    assert faults_of(tmp_path / "no.run") == [" " + f"{tmp_path / 'no.run'}: there is no such file"]
    assert faults_of(tmp_path)[0].endswith("is a folder, not a file")


def test_lz4_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lz4", None)
    path = tmp_path / "a.run.lz4"
    path.write_bytes(b"\x04\x22\x4d\x18")
    with pytest.raises(MissingExtraError, match="lz4"):
        read_run(path)


def test_a_text_that_is_no_run_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="not int"):
        read_run(7)
    with pytest.raises(InputError, match="has no query_id, doc_id and score"):
        read_run([("q", "d", 1.0)])


# the shared cases


@needs_shared
def test_case_i01_ids_are_text_and_numbers_are_read_as_theirs(tmp_path: Path) -> None:
    case = load_cases()["I01"]
    golden = written(
        tmp_path,
        "golden.csv",
        case["input"]["golden_csv"].replace("\n", ",grade\n", 1).replace("007", "007,1"),
    )
    judgements = read_judgements(golden)
    assert judgements.docs.texts() == ["007"]
    met = meet_run(open_run(case["input"]["run_json"]), judgements)
    assert met.meeting.judged.found.rank.tolist() == [2]  # RR 1/2, and not the 7 at rank 1
    run = written(tmp_path, "run.json", json.dumps(case["input"]["run_json_int"]))
    met = meet_run(
        open_run(run), read_judgements({"q2": dict.fromkeys(case["input"]["golden_for_q2"]["q2"], 1)})
    )
    assert met.meeting.judged.found.rank.tolist() == [1]


@needs_shared
def test_case_i04_an_absent_key_on_both_sides_is_no_match() -> None:
    case = load_cases()["I04"]["input"]
    for source, judgements in ((case["golden_docs"], True), (case["retrieved_docs"], False)):
        records = [{"query_id": "q1", case["compare_by"]: None, "score": 1, "relevance": 1} for _ in source]
        assert len(faults_of(records, judgements=judgements)) == 1


@needs_shared
def test_case_l01_byte_order_mark_and_blank_lines(tmp_path: Path) -> None:
    case = load_cases()["L01"]
    path = tmp_path / "golden.jsonl"
    mark = bytes.fromhex(case["input"]["bytes_hex_of_start"])
    path.write_bytes(mark + case["input"]["jsonl_after_mark"].encode())
    judgements = read_judgements(path)
    assert len(judgements.query_ids) == case["expected"]["queries"]
    assert judgements.query_ids[0] == case["expected"]["first_id"]


@needs_shared
def test_case_l02_one_broken_line(tmp_path: Path) -> None:
    case = load_cases()["L02"]
    lines = [line.replace('"rr":', '"doc":"d","score":') for line in case["input"]["lines"]]
    path = written(tmp_path, "run.jsonl", "\n".join(lines))
    line = case["expected"]["strict"]["line"]
    assert [fault.split()[0] for fault in faults_of(path)] == [f"run.jsonl:{line}"]
    batch, notices = read_run(path, lenient=True)
    assert len(batch) == case["expected"]["lenient"]["loaded"]
    assert [list(map(int, notice.ids)) for notice in notices] == [
        case["expected"]["lenient"]["skipped_lines"]
    ]


@needs_shared
def test_case_l03_and_l04_quoted_and_very_long_cells(tmp_path: Path) -> None:
    text = load_cases()["L03"]["input"]["csv"]
    size = load_cases()["L04"]["input"]["csv_field_characters"]
    text = text.replace("query,anchor\n", "query,doc,grade,note\n")
    text = text.replace('line two"\n', f'line two",1,{"x" * size}\n').replace(
        "plain,simple\n", "plain,simple,1,\n"
    )
    found = grades_of(written(tmp_path, "a.csv", text))
    assert found == [('refunds, fees and "grace" days', "line one\nline two", 1.0), ("plain", "simple", 1.0)]


@needs_shared
def test_case_q03_one_query_id_used_twice(tmp_path: Path) -> None:
    case = load_cases()["Q03"]
    path = written(tmp_path, "golden.jsonl", jsonl(case["input"]["golden_rows"]))
    assert faults_of(path, judgements=True) == ["golden.jsonl:3 query 'q1' has a list in line 1 already"]
