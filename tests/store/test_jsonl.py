"""JSON lines as people's files have them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.errors import InputError
from assay.store.jsonl import id_text, parse_json, read_json, read_jsonl, records_of
from shared_data import load_cases, needs_shared


@needs_shared
def test_case_l02_a_broken_line_is_refused_with_its_number_or_left_out_aloud(tmp_path: Path) -> None:
    case = load_cases()["L02"]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(case["input"]["lines"]), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_jsonl(path)
    (fault,) = caught.value.faults
    assert fault.where == f"{path}:{case['expected']['strict']['line']}"
    lenient = case["expected"]["lenient"]
    lines = read_jsonl(path, lenient=True)
    assert len(lines.records) == lenient["loaded"]
    assert list(lines.skipped) == lenient["skipped_lines"]
    (notice,) = lines.notices
    assert notice.text == "scores.jsonl: 1 broken line was left out (3); 3 loaded"
    ranks = [cast("dict[str, float]", record)["rr"] for _, record in lines.records]
    assert sum(ranks) / len(ranks) == lenient["mrr_of_loaded"]["value"]


def test_blank_lines_marks_and_gzip_are_nothing(tmp_path: Path) -> None:
    text = '\ufeff\n{"a": 1}\r\n   \n{"a": 2}'
    (tmp_path / "plain.jsonl").write_text(text, encoding="utf-8", newline="")
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    wanted = ((2, {"a": 1}), (4, {"a": 2}))
    assert read_jsonl(tmp_path / "plain.jsonl").records == wanted
    assert read_jsonl(tmp_path / "packed.jsonl.gz").records == wanted


def test_all_broken_lines_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{\n[1, NaN]\n{"a": 1} {"b": 2}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_jsonl(path)
    assert [fault.where for fault in caught.value.faults] == [f"{path}:{line}" for line in (2, 3, 4)]


def test_a_deeply_nested_line_is_a_fault_and_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl:1: not JSON"):
        read_jsonl(path)


def test_records_of_a_json_list_are_numbered_and_must_be_objects(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1}, {"a": 2}]', encoding="utf-8")
    assert records_of(path) == [(1, {"a": 1}), (2, {"a": 2})]
    path.write_text('[{"a": 1}, 2, 3]', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        records_of(path)
    assert [str(fault) for fault in caught.value.faults] == [
        f"{path}:2: is not an object\n  fix: mend or remove it; every record is one JSON object",
        f"{path}:3: is not an object\n  fix: mend or remove it; every record is one JSON object",
    ]
    path.write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(InputError, match="holds no list of records"):
        records_of(path)
    path.write_text('{\n"a": }', encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json:2: not JSON: Expecting value"):
        read_json(path)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("7", "7"),
        ('"007"', "007"),
        ("1.10", "1.10"),
        ("1e3", "1e3"),
        ("12345678901234567890123", "12345678901234567890123"),
    ],
)
def test_an_id_that_is_a_number_is_its_spelling(written: str, text: str) -> None:
    assert id_text(parse_json(written)) == text


@pytest.mark.parametrize("written", ["true", "null", "[1]", "{}"])
def test_what_is_neither_text_nor_number_is_no_id(written: str) -> None:
    assert id_text(parse_json(written)) is None


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_any_json_value_is_read_as_it_is(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


def test_a_folder_in_the_place_of_a_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_jsonl(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot be read (Is a directory)\n  fix: name a file"


def test_a_number_that_json_does_not_know_has_no_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": NaN}', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_json(path)
    assert str(caught.value) == f"{path}: not JSON: NaN is not a JSON number\n  fix: mend the file"
