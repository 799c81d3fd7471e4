"""Reading folders, globs and files: what is text, what is its id, and what is wrong with it."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

from assay.corpus import Corpus, corpus_of, read_corpus
from assay.corpus.folders import matches
from assay.model.documents import Document
from assay.model.errors import InputError
from shared_data import DATASETS, load_cases, needs_shared


def write(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def ids(corpus: Corpus) -> list[str]:
    return [document.id for document in corpus.documents]


def codes(corpus: Corpus) -> list[str]:
    return [notice.code for notice in corpus.notices]


def faults(source: Path | str, **how: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_corpus(source, **how)  # type: ignore[arg-type] - tables of keywords
    return [str(fault) for fault in caught.value.faults]


def test_ids_are_relative_paths_in_their_order(tmp_path: Path):
    write(tmp_path, {"b.md": "# B", "guide/a.txt": "A", "guide/deep/c.rst": "C\n=\n", "a.html": "<p>H</p>"})
    corpus = read_corpus(tmp_path)
    assert ids(corpus) == ["a.html", "b.md", "guide/a.txt", "guide/deep/c.rst"]
    assert [document.title for document in corpus.documents] == [None, "B", None, "C"]
    assert corpus.notices == ()


def test_the_digest_is_of_the_content_and_not_of_the_place(tmp_path: Path):
    one = read_corpus(write(tmp_path / "one", {"a.md": "A", "b.md": "B"}))
    two = read_corpus(write(tmp_path / "two", {"b.md": "B", "a.md": "A"}))
    other = read_corpus(write(tmp_path / "three", {"a.md": "AB", "b.md": ""}))
    assert one.digest == two.digest
    assert one.digest != other.digest


def test_text_is_kept_as_it_stands_but_for_the_mark(tmp_path: Path):
    text = "One\r\ntwo\rthree\n\u2028 four\x0c\u00a0"
    write(tmp_path, {"a.txt": b"\xef\xbb\xbf" + text.encode()})
    assert read_corpus(tmp_path).documents[0].text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_the_mark_names_the_encoding(tmp_path: Path, encoding: str):
    write(tmp_path, {"a.txt": "Zürich 日本 \U0001f600".encode(encoding)})
    assert read_corpus(tmp_path).documents[0].text == "Zürich 日本 \U0001f600"


def test_another_encoding_is_read_when_it_is_named(tmp_path: Path):
    write(tmp_path, {"a.txt": "café".encode("cp1252"), "b.txt": b"\xef\xbb\xbfcaf\xc3\xa9"})
    assert [document.text for document in read_corpus(tmp_path, encoding="cp1252").documents] == [
        "café",
        "café",
    ]


def test_html_says_its_encoding_itself(tmp_path: Path):
    page = '<html><head><meta charset="iso-8859-1"><title>Café</title></head><body>Zürich</body></html>'
    write(tmp_path, {"a.html": page.encode("iso-8859-1")})
    [document] = read_corpus(tmp_path).documents
    assert (document.text, document.title) == ("Zürich", "Café")


def test_all_files_that_are_not_text_are_named_at_once(tmp_path: Path):
    write(
        tmp_path,
        {
            "a.txt": b"caf\xe9",
            "b.md": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "c.txt": "ab".encode("utf-16-le"),
            "d.txt": "fine",
        },
    )
    found = faults(tmp_path)
    assert [fault.split("\n")[0] for fault in found] == [
        "a.txt: not valid UTF-8: byte 0xe9 at offset 3, line 1",
        "b.md: not text: 3 NUL bytes in 16, the first at offset 8",
        "c.txt: every other byte is NUL (2 of 4): it looks like UTF-16 without a mark",
    ]


def test_a_stray_nul_is_kept_and_said(tmp_path: Path):
    write(tmp_path, {"a.txt": "word " * 400 + "\0"})
    corpus = read_corpus(tmp_path)
    assert corpus.documents[0].text.endswith("\0")
    assert codes(corpus) == ["nul-characters"]


def test_empty_files_are_said_and_stay(tmp_path: Path):
    corpus = read_corpus(write(tmp_path, {"a.md": "", "b.md": " \n", "c.md": "C"}))
    assert ids(corpus) == ["a.md", "b.md", "c.md"]
    [notice] = corpus.notices
    assert (notice.code, notice.ids) == ("empty-documents", ("a.md", "b.md"))


def test_equal_texts_are_said(tmp_path: Path):
    corpus = read_corpus(write(tmp_path, {"a.md": "Same.", "b.md": "Same.", "c.md": "Other."}))
    assert [(notice.code, notice.ids) for notice in corpus.notices] == [("twin-documents", ("b.md",))]


def test_files_of_other_kinds_are_counted(tmp_path: Path):
    corpus = read_corpus(
        write(tmp_path, {"a.md": "A", "b.pdf": "x", "c.PDF": "x", "d.csv": "text\nD", "LICENSE": "L"})
    )
    [notice] = corpus.notices
    assert notice.code == "files-not-read"
    assert "4 file(s) of other kinds were not read (.pdf 2, .csv 1, no suffix 1)" in notice.text


def test_hidden_files_and_folders_are_passed_over(tmp_path: Path):
    corpus = read_corpus(write(tmp_path, {"a.md": "A", ".git/b.md": "B", ".c.md": "C"}))
    assert ids(corpus) == ["a.md"]
    assert corpus.notices == ()


def test_include_and_exclude(tmp_path: Path):
    write(tmp_path, {"a.md": "A", "b.txt": "B", "old/c.md": "C", "new/old.md": "D", "new/e.md": "E"})
    assert ids(read_corpus(tmp_path, include=["*.md"])) == ["a.md", "new/e.md", "new/old.md", "old/c.md"]
    assert ids(read_corpus(tmp_path, exclude=["old/"])) == ["a.md", "b.txt", "new/e.md", "new/old.md"]
    assert ids(read_corpus(tmp_path, include=["new/**"], exclude=["**/old.md"])) == ["new/e.md"]


def test_a_glob_is_relative_to_its_fixed_part(tmp_path: Path):
    write(tmp_path, {"docs/a.md": "A", "docs/deep/b.md": "B", "docs/c.txt": "C"})
    assert ids(read_corpus(str(tmp_path / "docs/**/*.md"))) == ["a.md", "deep/b.md"]
    assert ids(read_corpus(str(tmp_path / "docs/*"))) == ["a.md", "c.txt"]


def test_one_file_is_a_corpus(tmp_path: Path):
    write(tmp_path, {"a.md": "# A", "b.md": "B"})
    assert ids(read_corpus(tmp_path / "a.md")) == ["a.md"]


def test_a_file_without_a_suffix_is_read_as_text_when_it_is_named(tmp_path: Path):
    write(tmp_path, {"LICENSE": "Free."})
    assert read_corpus(tmp_path / "LICENSE").documents[0].text == "Free."


def test_nothing_there_is_an_error_with_what_was_looked_for(tmp_path: Path):
    [fault] = faults(tmp_path / "missing")
    assert "there is no such file or folder" in fault
    write(tmp_path, {"a.pdf": "x"})
    [fault] = faults(tmp_path)
    assert "no text file is there" in fault
    assert ".pdf 1" in fault
    [fault] = faults(tmp_path, include=["*.md"])
    assert "no file matches *.md" in fault


def test_suffixes_are_read_in_any_case(tmp_path: Path):
    write(tmp_path, {"README.MD": "# Title", "page.HTML": "<p>Page"})
    corpus = read_corpus(tmp_path)
    assert [(document.id, document.title) for document in corpus.documents] == [
        ("README.MD", "Title"),
        ("page.HTML", None),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text_is_named(tmp_path: Path):
    write(tmp_path, {"a.md": "A", os.fsdecode(b"b\xff.md"): "B"})
    assert faults(tmp_path) == ["'b\\udcff.md': the file's name is not valid UTF-8\n  fix: rename the file"]


def test_files_that_need_converting_say_so(tmp_path: Path):
    write(tmp_path, {"a.pdf": "%PDF-1.4", "b.docx": "PK"})
    assert [fault.split("\n")[0] for fault in faults(tmp_path, include=["*"])] == [
        "a.pdf: .pdf is not read",
        "b.docx: .docx is not read",
    ]


def test_an_encoding_that_does_not_exist_is_refused(tmp_path: Path):
    write(tmp_path, {"a.txt": "A"})
    assert faults(tmp_path, encoding="utf-9")[0].startswith("encoding: no encoding is called 'utf-9'")
    assert faults(tmp_path, encoding="base64")[0].startswith("encoding: no encoding is called 'base64'")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    write(tmp_path, {"a.md": "A", "b.md": "B"})
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert faults(tmp_path) == [
        "a.md: cannot be read: Permission denied\n  fix: make it readable, or exclude it",
        "b.md: cannot be read: Permission denied\n  fix: make it readable, or exclude it",
    ]


def test_zipped_records_are_read_and_broken_ones_named(tmp_path: Path):
    write(
        tmp_path,
        {"a.jsonl.gz": gzip.compress(b'{"id": "1", "text": "One."}\n'), "b.jsonl.gz": b"\x1f\x8bbroken"},
    )
    assert ids(read_corpus(tmp_path / "a.jsonl.gz")) == ["1"]
    assert faults(tmp_path / "b.jsonl.gz")[0].startswith("b.jsonl.gz: cannot be read")


def test_ids_are_found_in_either_unicode_form():
    corpus = corpus_of([Document(id="Zu\u0308rich.md", text="Z")])
    assert ids(corpus) == ["Z\u00fcrich.md"]
    assert corpus.find("Zu\u0308rich.md") is corpus.find("Z\u00fcrich.md")
    with pytest.raises(InputError, match=r"did you mean 'Zürich\.md'"):
        corpus.find("Zurich.md")


@needs_shared
def test_case_i02_two_ids_that_become_one_are_an_error():
    case = load_cases()["I02"]
    with pytest.raises(InputError, match="become the same after Unicode composition"):
        corpus_of(Document(id=doc_id, text="x") for doc_id in case["input"]["index_ids"])
    assert case["expected"]["loading_index_ids"]["verdict"] == "error"
    [document] = corpus_of([Document(id=case["input"]["run"]["q1"][0], text="x")]).documents
    assert document.id == case["expected"]["id_key"]


def test_all_ids_that_are_wrong_are_said_at_once():
    with pytest.raises(InputError) as caught:
        corpus_of([Document(id=one, text="x") for one in ["a", "a", " ", "u\u0308", "\u00fc"]])
    assert [fault.where for fault in caught.value.faults] == ["a", "corpus", "\u00fc"]


def test_no_document_is_no_corpus():
    with pytest.raises(InputError, match="holds no document"):
        corpus_of([])


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("guide/a.md", "*.md", True),
        ("guide/a.md", "a.md", True),
        ("guide/a.md", "guide", True),
        ("guide/a.md", "guide/*", True),
        ("guide/deep/a.md", "guide/*.md", False),
        ("guide/deep/a.md", "guide/**/*.md", True),
        ("guide/a.md", "guide/**/*.md", True),
        ("guide/a.md", "uide/a.md", False),
        ("guide/a.md", "[ab].md", True),
        ("guide/a.md", "[!ab].md", False),
        ("guide/a.md", "?.md", True),
        ("a+b.md", "a+b.md", True),
        ("aab.md", "a+b.md", False),
        ("a[b.md", "a[b.md", True),
    ],
)
def test_patterns(name: str, pattern: str, expected: bool):  # noqa: FBT001 - a column of the table
    assert matches(name, [pattern]) is expected


@needs_shared
def test_awkward_files_are_read_whole():
    corpus = read_corpus(DATASETS / "awkward-text", exclude=["README.md"])
    alice = corpus.find("tantivy_alice_bom_crlf.txt")
    assert not alice.text.startswith("\ufeff")
    assert "\r\n" in alice.text
    assert corpus.find("fastapi_ko_async.md").title == "동시성과 async / await"
    assert all("\ufffd" not in document.text for document in corpus.documents)


@needs_shared
def test_a_real_documentation_folder():
    corpus = read_corpus(DATASETS / "fastapi-docs", exclude=["README.md"])
    assert len(corpus) == 135
    assert corpus.find("tutorial/body.md").title == "Request Body"
    assert ids(corpus) == sorted(ids(corpus))
