"""Each chunker on texts worked by hand, and the cases from the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.corpus import chunk_corpus, chunking_notices, make_chunker
from assay.model.documents import Chunk, Document
from shared_data import load_cases, needs_shared


def cut(
    text: str, name: str, values: Mapping[str, object] | None = None, doc_id: str = "a.md"
) -> list[Chunk]:
    return make_chunker(name, values).chunk(Document(id=doc_id, text=text))


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def places(chunks: list[Chunk]) -> list[list[Any]]:
    return [[chunk.text, chunk.start] for chunk in chunks]


def test_fixed_windows_overlap_and_the_last_is_not_a_tail():
    # step 3: [0,5) [3,8) [6,10); a window at 9 would lie wholly in the third
    assert [(c.start, c.end) for c in cut("abcdefghij", "characters", {"size": 5, "overlap": 2})] == [
        (0, 5),
        (3, 8),
        (6, 10),
    ]


def test_paragraphs_fill_up_to_the_limit():
    # "One." + blank line + "Two." is 10 characters; with "Three." it would be 18
    assert texts(cut("One.\n\nTwo.\n\nThree.", "paragraphs", {"max_chars": 10})) == ["One.\n\nTwo.", "Three."]


def test_paragraphs_repeat_the_end_of_the_chunk_before_from_a_word():
    # of the last 8 characters of the first chunk (" two two") the words "two two" are whole
    chunks = cut("one one two two\n\nthree three", "paragraphs", {"max_chars": 22, "overlap": 8})
    assert texts(chunks) == ["one one two two", "two two\n\nthree three"]


def test_a_long_paragraph_is_cut_after_a_sentence_else_at_a_blank():
    assert texts(cut("One two. Three four five.", "paragraphs", {"max_chars": 12})) == [
        "One two.",
        "Three four",
        "five.",
    ]


def test_sentences_know_abbreviations_and_numbers():
    text = "Dr. Ada paid 3.50 e.g. in cash. J. Bell did not! Why? \u201cWho knows.\u201d They left."
    values = {"max_sentences": 1, "overlap_sentences": 0}
    assert texts(cut(text, "sentences", values)) == [
        "Dr. Ada paid 3.50 e.g. in cash.",
        "J. Bell did not!",
        "Why?",
        "\u201cWho knows.\u201d",
        "They left.",
    ]


def test_rows_of_marks_take_no_longer_than_other_text():
    # 200,000 dots: read again from each dot this would take minutes
    text = "Contents " + "." * 200_000 + "x So do I. Then more."
    chunks = cut(text, "sentences", {"max_sentences": 1, "overlap_sentences": 0, "max_chars": 300_000})
    assert [chunk.text[-10:] for chunk in chunks] == ["x So do I.", "Then more."]


def test_east_asian_sentences_need_no_blank():
    values = {"max_sentences": 1, "overlap_sentences": 0}
    assert texts(cut("はい。「いいえ。」終わり", "sentences", values)) == ["はい。", "「いいえ。」", "終わり"]


def test_sentences_are_repeated_as_far_as_they_fit():
    text = "Aa. Bb. Cc. Dd."
    assert texts(cut(text, "sentences", {"max_chars": 11, "overlap_sentences": 1})) == [
        "Aa. Bb. Cc.",
        "Cc. Dd.",
    ]
    assert texts(cut(text, "sentences", {"max_chars": 3, "overlap_sentences": 9})) == [
        "Aa.",
        "Bb.",
        "Cc.",
        "Dd.",
    ]


def test_markdown_sections_begin_with_their_heading():
    text = "Before.\n\n# One\n\nAlpha.\n\n## Two\n\nBeta.\n"
    assert texts(cut(text, "markdown")) == ["Before.", "# One\n\nAlpha.", "## Two\n\nBeta."]


def test_a_hash_in_fenced_code_is_no_heading():
    text = "# One\n\n```sh\n# not a heading\nls\n```\n\nAfter.\n"
    assert texts(cut(text, "markdown")) == [text.strip()]


def test_a_heading_with_nothing_under_it_stays_with_the_next():
    assert texts(cut("# One\n\n## Two\n\nBeta.\n\n# Three", "markdown")) == [
        "# One\n\n## Two\n\nBeta.",
        "# Three",
    ]


def test_a_long_section_is_cut_between_blocks_and_code_stays_whole():
    code = "```\n\na = 1\n\nb = 2\n\n```"
    text = f"# One\n\nAlpha alpha alpha.\n\n{code}\n\nOmega."
    assert texts(cut(text, "markdown", {"max_chars": 30})) == [
        "# One\n\nAlpha alpha alpha.",
        f"{code}\n\nOmega.",
    ]


def test_deeper_headings_stay_inside_where_the_level_says_so():
    text = "# One\n\nAlpha.\n\n## Two\n\nBeta.\n"
    assert texts(cut(text, "markdown", {"max_level": 1})) == [text.strip()]


def test_crlf_sections_and_setext_headings():
    text = "One\r\n===\r\n\r\nAlpha.\r\n\r\nTwo\r\n---\r\nBeta."
    assert texts(cut(text, "markdown")) == ["One\r\n===\r\n\r\nAlpha.", "Two\r\n---\r\nBeta."]


def test_front_matter_is_text_but_no_heading():
    text = "---\ntitle: Page\n---\n\n# One\n\nAlpha."
    assert texts(cut(text, "markdown")) == ["---\ntitle: Page\n---", "# One\n\nAlpha."]


def test_the_coarsest_separator_that_does_cuts():
    text = "Aa bb.\n\nCc dd ee ff."
    assert texts(cut(text, "recursive", {"size": 8, "overlap": 0})) == ["Aa bb.", "Cc dd", "ee ff."]


def test_a_line_end_in_a_separator_means_crlf_too():
    values = {"size": 14, "overlap": 0, "separators": ["\n\n", " "]}
    assert texts(cut("Aa bb cc.\r\n\r\nDd ee.", "recursive", values)) == ["Aa bb cc.", "Dd ee."]


def test_a_separator_ends_the_piece_before_it_or_begins_the_one_after():
    values = {"size": 5, "overlap": 0, "separators": ["."]}
    assert texts(cut("aaa.bbb.ccc", "recursive", values)) == ["aaa.", "bbb.", "ccc"]
    assert texts(cut("aaa.bbb.ccc", "recursive", {**values, "separator_side": "after"})) == [
        "aaa",
        ".bbb",
        ".ccc",
    ]


def test_tokens_are_words_and_marks():
    # It ' s | late , she | said .
    assert texts(cut("It's late, she said.", "tokens", {"size": 3, "overlap": 0})) == [
        "It's",
        "late, she",
        "said.",
    ]


def test_title_and_heading_path_are_put_before_a_chunk_and_are_no_text():
    text = "# Refunds\n\n## Cards\n\nWithin 14 days.\n\n## Cash\n\nAt once."
    page = Document(id="a.md", text=text, title="Handbook")
    values = {"max_chars": 26, "context": "headings"}
    contexts = {c.text: c.context for c in make_chunker("markdown", values).chunk(page)}
    assert contexts == {
        "# Refunds": "Handbook",
        "## Cards\n\nWithin 14 days.": "Handbook > Refunds",
        "## Cash\n\nAt once.": "Handbook > Refunds",
    }
    first = make_chunker("markdown", {"context": "title"}).chunk(page)[0]
    assert (first.context, first.searchable) == ("Handbook", f"Handbook\n{first.text}")


def test_a_title_that_is_the_first_heading_is_said_once():
    page = Document(id="a.md", text="# Refunds\n\nAlpha.\n\nBeta.", title="Refunds")
    chunks = make_chunker("paragraphs", {"max_paragraphs": 1, "context": "headings"}).chunk(page)
    assert [chunk.context for chunk in chunks] == ["", "Refunds", "Refunds"]


def test_plain_text_has_no_headings():
    page = Document(id="a.txt", text="# not a heading\n\nAlpha.", title=None)
    chunks = make_chunker("paragraphs", {"max_paragraphs": 1, "context": "headings"}).chunk(page)
    assert [chunk.context for chunk in chunks] == ["", ""]


def test_chunks_of_a_corpus_stand_in_the_order_of_its_documents():
    pages = [Document(id="b", text="Two."), Document(id="a", text="One.")]
    assert [chunk.id for chunk in chunk_corpus(pages, make_chunker("paragraphs"))] == ["b#0-4", "a#0-4"]


def test_chunks_that_nothing_could_cut_are_said():
    page = Document(id="a", text="AAAA BBBB CCCCCCCCCC DD")
    chunker = make_chunker("recursive", {"size": 6, "overlap": 0, "separators": [" "]})
    [notice] = chunking_notices([page], chunker.chunk(page), chunker)
    assert (notice.code, notice.ids) == ("oversize-chunks", ("a#10-20",))


def test_text_that_no_chunk_holds_is_said():
    page = Document(id="a", text="Alpha beta gamma")
    chunker = make_chunker("paragraphs")
    [notice] = chunking_notices([page], [chunker.chunk(Document(id="a", text="Alpha"))[0]], chunker)
    assert (notice.code, notice.ids) == ("lost-text", ("a",))
    assert notice.text.startswith("9 visible characters of 1 document(s)")  # "beta" and "gamma"


@needs_shared
def test_case_c01_windows_hold_an_anchor_whole_from_an_overlap_of_its_length_less_one():
    case = load_cases()["C01"]
    start, end = case["expected"]["anchor_span"]
    for setting in case["input"]["settings"]:
        chunks = cut(case["input"]["doc"], "characters", setting)
        whole = [[c.start, c.end] for c in chunks if c.start <= start and end <= c.end]
        assert whole == case["expected"]["chunks_holding_whole_anchor"][str(setting["overlap"])]


@needs_shared
def test_case_c10_crlf_paragraphs():
    case = load_cases()["C10"]
    chunks = cut(case["input"]["doc"], "paragraphs", {"max_paragraphs": 1})
    assert len(chunks) == case["expected"]["paragraphs"]
    assert [chunks[1].start, chunks[1].end] == case["expected"]["source_span"]
    assert all(case["input"]["doc"][c.start : c.end] == c.text for c in chunks)


@needs_shared
def test_case_k02_no_piece_is_lost():
    case = load_cases()["K02"]
    page = Document(id="a", text=case["input"]["text"])
    chunker = make_chunker("recursive", {"size": 6, "overlap": 0, "separators": [" "]})
    chunks = chunker.chunk(page)
    assert texts(chunks) == case["expected"]["chunks"]
    kept = sum(len("".join(chunk.text.split())) for chunk in chunks)
    assert kept == case["expected"]["non_blank_characters_kept"]
    assert sum(map(chunker.oversize, chunks)) == case["expected"]["oversize_flagged"]


@needs_shared
def test_case_k03_offsets_come_from_the_cut():
    case = load_cases()["K03"]
    chunks = cut(case["input"]["text"], "tokens", {"size": 2, "overlap": 1})
    assert places(chunks) == case["expected"]["chunks"]


@needs_shared
def test_case_k04_trimming_moves_no_offset():
    case = load_cases()["K04"]
    chunks = cut(case["input"]["text"], "paragraphs", {"max_paragraphs": 1})
    assert [[c.text, c.start, c.end] for c in chunks] == case["expected"]["chunks"]


@needs_shared
def test_case_k05_overlap_counts_words():
    case = load_cases()["K05"]
    values = {"size": case["input"]["size"], "overlap": case["input"]["overlap"], "counter": "words"}
    chunks = cut(case["input"]["text"], "tokens", values)
    assert [[c.text, c.start, c.end] for c in chunks] == case["expected"]["chunks"]


@needs_shared
def test_case_k06_offsets_count_characters_not_bytes():
    case = load_cases()["K06"]
    chunks = cut(case["input"]["text"], "sentences", {"max_chars": 16, "overlap_sentences": 0})
    assert [[c.start, c.end] for c in chunks if c.text == case["input"]["chunk"]] == [
        case["expected"]["char_span"]
    ]
