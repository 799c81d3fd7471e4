"""Where the chunks of a foreign splitter stand in their document, found from their texts.

Chunks come in order, so each is looked for after the beginning of the one before: a search from the start of
the document would put every repeated text on its first copy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.corpus.chunkers.spans import Span

_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Places of all pieces, or the pieces that have none."""

    spans: tuple[Span, ...] = ()
    missing: tuple[int, ...] = ()
    """Positions of the pieces that stand nowhere in the text, or not after the ones before them."""


def locate(text: str, pieces: Sequence[str]) -> Located:
    """Return where pieces of a text stand, in their order.

    A piece that is not there as it is may differ in white space and in characters that nobody sees (some
    splitters drop them), nothing else. Each begins where the one before begins, or later. First an
    arrangement is sought that leaves no text out, each piece overlapping the one before as little as it
    can; where there is none (a splitter that drops its separators), each piece takes its nearest place.
    Within a text that repeats itself, places of equal words cannot be told apart, and the first such
    arrangement is taken.

    >>> locate("tick tock tick tock", ["tick tock", "tock tick", "tick tock"]).spans
    ((0, 9), (5, 14), (10, 19))
    """
    page = _Page(text)
    wanted = [_Piece(page, piece.strip()) for piece in pieces]
    nowhere = tuple(place for place, piece in enumerate(wanted) if not piece.exists())
    if nowhere or not wanted:
        return Located(missing=nowhere)
    for with_gaps in (False, True):
        search = _Search(text, wanted, with_gaps=with_gaps)
        if search.run():
            return Located(spans=tuple(search.chosen))
    return Located(missing=(search.deepest,))


class _Page:
    """The text of a document, and (made when it is needed) the same without blanks and unseen characters."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def visible(self) -> list[int]:
        """The place of each visible character."""
        return [place for place, character in enumerate(self.text) if _is_visible(character)]

    @cached_property
    def squeezed(self) -> str:
        return "".join(self.text[place] for place in self.visible)


class _Piece:
    """One text to be found, as it is, or by its visible characters where it is not there."""

    def __init__(self, page: _Page, words: str) -> None:
        self._page = page
        self._words = words if words in page.text else ""
        self._squeezed, self._cut_first, self._cut_last = "", False, False
        if not self._words and words:
            # A window of tokens that begins or ends inside a character holds a replacement for its part.
            self._cut_first, self._cut_last = words.startswith(_REPLACEMENT), words.endswith(_REPLACEMENT)
            self._squeezed = "".join(filter(_is_visible, words.strip(_REPLACEMENT)))

    def exists(self) -> bool:
        return bool(self._words) or (bool(self._squeezed) and self._squeezed in self._page.squeezed)

    def places(self, first: int, last: int) -> Iterator[Span]:
        """Yield the places that begin within [first, last], in order."""
        if self._squeezed:
            yield from self._squeezed_places(first, last)
            return
        while first <= last:
            start = self._page.text.find(self._words, first, last + len(self._words))
            if start < 0:
                return
            yield start, start + len(self._words)
            first = start + 1

    def _squeezed_places(self, first: int, last: int) -> Iterator[Span]:
        page, size = self._page, len(self._squeezed)
        place = bisect_left(page.visible, first)
        while (place := page.squeezed.find(self._squeezed, place)) >= 0:
            # The character that was cut in two is whole in the document.
            start = page.visible[place - 1 if self._cut_first and place else place]
            beyond = place + size
            last_visible = beyond if self._cut_last and beyond < len(page.visible) else beyond - 1
            if start > last:
                return
            if start >= first:
                yield start, page.visible[last_visible] + 1
            place += 1


class _Search:
    """Depth-first, with a memory of what led nowhere: a piece at a place is tried once."""

    def __init__(self, text: str, pieces: Sequence[_Piece], *, with_gaps: bool) -> None:
        self._text = text
        self._pieces = pieces
        self._with_gaps = with_gaps
        self.chosen: list[Span] = []
        self.deepest = 0

    def run(self) -> bool:
        """Tell whether every piece found its place; ``chosen`` has them."""
        failed: set[tuple[int, Span]] = set()
        open_choices = [self._candidates(0)]
        while open_choices:
            number = len(open_choices) - 1
            self.deepest = max(self.deepest, number)
            span = next(open_choices[-1], None)
            if span is None:
                open_choices.pop()
                if self.chosen:
                    failed.add((number - 1, self.chosen.pop()))
            elif (number, span) not in failed:
                self.chosen.append(span)
                if number + 1 < len(self._pieces):
                    open_choices.append(self._candidates(number + 1))
                elif self._with_gaps or not self._text[span[1] :].strip():
                    return True
                else:
                    failed.add((number, self.chosen.pop()))
        return False

    def _candidates(self, number: int) -> Iterator[Span]:
        """Yield the places of a piece: those that leave no gap, least overlap first; then those after one."""
        before = self.chosen[-1] if self.chosen else (0, 0)
        piece, length = self._pieces[number], len(self._text)
        rest = before[1]
        while rest < length and self._text[rest].isspace():
            rest += 1
        for span in reversed(list(piece.places(before[0], rest))):
            if span[0] > before[0] or span[1] > before[1]:
                yield span
        if self._with_gaps:
            yield from piece.places(rest + 1, length)


def _is_visible(character: str) -> bool:
    return character.isprintable() and not character.isspace()
