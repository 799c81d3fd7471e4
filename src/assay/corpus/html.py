"""The visible text of an HTML page, by the standard library's tolerant parser.

One reader for everybody: a faster optional parser would give other text, and so other offsets, on the
machines that have it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


_UNSEEN = _tags("head iframe math noscript object script select style svg template")
_OF_HEAD = _tags("base link meta noscript script style template title")
# Blocks that a blank line parts from the rest, and those that only begin a line.
_APART = _tags("article blockquote dl figure h1 h2 h3 h4 h5 h6 ol p pre section table ul")
_BLOCKS = _APART | _tags(
    "address aside body caption center dd details dialog div dt fieldset figcaption footer form header "
    "hgroup hr legend li main menu nav search summary tbody tfoot thead tr"
)
_VOID = _tags("area base br col embed hr img input link meta source track wbr")
_SELF_CLOSING = _tags("dd dt li option td th tr")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n\f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a reader of a page sees."""

    text: str
    title: str | None


def read_html(source: str) -> Page:
    r"""Return the visible text of a page and its title (else its first ``h1``).

    Blocks stand on lines of their own, paragraphs and headings with a blank line between them; cells of a
    table row are parted by a tab; ``pre`` keeps its lines. Scripts, styles and hidden elements are left out.

    >>> read_html("<title>Refunds</title><p>Within <b>14</b> days.<p>Not later.").text
    'Within 14 days.\n\nNot later.'
    """
    reader = _Reader()
    reader.feed(source)
    reader.close()
    return Page(text=reader.text(), title=reader.title())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._breaks = 0  # line ends owed before the next words
        self._blank = False  # a blank owed before the next words
        self._pre = 0
        self._unseen: list[str] = []  # open elements from the first unseen one on
        self._in_title = False
        self._title: list[str] = []
        self._h1: list[str] = []
        self._in_h1 = False

    def text(self) -> str:
        return "".join(self._out).strip("\n")

    def title(self) -> str | None:
        for words in (self._title, self._h1):
            found = _BLANKS.sub(" ", "".join(words)).strip()
            if found:
                return found
        return None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = not self._title and "svg" not in self._unseen
            return
        self._close_implied(tag)
        if self._unseen:
            if tag not in _VOID:
                self._unseen.append(tag)
            return
        if (tag in _UNSEEN or _hidden(attrs)) and tag not in _VOID:
            self._unseen.append(tag)
            return
        if tag == "br":
            self._owe(self._breaks + 1)
        elif tag in {"td", "th"}:
            self._cell()
        elif tag in _BLOCKS:
            self._owe(2 if tag in _APART else 1)
        self._pre += tag == "pre"
        if tag == "h1":
            self._in_h1 = not self._h1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # <div/> opens an element in HTML; only in foreign content (inside svg) it is closed at once.
        if not (self._unseen and tag not in _UNSEEN):
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
            return
        if self._unseen:
            if tag in self._unseen:
                while self._unseen.pop() != tag:
                    pass
            elif tag in {"html", "body"}:
                self._unseen.clear()
            return
        if tag in _BLOCKS:
            self._owe(2 if tag in _APART else 1)
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag == "h1":
            self._in_h1 = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
            return
        if self._unseen:
            return
        if self._in_h1:
            self._h1.append(data)
        if self._pre:
            self._write(data.removeprefix("\n") if self._breaks else data)
            return
        words = _BLANKS.sub(" ", data)
        if words.strip(" "):
            self._blank = self._blank or words.startswith(" ")
            self._write(words.strip(" "))
            self._blank = words.endswith(" ")
        elif words:
            self._blank = True

    def _close_implied(self, tag: str) -> None:
        """End the elements that HTML lets a page leave open: the head, paragraphs, items and cells."""
        if tag == "body" or (self._unseen == ["head"] and tag not in _OF_HEAD):
            self._unseen.clear()
        elif self._unseen:
            last = self._unseen[-1]
            if (last == "p" and tag in _BLOCKS) or (last == tag and tag in _SELF_CLOSING):
                self._unseen.pop()

    def _owe(self, breaks: int) -> None:
        self._breaks = max(self._breaks, breaks)
        self._blank = False

    def _cell(self) -> None:
        if self._out and not self._breaks:
            self._out.append("\t")
        self._blank = False

    def _write(self, words: str) -> None:
        if not words:
            return
        if self._breaks and self._out:
            self._out.append("\n" * self._breaks)
        elif self._blank and self._out and not self._out[-1].endswith(("\t", "\n")):
            self._out.append(" ")
        self._breaks = 0
        self._blank = False
        self._out.append(words)


def _hidden(attrs: list[tuple[str, str | None]]) -> bool:
    return any(
        name == "hidden" or (name == "style" and bool(_HIDDEN_STYLE.search(value or "")))
        for name, value in attrs
    )
