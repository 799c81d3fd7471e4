"""What questions are made of: passages spread over a corpus, facts in them, anchors that last."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from assay.building.anchor_shapes import AnchorShaper
from assay.building.facts import identifiers_in, key_facts, sentences_of
from assay.building.passages import MOST_CHARS, Passage, passages_of, pick_passages
from assay.building.rarity import Rarity
from assay.corpus import read_corpus
from assay.model.documents import Chunk, Document, cut
from shared_data import DATASETS, needs_shared

FILLER = "The clerk of the day files every slip in the blue drawer of the second cabinet upstairs, "


def sentence(number: int) -> str:
    return f"{FILLER}number {number}, and locks it before the bell rings for the evening meal."


def passage_of(text: str) -> tuple[Document, Passage]:
    document = Document(id="a.md", text=text)
    (passage,) = passages_of(document)
    return document, passage


def test_headings_code_and_short_stretches_are_no_passages():
    code = f"```\n{sentence(1)}\n```\n\n{{!> ../code.py !}}\n"
    text = f"# Top\n\nToo short.\n\n{code}\n## Below\n\n{sentence(2)}\n"
    (passage,) = passages_of(Document(id="a.md", text=text))
    assert passage.text == sentence(2)
    assert passage.path == ("Top", "Below")
    assert text[passage.start : passage.end] == passage.text


def test_blocks_of_a_section_are_joined_and_a_section_never_runs_into_the_next():
    text = f"# One\n\n{sentence(1)}\n\n{sentence(2)}\n\n# Two\n\n{sentence(3)}\n"
    first, second = passages_of(Document(id="a.md", text=text))
    assert (first.path, second.path) == (("One",), ("Two",))
    assert sentence(1) in first.text
    assert sentence(2) in first.text
    assert second.text == sentence(3)


def test_long_plain_text_is_cut_at_its_lines():
    text = "\n".join(sentence(number) for number in range(40))
    found = passages_of(Document(id="a.txt", text=text))
    assert all(passage.end - passage.start <= MOST_CHARS for passage in found)
    assert "".join(passage.text for passage in found).count("number") == 40


def test_text_that_stands_twice_is_boilerplate():
    documents = [Document(id=f"{name}.md", text=f"# T\n\n{sentence(1)}\n") for name in "ab"]
    own = Document(id="c.md", text=f"# T\n\n{sentence(2)}\n")
    every = [passage for document in [*documents, own] for passage in passages_of(document)]
    assert [one.doc_id for one in pick_passages(every, 9, np.random.default_rng(0))] == ["c.md"]


def test_every_document_comes_before_any_comes_twice_and_sections_take_turns():
    documents = [
        Document(id=f"d{at}.md", text="".join(f"# S{n}\n\n{sentence(10 * at + n)}\n\n" for n in range(3)))
        for at in range(5)
    ]
    every = [passage for document in documents for passage in passages_of(document)]
    picked = pick_passages(every, 15, np.random.default_rng(3))
    assert {one.doc_id for one in picked[:5]} == {document.id for document in documents}
    assert all(len({one.path for one in picked if one.doc_id == d.id}) == 3 for d in documents)
    again = pick_passages(every, 15, np.random.default_rng(3))
    assert [one.place for one in again] == [one.place for one in picked]
    assert [one.place for one in pick_passages(every, 5, np.random.default_rng(3))] == [
        one.place for one in picked[:5]
    ]


def test_places_that_were_used_are_avoided():
    _, passage = passage_of(f"# T\n\n{sentence(1)}\n")
    assert pick_passages([passage], 1, np.random.default_rng(0), avoid=[passage.place]) == []


@needs_shared
@pytest.mark.parametrize("corpus", ["fastapi-docs", "squad-fulldoc/docs"])
def test_passages_of_real_corpora_are_slices_that_do_not_overlap(corpus: str):
    documents = read_corpus(DATASETS / corpus).documents
    every: list[Passage] = []
    for document in documents:
        reached = 0
        for passage in passages_of(document):
            assert document.text[passage.start : passage.end] == passage.text
            assert passage.start >= reached
            assert passage.words >= 20
            reached = passage.end
            every.append(passage)
    picked = pick_passages(every, 60, np.random.default_rng(0))
    lengths = Counter(one.length for one in picked)
    assert len({one.doc_id for one in picked}) >= 0.8 * min(60, len({one.doc_id for one in every}))
    assert lengths["middle"] >= 15
    assert lengths["long"] >= 15


def test_sentences_lose_their_list_marks_and_questions_are_none():
    text = "- Keys are turned daily.\n- Why is that?\n1. Version 2.1 is out!\nSee also:"
    assert list(sentences_of(text)) == ["Keys are turned daily.", "Version 2.1 is out!"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Set max_age or --no-cache.", ["max_age", "--no-cache"]),
        ("Errors E1207 and SAFE-7x stay", ["E1207"]),
        ("use `response_model` with HTTPException", ["response_model", "HTTPException"]),
        ("call read_items() first", ["read_items()"]),
        ("The End of May. Now.", []),
    ],
)
def test_identifiers_are_what_a_program_writes(text: str, found: list[str]):
    assert identifiers_in(text) == found


def test_facts_come_with_their_kind_the_most_telling_first():
    text = (
        "Visitors must sign the register at the northern gate. "
        "A lease is the right of one worker to hold one shard. "
        "The setting max_lease bounds how long a worker may hold it. "
        "Renewals are tried after 45 seconds and once more before the end."
    )
    passage = Passage(doc_id="a", start=0, end=len(text), text=text, words=40)
    facts = key_facts(passage, Rarity([Document(id="a", text=text)]))
    assert [(fact.kind, fact.term) for fact in facts] == [
        ("definition", "lease"),
        ("identifier", "max_lease"),
        ("rule", facts[2].term),
        ("number", "45 seconds"),
    ]
    assert all(fact.quote in text for fact in facts)


def test_a_short_phrase_is_widened_to_six_words_inside_its_paragraph():
    document, passage = passage_of(f"# T\n\n{sentence(1)}\n\nA seal is broken. {sentence(2)}\n")
    shaped = AnchorShaper([document]).shape(passage, "seal is broken")
    assert shaped.anchor is not None
    assert shaped.anchor.quote == "A seal is broken. The clerk"
    assert shaped.notes == ("widened to 6 words",)


def test_a_phrase_that_stands_twice_is_widened_until_it_stands_once():
    document, passage = passage_of(f"# T\n\n{sentence(1)} {sentence(2)}\n")
    shaped = AnchorShaper([document]).shape(passage, "number 2, and locks it before the bell")
    assert shaped.anchor is not None
    assert document.text.count(shaped.anchor.quote) == 1
    twice = "locks it before the bell rings for the evening meal."
    shaped = AnchorShaper([document]).shape(passage, twice)
    assert shaped.anchor is not None
    assert twice in shaped.anchor.quote
    assert document.text.count(shaped.anchor.quote) == 1
    assert "widened until it stands once" in shaped.notes


def test_a_phrase_that_stands_in_another_document_is_widened_or_noted():
    common = "The seal of the vault is broken by two officers"
    one = Document(id="a.md", text=f"# A\n\n{common} of the night watch before dawn. {sentence(1)}")
    two = Document(id="b.md", text=f"# B\n\n{common} only when the alarm rang. {sentence(2)}")
    shaper = AnchorShaper([one, two])
    (passage,) = passages_of(one)
    shaped = shaper.shape(passage, common)
    assert shaped.anchor is not None
    assert shaped.anchor.quote == f"{common} of"
    whole = Document(id="c.md", text=one.text + "\n\nA postscript.")
    shaped = AnchorShaper([one, whole]).shape(passage, common)
    assert shaped.anchor is not None
    assert "the same phrase stands in c.md" in shaped.notes


def test_a_long_phrase_is_narrowed_to_the_words_of_the_fact():
    long = " ".join(f"word{number}" for number in range(40))
    document, passage = passage_of(f"# T\n\n{long}\n")
    shaped = AnchorShaper([document]).shape(passage, long, about=["word30", "word35"])
    assert shaped.anchor is not None
    assert len(shaped.anchor.quote.split()) == 20
    assert {"word30", "word35"} <= set(shaped.anchor.quote.split())


def test_an_anchor_stays_whole_in_one_chunk_and_one_paragraph():
    text = f"# T\n\n{sentence(1)} {sentence(2)}\n\n{sentence(3)}\n"
    document, passage = passage_of(text)
    middle = text.index("and locks it")
    chunks: list[Chunk] = [cut(document, 0, middle), cut(document, middle, len(text))]
    shaped = AnchorShaper([document], chunks).shape(
        passage, text[text.index("upstairs, number 1") : middle + 12]
    )
    assert shaped.span is not None
    start, end = shaped.span
    assert any(chunk.start <= start and end <= chunk.end for chunk in chunks)
    across = text[text.index("number 2") : text.index("number 3") + 10]
    shaped = AnchorShaper([document], chunks).shape(passage, across)
    assert shaped.anchor is not None
    assert "\n\n" not in shaped.anchor.quote


def test_a_refusal_names_the_closest_place():
    document, passage = passage_of(
        f"# T\n\nRefunds arrive within fourteen days of the return. {sentence(1)}\n"
    )
    shaped = AnchorShaper([document]).shape(passage, "Refunds arrive within 14 days of the return.")
    assert shaped.anchor is None
    assert "paraphrase" in (shaped.why or "")
    assert "'Refunds arrive within fourteen days of the return.'" in (shaped.why or "")


def test_scripts_without_blanks_have_anchors_too():
    text = (
        "退款将在收到退货之后的十四天之内退回到原来的付款账户。" * 2
        + "客户必须保留原始收据作为购买凭证以便核对。"
    )
    document = Document(id="a.md", text=text)
    passage = Passage(doc_id="a.md", start=0, end=len(text), text=text, words=30)
    shaped = AnchorShaper([document]).shape(passage, "保留原始收据")
    assert shaped.anchor is not None
    assert "保留原始收据" in shaped.anchor.quote
    assert text.count(shaped.anchor.quote) == 1
