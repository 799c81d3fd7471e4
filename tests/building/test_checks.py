"""Each rule of the check: a case where it fires, and one where it stays silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from assay.building.checks import RULES, check_golden
from assay.building.checks.anchors import count_words
from assay.model.checks import CheckFinding
from assay.model.documents import Document, cut
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.runs import ChunkTable, chunk_table
from shared_data import load_cases, needs_shared

PAGE = """# Fuses

The spare fuse lies in the red box beside the door. Report a blown fuse within one shift.

Error E1207 means that the ledger freezes after the nightly reconciliation job.

| Plan | Limit | Price |
|------|-------|-------|
| Team | 112 days | 12 EUR |
"""
OTHER = "The night desk answers calls. The spare fuse lies in the red box beside the door, they say."
FUSE = "The spare fuse lies in the red box"
LEDGER = "the ledger freezes after the nightly reconciliation job"


def query(
    text: str,
    quote: str | Sequence[str] | None = FUSE,
    *,
    name: str = "q1",
    kind: str = "factual",
    doc: str = "fuses.md",
    labels: Mapping[str, float] | None = None,
    answerable: bool = True,
) -> Query:
    quotes = [] if quote is None else [quote] if isinstance(quote, str) else list(quote)
    anchors = tuple(Anchor(id=f"a{at}", doc_id=doc, quote=one) for at, one in enumerate(quotes, start=1))
    return Query(id=name, text=text, kind=kind, anchors=anchors, labels=labels or {}, answerable=answerable)


def whole(*documents: Document) -> ChunkTable:
    return chunk_table([cut(document, 0, len(document.text)) for document in documents])


def check(
    *queries: Query,
    documents: Sequence[Document] = (Document(id="fuses.md", text=PAGE),),
    chunks: Mapping[str, ChunkTable] | None = None,
    kinds: tuple[str, ...] = (),
    top_texts: Mapping[str, Sequence[str]] | None = None,
) -> list[CheckFinding]:
    return check_golden(
        GoldenSet(name="g", queries=queries, kinds=kinds),
        documents,
        {"whole": whole(*documents)} if chunks is None else chunks,
        lines={one.id: at for at, one in enumerate(queries, start=1)},
        top_texts=top_texts,
    )


def codes(findings: Sequence[CheckFinding]) -> list[str]:
    return [finding.code for finding in findings if finding.code not in {"smallest-difference", "too-small"}]


def only(findings: Sequence[CheckFinding], code: str) -> CheckFinding:
    (found,) = [finding for finding in findings if finding.code == code]
    return found


GOOD = query("Where do I find a replacement when the light goes out?")


def test_a_good_query_gives_no_remark_but_how_little_one_query_shows():
    assert [(one.severity, one.code) for one in check(GOOD)] == [("warning", "too-small")]


def test_an_anchor_that_is_not_there_names_the_closest_place_with_its_line():
    found = only(check(query("Where?", "The spare fuse is in the red box")), "not-verbatim")
    assert found.severity == "error"
    assert (found.query_id, found.anchor_id, found.line) == ("q1", "a1", 1)
    assert found.text.startswith("the quote is not in fuses.md (closest: 9")
    assert found.text.endswith("% alike, line 3)")
    assert found.fix == "quote the source: 'The spare fuse lies in the red box'"
    assert str(found.fault("golden.jsonl")).startswith(
        "golden.jsonl:1: query 'q1': anchor a1: the quote is not in fuses.md"
    )


def test_a_missing_document_gets_the_nearest_name():
    found = only(check(query("Where?", doc="fuse.md")), "no-document")
    assert found.fix == "did you mean 'fuses.md'?"


def test_an_empty_quote_is_said_to_be_empty():
    assert "empty-anchor" in codes(check(query("Where?", "\u200b ")))


@needs_shared
def test_letter_case_is_said_once_and_presentation_never():
    case = load_cases()["C06"]
    documents = [Document(id="fuses.md", text=case["input"]["doc"])]
    found = check(query("What holds when the queue stops?", case["input"]["anchor"]), documents=documents)
    assert only(found, "case-differs").severity == "note"
    assert case["expected"]["near_match"]["why"] == "case differs"
    assert "not-verbatim" not in codes(found)
    assert "Set retries to NONE while" in only(found, "case-differs").text
    spaced = check(query("What holds?", "Set retries\u00a0to NONE   while the"), documents=documents)
    assert "case-differs" not in codes(spaced)


@needs_shared
def test_an_anchor_that_occurs_twice_is_said_to():
    case = load_cases()["C08"]
    documents = [Document(id="fuses.md", text=case["input"]["doc"])]
    found = only(check(query("Which crew?", case["input"]["anchor"]), documents=documents), "not-once")
    assert found.severity == "warning"
    assert found.text.startswith(case["expected"]["warning"])
    assert "not-once" not in codes(check(GOOD))


@needs_shared
def test_a_short_anchor_is_told_of_its_places_inside_words():
    case = load_cases()["C11"]
    documents = [Document(id="fuses.md", text="\n".join(case["input"]["chunks"].values()))]
    found = only(check(query("How long?", case["input"]["anchor"]), documents=documents), "part-word-places")
    assert found.text == case["expected"]["lint"]
    alone = check(query("How long?", "12 days"))
    assert only(alone, "inside-a-word").fix == "quote whole words: '112 days'"


@needs_shared
def test_an_anchor_that_no_chunk_holds_whole_is_an_error_with_the_overlap_that_mends_it():
    case = load_cases()["C01"]
    document = Document(id="fuses.md", text=case["input"]["doc"])
    chunks = {
        f"overlap {setting['overlap']}": chunk_table(
            [
                cut(document, start, min(start + setting["size"], len(document.text)))
                for start in range(0, len(document.text), setting["size"] - setting["overlap"])
            ]
        )
        for setting in case["input"]["settings"]
    }
    found = check(query("When is money back?", case["input"]["anchor"]), documents=[document], chunks=chunks)
    not_whole = [one for one in found if one.code == "not-whole"]
    assert [one.severity for one in not_whole] == ["error", "warning"]
    assert not_whole[0].text == "anchor is whole in no chunk of 'overlap 0' (the best holds 50% of it)"
    smallest = case["expected"]["smallest_overlap_that_always_holds_it"]
    assert not_whole[0].fix == f"shorten the anchor, or let chunks overlap by {smallest} characters or more"


@pytest.mark.parametrize(
    ("quote", "fires"),
    [
        ("in the red box", True),
        ("The spare fuse lies in the", False),
        (PAGE[9:175], True),
    ],
)
def test_anchors_have_6_to_20_words(quote: str, *, fires: bool):
    assert ("length" in codes(check(query("Where?", quote)))) is fires


def test_words_of_scripts_without_blanks_are_counted_by_two_letters():
    assert count_words("退款会在十四天之内到账") == 6
    assert count_words("see 東京都 now") == 4


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_an_anchor_over_a_paragraphs_end_is_said_to_cross_it(line_end: str):
    text = f"One two three.{line_end}{line_end}Four five six.{line_end}Seven eight nine ten."
    documents = [Document(id="fuses.md", text=text)]
    crossing = check(query("What?", "two three. Four five six. Seven"), documents=documents)
    assert "crosses-paragraphs" in codes(crossing)
    inside = check(query("What?", "Four five six. Seven eight nine"), documents=documents)
    assert "crosses-paragraphs" not in codes(inside)


def test_a_phrase_that_another_document_has_too_is_a_twin():
    documents = [Document(id="fuses.md", text=PAGE), Document(id="desk.md", text=OTHER)]
    assert only(check(GOOD, documents=documents), "twins").text == (
        "the same phrase stands in 1 other document: desk.md"
    )
    assert "twins" not in codes(check(GOOD))


def test_a_document_without_chunks_is_not_indexed():
    documents = [Document(id="fuses.md", text=PAGE), Document(id="desk.md", text=OTHER)]
    found = check(GOOD, documents=documents, chunks={"half": whole(documents[1])})
    assert only(found, "not-indexed").text == "no chunk of 'half' comes from fuses.md"


def test_wrong_offsets_are_told_the_right_ones():
    anchor = Anchor(id="a1", doc_id="fuses.md", quote=FUSE, start=3, end=3 + len(FUSE))
    found = only(check(Query(id="q1", text="Where?", anchors=(anchor,))), "wrong-offsets")
    start = PAGE.index(FUSE)
    assert found.fix == f"write start {start} and end {start + len(FUSE)}"


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("What does E1207 mean?", False),
        ("What does the code 1207 say?", False),
        ("What does error E1208 mean?", True),
        ("Why does it stop?", True),
    ],
)
def test_a_lexical_query_needs_a_rare_term_that_stands_in_its_passage(text: str, *, fires: bool):
    common = [Document(id=f"{at}.md", text=f"An error stopped night job {at}.") for at in range(20)]
    documents = [Document(id="fuses.md", text=PAGE), *common]
    found = check(query(text, LEDGER, kind="lexical"), documents=documents)
    assert ("no-rare-term" in codes(found)) is fires


def test_a_common_word_is_no_rare_term():
    common = [Document(id=f"{at}.md", text=f"An error stopped night job {at}.") for at in range(20)]
    found = check(
        query("Which error is it?", LEDGER, kind="lexical"),
        documents=[Document(id="fuses.md", text=PAGE), *common],
    )
    assert "shared but common: error" in only(found, "no-rare-term").text


@needs_shared
def test_a_conceptual_query_must_not_be_made_of_its_passages_words():
    case = load_cases()["B03"]
    documents = [Document(id="fuses.md", text=case["input"]["anchor"] + ".")]
    for name, question in case["input"]["questions"].items():
        found = check(
            query(question, case["input"]["anchor"], kind=case["input"]["kind"]), documents=documents
        )
        assert ("shares-words" in codes(found)) is (case["expected"][name]["status"] == "flag")


def test_a_question_that_repeats_its_passage_is_too_easy():
    repeated = check(query("Is it that a spare fuse lies in the red box beside something?"))
    assert "'spare fuse lies in the red box beside'" in only(repeated, "too-easy").text
    words = check(query("Does the ledger freeze after reconciliation, a nightly job?", LEDGER))
    assert "content words" in only(words, "too-easy").text
    assert "too-easy" not in codes(check(query("What does E1207 do to the ledger?", LEDGER, kind="lexical")))


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("Sure! Where is the fuse?", True),
        ("Here is a question: where is it?", True),
        ("Question 3: where is it?", True),
        ("According to the passage, where is it?", True),
        ("What is it, as described in the text?", True),
        ("What does the sure-fire plan cost?", False),
        ("What does Article 8 say in the treaty?", False),
        ("Here and there: which fuse?", False),
    ],
)
def test_a_models_preamble_is_seen(text: str, *, fires: bool):
    assert ("preamble" in codes(check(query(text)))) is fires


def test_a_question_that_is_its_anchor_is_an_error():
    assert "equals-anchor" in codes(check(query("the spare FUSE lies in the red box?")))


@needs_shared
def test_the_same_question_twice_is_an_error_and_logs_are_not_backups():
    rows = load_cases()["B02"]["input"]["rows"]
    questions: list[str] = [row[0] for row in rows if row != " "]
    queries = [query(question, name=f"q{at}") for at, question in enumerate(questions, start=1)]
    found = check(*queries)
    duplicates = [(one.query_id, one.text) for one in found if one.code == "duplicate"]
    assert duplicates == [("q2", "asks the same as q1"), ("q3", "asks the same as q1")]
    assert "near-duplicate" not in codes(found)


@pytest.mark.parametrize(
    ("other", "fires"),
    [
        ("When is the weekly report of the night shift sent to the owner of the plant?", True),
        ("When is the weekly report of the night shift sent to the plant's owner, please?", True),
        ("When is the weekly report of the 2nd shift sent to the owner of the plant?", False),
        ("When is the monthly report of the day shift sent to the keeper?", False),
    ],
)
def test_questions_that_differ_in_one_plain_word_are_nearly_the_same(other: str, *, fires: bool):
    first = query("When is the weekly report of the night shift sent to the plant owner?", name="q1")
    assert ("near-duplicate" in codes(check(first, query(other, name="q2")))) is fires


def test_queries_with_nothing_to_find_and_labels_of_nothing_are_errors():
    found = check(
        query("Where?", None, name="q1"),
        query("Who?", None, name="q2", labels={"nowhere.md": 1.0}),
        query("Why?", None, name="q3", labels={"fuses.md": 1.0}),
        query("How?", None, name="q4", answerable=False),
    )
    assert [(one.query_id, one.code) for one in found if one.severity == "error"] == [
        ("q1", "nothing-to-find"),
        ("q2", "unknown-label"),
    ]


def test_kinds_out_of_balance_and_declared_kinds_without_queries():
    many = [query(f"Where is the one of shelf {at}?", name=f"q{at}") for at in range(6)]
    few = [query("Why is light gone?", name="c1", kind="conceptual")]
    found = check(*many, *few, kinds=("factual", "lexical"))
    assert only(found, "kind-missing").text == "no query of the kind lexical"
    assert "6 factual, 1 conceptual" in only(found, "kinds-unbalanced").text
    assert "kinds-unbalanced" not in codes(check(*many[:2], *few))


def test_a_set_written_from_the_retrievers_output_is_seen():
    close = [query(f"Does the spare part {at} lie in the blue drawer?", name=f"q{at}") for at in range(3)]
    hits = {one.id: [f"We know: {one.text[5:].lower()}"] for one in close}
    found = check(*close, top_texts=hits)
    assert "3 of 3 questions" in only(found, "written-from-retriever").text
    assert "written-from-retriever" not in codes(check(*close, top_texts={"q0": ["Another text."]}))
    assert "written-from-retriever" not in codes(check(*close))


def test_the_smallest_difference_is_six_queries_of_the_set():
    queries = [query(f"Where is the one of shelf {at}?", name=f"q{at}") for at in range(48)]
    # six of 48 must change at the 5 % level: 6 / 48
    assert "48 queries can show is 0.125" in only(check(*queries), "smallest-difference").text
    assert "cannot show any" in only(check(*queries[:5]), "too-small").text


def test_findings_come_in_the_order_of_the_queries_and_the_sets_own_last():
    found = check(query("Where?", "in the red box", name="q1"), query("Who?", "not there at all", name="q2"))
    ids = [one.query_id for one in found]
    assert ids == sorted(ids, key=lambda one: (one is None, one or ""))


def test_every_rule_says_what_it_looks_for():
    assert len({rule.__name__ for rule in RULES}) == len(RULES) == 20
    assert all((rule.__doc__ or "").startswith("Say ") for rule in RULES)
