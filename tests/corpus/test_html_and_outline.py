"""Visible text of HTML; titles, headings and blocks of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.html import read_html
from assay.corpus.outline import markdown_outline, rst_outline, title_of
from corpus.nasty_text import nasty_text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>One<p>Two", "One\n\nTwo"),
        ("<div>One</div><div>Two</div>", "One\nTwo"),
        ("One<br>Two<br><br>Three", "One\nTwo\n\nThree"),
        ("<b>bo</b>ld and <i>it</i> <u>too</u>", "bold and it too"),
        ("  lots \n of\t blanks  ", "lots of blanks"),
        ("a&nbsp;b &amp; &lt;c&gt; &#8364;", "a\u00a0b & <c> \u20ac"),
        ("<ul><li>One<li>Two</ul>After", "One\nTwo\n\nAfter"),
        ("<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", "A\tB\n1\t2"),
        ("<pre>\n  a = 1\n\n  b</pre>", "  a = 1\n\n  b"),
        ("a<script>var x = '<p>no</p>';</script><style>p {}</style>b", "ab"),
        ("a<!-- <p>no</p> -->b<noscript>no</noscript>", "ab"),
        ("<p hidden>no<p>yes", "yes"),
        ('<div style="display: none"><p>no</p></div><span style="color:red">yes</span>', "yes"),
        ("<head><title>T</title><p>Body without a body tag", "Body without a body tag"),
        ("<html><head><title>T</title></head><body>Yes</body></html>", "Yes"),
        ("<svg><title>no</title><text>no</text></svg>yes", "yes"),
        ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2"),
        ("<p>unclosed <b>bold", "unclosed bold"),
        ("", ""),
    ],
)
def test_visible_text(source: str, expected: str):
    assert read_html(source).text == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<title> My\n page </title><h1>Other</h1>", "My page"),
        ("<h1>The <em>first</em></h1><h1>Second</h1>", "The first"),
        ("<title> </title><p>x", None),
        ("<svg><title>no</title></svg><h1>Yes</h1>", "Yes"),
    ],
)
def test_titles_of_pages(source: str, expected: str | None):
    assert read_html(source).title == expected


@given(
    parts=st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<div hidden>",
                "</div>",
                "<pre>",
                "</pre>",
                "<td>",
                "<br/>",
                "<!--",
                "-->",
                "<",
                "&",
                "word",
            ]
        ),
        max_size=20,
    )
)
def test_broken_pages_are_read_without_failing(parts: list[str]):
    page = read_html("".join(parts))
    assert page.text == page.text.strip("\n")


@pytest.mark.parametrize(
    ("text", "suffix", "expected"),
    [
        ("Intro\n\n## Second\n\n# First", ".md", "Second"),
        ("# Title { #anchor }\n", ".md", "Title"),
        ("Title\n=====\n", ".md", "Title"),
        ("```\n# no\n```\n# Yes #\n", ".md", "Yes"),
        ("---\ntitle: 'Front'\n---\n# Head\n", ".md", "Front"),
        ("---\r\ntitle: Front\r\n---\r\n# Head\r\n", ".md", "Front"),
        ("---\nlang: de\n---\n# Head\n", ".md", "Head"),
        ("---\n\n# Head\n\n---\n", ".md", "Head"),
        ("no heading", ".md", None),
        ("# no heading", ".txt", None),
        ("=====\nTitle\n=====\n\nText\n", ".rst", "Title"),
        ("Title\n-----\n", ".rst", "Title"),
        ("Text\n\n----\n\nText", ".rst", None),
        ("# Head", "", "Head"),
    ],
)
def test_titles(text: str, suffix: str, expected: str | None):
    assert title_of(text, suffix) == expected


def test_heading_paths():
    text = "# A\n\none\n\n## B\n\ntwo\n\n### C\n\nthree\n\n## D\n\nfour\n"
    outline = markdown_outline(text)
    assert outline.path_at(0) == ()
    assert outline.path_at(text.index("three")) == ("A", "B", "C")
    assert outline.path_at(text.index("## D")) == ("A",)
    assert outline.path_at(text.index("four")) == ("A", "D")


def test_rst_levels_come_in_the_order_of_their_styles():
    text = "====\nBook\n====\n\nOne\n---\n\nText\n\nTwo\n---\n\nSub\n~~~\n"
    assert [(heading.level, heading.text) for heading in rst_outline(text).headings] == [
        (1, "Book"),
        (2, "One"),
        (2, "Two"),
        (3, "Sub"),
    ]


@given(text=nasty_text)
def test_headings_and_blocks_stand_in_order_inside_the_text(text: str):
    outline = markdown_outline(text)
    reached = outline.front_end
    for start, end in outline.blocks:
        assert reached <= start < end <= len(text)
        reached = end
    for heading in outline.headings:
        assert heading.text.split()[0] in text[heading.start : heading.end].replace("\0", "\ufffd")
    assert [heading.start for heading in outline.headings] == sorted({one.start for one in outline.headings})
    for heading in rst_outline(text).headings:
        assert heading.text in text[heading.start : heading.end]
