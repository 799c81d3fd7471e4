"""Where headings and blocks stand in a document: for titles, heading paths and sections.

Markdown is read by markdown-it-py, so that a ``#`` in fenced code is no heading.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from assay.model.documents import Document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_LINE_END = re.compile(r"\r\n?|\n")
# Between two rules there may be a page: front matter begins with a key.
_FRONT_MATTER = re.compile(
    r"\A---[ \t]*(?>\r\n|\r|\n)(?=[A-Za-z_][\w. -]*:)(?:.*(?>\r\n|\r|\n))*?(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)"
)
_FRONT_TITLE = re.compile(r"""^title[ \t]*:[ \t]*(["']?)(.*?)\1[ \t]*\r?$""", re.MULTILINE)
_ATTRIBUTES = re.compile(r"[ \t]*\{[ \t]*[#.][^{}]*\}[ \t]*$")
_RST_RULE = re.compile(r"""([!-/:-@\[-`{-~])\1*[ \t]*""")
_NO_HEADINGS = frozenset({".txt", ".html", ".htm", ".xhtml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One heading of a document."""

    level: int
    """1 is the highest."""
    text: str
    start: int
    """Where its line begins."""
    end: int
    """Where its last line ends, the line end included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Headings and top-level blocks of one document, in order."""

    headings: tuple[Heading, ...]
    blocks: tuple[tuple[int, int], ...]
    """Spans of paragraphs, lists, tables, fenced code and headings; none is inside another."""
    front_end: int = 0
    """Where the front matter ends; 0 when there is none."""

    def path_at(self, offset: int) -> tuple[str, ...]:
        """Return the headings that are open at a place, outermost first.

        A heading that begins at or after the place is not among them: a chunk that begins with its
        heading has it in its own text.
        """
        open_headings: list[Heading] = []
        for heading in self.headings:
            if heading.start >= offset:
                # The heading that the chunk begins with closes its elder siblings.
                if heading.start == offset:
                    open_headings = [one for one in open_headings if one.level < heading.level]
                break
            open_headings = [one for one in open_headings if one.level < heading.level]
            open_headings.append(heading)
        return tuple(heading.text for heading in open_headings)


def outline_of(document: Document) -> Outline:
    r"""Return the headings and blocks of a document, by what its id says of its form.

    Plain text and HTML (whose text is read without its tags) have no headings; reStructuredText has its
    own; all else is read as Markdown.

    >>> outline_of(Document(id="a.md", text="# Refunds\n\nWithin 14 days.")).headings[0].text
    'Refunds'
    """
    suffix = PurePosixPath(document.id).suffix.lower()
    if suffix in _NO_HEADINGS:
        return Outline(headings=(), blocks=())
    return rst_outline(document.text) if suffix == ".rst" else markdown_outline(document.text)


@lru_cache(maxsize=16)
def markdown_outline(text: str) -> Outline:
    """Return the headings and blocks of Markdown text (CommonMark and tables, front matter aside)."""
    front = _FRONT_MATTER.match(text)
    front_end = front.end() if front else 0
    body = text[front_end:]
    # Lines as the parser counts them: CR LF, CR and LF each end one.
    starts = [front_end, *(front_end + found.end() for found in _LINE_END.finditer(body)), len(text)]
    headings: list[Heading] = []
    blocks: list[tuple[int, int]] = []
    tokens = _parser().parse(body)
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        start, end = starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]
        if token.type == "heading_open":
            words = _ATTRIBUTES.sub("", tokens[place + 1].content).strip()
            if token.level == 0 and words:
                headings.append(Heading(level=int(token.tag[1:]), text=words, start=start, end=end))
        if token.level == 0 and token.nesting >= 0 and start < end:
            blocks.append((start, end))
    return Outline(headings=tuple(headings), blocks=tuple(blocks), front_end=front_end)


@lru_cache(maxsize=16)
def rst_outline(text: str) -> Outline:
    """Return the headings of reStructuredText: lines with a rule below (and perhaps above) them."""
    lines = list(_lines(text))
    styles: list[str] = []
    headings: list[Heading] = []
    place = 0
    while place + 1 < len(lines):
        start, words = lines[place]
        rule = lines[place + 1][1]
        over = lines[place - 1][1] if place else ""
        if _is_title(words, rule):
            has_over = bool(_RST_RULE.fullmatch(over)) and over.strip() == rule.strip()
            style = rule[0] * (2 if has_over else 1)
            if style not in styles:
                styles.append(style)
            headings.append(
                Heading(
                    level=styles.index(style) + 1,
                    text=words.strip(),
                    start=lines[place - 1][0] if has_over else start,
                    end=lines[place + 2][0] if place + 2 < len(lines) else len(text),
                )
            )
            place += 2
        else:
            place += 1
    return Outline(headings=tuple(headings), blocks=())


def _is_title(words: str, rule: str) -> bool:
    named = words.strip()
    if not named or not _RST_RULE.fullmatch(rule) or _RST_RULE.fullmatch(words):
        return False
    return len(rule.rstrip()) >= len(named)


def title_of(text: str, suffix: str) -> str | None:
    r"""Return the title that a text gives itself: of its front matter, else its first heading.

    None for plain text, and when there is neither.

    >>> title_of("---\ntitle: Refunds\n---\n# Other\n", ".md")
    'Refunds'
    """
    if suffix in _NO_HEADINGS:
        return None
    if suffix == ".rst":
        outline = rst_outline(text)
    else:
        outline = markdown_outline(text)
        front = _FRONT_TITLE.search(text, 0, outline.front_end)
        if front and front.group(2).strip():
            return front.group(2).strip()
    return outline.headings[0].text if outline.headings else None


def section_starts(outline: Outline) -> list[int]:
    """Return where sections begin: the start of each heading."""
    return [heading.start for heading in outline.headings]


def blocks_between(outline: Outline, start: int, end: int) -> list[tuple[int, int]]:
    """Return the blocks that lie within a section, clipped to it."""
    first = bisect_left(outline.blocks, start, key=lambda block: block[1] - 1)
    inside: list[tuple[int, int]] = []
    for block_start, block_end in outline.blocks[first:]:
        if block_start >= end:
            break
        inside.append((max(block_start, start), min(block_end, end)))
    return inside


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for found in _LINE_END.finditer(text):
        yield start, text[start : found.start()]
        start = found.end()
    if start < len(text):
        yield start, text[start:]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only corpora of Markdown need it

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser
