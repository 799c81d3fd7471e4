"""The one normalisation, with its map back to the source.

Two texts agree when they agree after this: case folded; Unicode composed, accents kept; a run of white space
is one blank; curly quotes, dashes and ellipsis are plain; soft hyphens, zero-width signs and byte-order marks
are gone; Markdown emphasis (``*`` and ``_`` at word edges, backticks) is ignored; in a table row a cell
border is a blank, and a row's end is a line end, which equals no blank. A hyphen at a line end is kept
(``pre-⏎training`` is ``pre-training``) and remembered, so that matching can try the word joined as well.

Everything is done on whole columns of code points: 1 MB takes some hundredths of a second.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from unicodedata import is_normalized

import numpy as np
from numpy.typing import NDArray

from assay.model.letters import BLANK, COMBINES, UNSPACED, WORD, folded, folded_cluster, traits

Codes = NDArray[np.uint8] | NDArray[np.uint32]
Places = NDArray[np.int32]

_BORDER, _ROW_END, _LINE_HYPHEN, _GONE = 1, 2, 3, 4
_STAR, _LOW_LINE, _BACKTICK = map(ord, "*_`")
_BROKEN_WORD = re.compile(
    r"[-\u2010\u2011\u00ad]"  # a hyphen,
    r"([^\S\r\n]*(?:\r\n|[\r\n\x85\u2028\u2029])[^\S\r\n]*)(?=\w)"  # one line end, and a word goes on
)
_DELIMITER_ROW = re.compile(r"[\s>]*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?\Z")
_ASCII_TRAITS = np.array([traits(chr(code)) for code in range(128)], np.uint8)


@dataclass(frozen=True, kw_only=True)
class NormalText:
    """A text in its normal form, and where each of its signs stood in the source."""

    text: str
    """The normal form; no blank at either end."""
    line_hyphens: tuple[int, ...] = ()
    """Positions of hyphens that stood at a line end: the word may be meant with or without them."""
    borders: frozenset[int] = frozenset()
    """Positions of blanks that are the border of a table's cell."""
    begins: tuple[Places, Places] = field(repr=False)
    """Where each sign begins in the source, as steps: from position ``[0][j]`` on, add ``[1][j]``."""
    ends: tuple[Places, Places] = field(repr=False)
    """One past each sign's end in the source, likewise."""

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the source that a span of the normal text came from, end exclusive.

        An empty span comes from an empty span.

        >>> normalise("A  “grace”   period").to_source(2, 9)
        (3, 10)
        """
        if start >= end:
            at = _stepped(self.begins, start) if start < len(self.text) else self.source_end
            return at, at
        return _stepped(self.begins, start), _stepped(self.ends, end - 1)

    def splits_sign(self, at: int) -> bool:
        """Return whether position ``at`` lies inside one sign of the source (``…`` counts as three)."""
        return 0 < at < len(self.text) and _stepped(self.begins, at) == _stepped(self.begins, at - 1)

    @property
    def source_end(self) -> int:
        """One past the last sign in the source; 0 when there is none."""
        return _stepped(self.ends, len(self.text) - 1) if self.text else 0

    @cached_property
    def skeleton(self) -> tuple[str, Places]:
        """The text without blanks and hyphens, and the position of each of its signs."""
        codes = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), np.uint32)
        solid = np.flatnonzero((codes != ord(" ")) & (codes != ord("-"))).astype(np.int32)
        return self.text.replace(" ", "").replace("-", ""), solid


def normalise(text: str, *, rows: bool = False) -> NormalText:
    r"""Return the normal form of a text with its map back.

    Args:
        text: any text, however broken; lone surrogates are signs like others.
        rows: take every line with a ``|`` as a row of a table (for quotes, which may begin inside one).
            Without it, rows are lines that begin with ``|`` or stand around a row of dashes.

    >>> normalise("The “grace period” — **five** days…").text
    'the "grace period" - five days...'
    >>> normalise("pre-\ntraining").line_hyphens
    (3,)
    """
    special = _special_signs(text, rows=rows)
    if text.isascii():
        codes: Codes = np.frombuffer(text.lower().encode("ascii"), np.uint8)
        begins = np.arange(len(text), dtype=np.int32)
        return _finished(codes, _ASCII_TRAITS[codes], begins, begins + np.int32(1), special)
    letters, begins, ends = _folded_letters(text, special)
    traits_of = _table({sign: traits(sign) for sign in set(_decoded(letters))}).astype(np.uint8)
    return _finished(letters, traits_of[letters], begins, ends, special)


def _special_signs(text: str, *, rows: bool) -> NDArray[np.uint8] | None:
    """Mark the source's table borders, row ends and words that are broken at a line end."""
    broken = [match for match in _BROKEN_WORD.finditer(text) if _follows_word(text, match.start())]
    borders, row_ends = _table_signs(text, every_line=rows) if "|" in text else ([], [])
    if not broken and not borders:
        return None
    special = np.zeros(len(text), np.uint8)
    special[borders] = _BORDER
    special[row_ends] = _ROW_END
    for match in broken:
        special[match.start()] = _LINE_HYPHEN
        special[match.start(1) : match.end(1)] = _GONE
    return special


def _follows_word(text: str, at: int) -> bool:
    return at > 0 and traits(text[at - 1]) & (WORD | UNSPACED) > 0


def _table_signs(text: str, *, every_line: bool) -> tuple[list[int], list[int]]:
    lines = text.split("\n")
    is_row = [_is_row(line, every_line=every_line) for line in lines]
    for at, line in enumerate(lines):
        if at and "|" in line and _DELIMITER_ROW.match(line) and "|" in lines[at - 1]:
            is_row[at - 1] = True
            below = at
            while below < len(lines) and "|" in lines[below]:
                is_row[below] = True
                below += 1
    borders: list[int] = []
    row_ends: list[int] = []
    begin = 0
    for line, row in zip(lines, is_row, strict=True):
        if row:
            borders.extend(match.start() + begin for match in re.finditer(r"\|", line))
            row_ends.extend(at for at in (begin - 1, begin + len(line)) if 0 <= at < len(text))
        begin += len(line) + 1
    return borders, row_ends


def _is_row(line: str, *, every_line: bool) -> bool:
    if every_line:
        return "|" in line
    line = line.strip(" \t\r>")
    return line.startswith("|") and "|" in line[1:]


def _folded_letters(
    text: str, special: NDArray[np.uint8] | None
) -> tuple[NDArray[np.uint32], Places, Places]:
    """Fold every sign; return the codes, and where each begins and ends in the source."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    if special is not None:
        letters = np.where(special == _LINE_HYPHEN, np.uint32(ord("-")), letters)
    folds = {sign: folded(sign) for sign in {*text, "-"}}
    count_of = _table({sign: len(fold) for sign, fold in folds.items()})
    begins = np.flatnonzero(count_of[letters]).astype(np.int32)
    if len(begins) < len(letters):
        letters = letters[begins]
    ends = begins + np.int32(1)
    counts = count_of[letters].astype(np.int32)
    fold_of = _table({sign: ord(fold[0]) for sign, fold in folds.items() if fold})
    clusters = _changed_clusters(letters, folds, fold_of)
    for first, last, fold in clusters:
        counts[first:last] = 0
        counts[first] = len(fold)
        ends[first] = ends[last - 1]
    if counts.max(initial=1) == 1 and counts.min(initial=1) == 1:
        return fold_of[letters], begins, ends
    origin = np.repeat(np.arange(len(letters), dtype=np.int32), counts)
    places = np.cumsum(counts) - counts
    spread = fold_of[letters[origin]]
    for sign, fold in folds.items():
        if len(fold) > 1:
            of_sign = places[(letters == ord(sign)) & (counts == len(fold))]
            for at, part in enumerate(fold):
                spread[of_sign + at] = ord(part)
    for first, _, fold in clusters:
        spread[places[first] : places[first] + len(fold)] = list(map(ord, fold))
    return spread, begins[origin], ends[origin]


def _changed_clusters(
    letters: NDArray[np.uint32], folds: dict[str, str], fold_of: NDArray[np.uint32]
) -> list[tuple[int, int, str]]:
    """Return the signs with accents that do not simply fold one by one: begin, end, folded form."""
    joins_of = _table({sign: traits(sign) & COMBINES for sign in folds})
    joins = joins_of[letters] > 0
    if not joins.any():
        return []
    edges = np.flatnonzero(np.diff(np.concatenate([[False], joins, [False]]).astype(np.int8)))
    first = np.maximum(edges[::2] - 1, 0)
    last = edges[1::2]
    visible = _decoded(letters)
    if is_normalized("NFC", visible):
        changes = np.concatenate([[0], np.cumsum(fold_of[letters] != letters)])
        changed = changes[last] > changes[first]
        first, last = first[changed], last[changed]
    return [
        (begin, end, folded_cluster(visible[begin:end]))
        for begin, end in zip(first.tolist(), last.tolist(), strict=True)
    ]


def _finished(
    codes: Codes,
    kinds: NDArray[np.uint8],
    begins: Places,
    ends: Places,
    special: NDArray[np.uint8] | None,
) -> NormalText:
    """Drop emphasis, join white space, trim, and write down the map."""
    keep = _without_emphasis(codes, kinds)
    blank = (kinds & BLANK) > 0
    signs = None if special is None else special[begins]
    if signs is not None:
        signs = np.where((signs == _BORDER) & (codes != ord("|")), 0, signs)  # an accent on a border is none
        blank |= signs == _BORDER
        gone = signs == _GONE
        keep = ~gone if keep is None else keep & ~gone
    if keep is not None and not keep.all():
        codes, blank, begins, ends = codes[keep], blank[keep], begins[keep], ends[keep]
        signs = None if signs is None else signs[keep]
    runs = np.flatnonzero(np.diff(np.concatenate([[False], blank, [False]]).astype(np.int8)))
    run_first, run_last = runs[::2], runs[1::2] - 1
    codes, ends = np.where(blank, codes.dtype.type(ord(" ")), codes), ends.copy()
    ends[run_first] = ends[run_last]
    if signs is not None:
        codes[_first_of_run(run_first, signs == _ROW_END)] = ord("\n")
    shown = ~blank
    shown[run_first] = True
    if len(run_first) and run_first[0] == 0:
        shown[0] = False
    if len(run_last) and run_last[-1] == len(codes) - 1:
        shown[run_first[-1]] = False
    kept = np.flatnonzero(shown)
    codes, begins, ends = codes[kept], begins[kept], ends[kept]
    hyphens: list[int] = []
    borders: list[int] = []
    if signs is not None:
        hyphens = np.flatnonzero(signs[kept] == _LINE_HYPHEN).tolist()
        bordered = np.intersect1d(_first_of_run(run_first, signs == _BORDER), kept)
        borders = np.searchsorted(kept, bordered).tolist()
    return NormalText(
        text=_decoded(codes),
        line_hyphens=tuple(hyphens),
        borders=frozenset(borders),
        begins=_steps(begins),
        ends=_steps(ends),
    )


def _without_emphasis(codes: Codes, kinds: NDArray[np.uint8]) -> NDArray[np.bool_] | None:
    """Return which signs stay; a run of marks between two blanks or inside one word is text."""
    marks = (codes == _STAR) | (codes == _LOW_LINE) | (codes == _BACKTICK)
    where = np.flatnonzero(marks)
    if not len(where):
        return None
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(np.int8)))
    first, last = edges[::2], edges[1::2]
    padded = np.concatenate([[np.uint8(BLANK)], kinds, [np.uint8(BLANK)]])
    left, right = padded[first], padded[last + 1]
    is_text = (
        ((left & right & BLANK) > 0)
        | ((left & right & WORD) > 0)
        | (((right & COMBINES) > 0) & ((left & BLANK) == 0))
    )
    text = np.repeat(is_text, last - first) & (codes[where] != _BACKTICK)
    keep = np.ones(len(codes), np.bool_)
    keep[where[~text]] = False
    return keep


def _first_of_run(run_first: NDArray[np.intp], marked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first position of each run of blanks that holds a marked sign."""
    run = np.searchsorted(run_first, np.flatnonzero(marked), side="right") - 1
    return run_first[np.unique(run[run >= 0])]


def _table(values: dict[str, int]) -> NDArray[np.uint32]:
    """Return an array that a column of codes can be looked up in."""
    table = np.zeros(ord(max(values, default="\0")) + 1, np.uint32)
    table[[ord(sign) for sign in values]] = list(values.values())
    return table


def _decoded(codes: Codes) -> str:
    if codes.dtype == np.uint8:
        return codes.tobytes().decode("ascii")
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def _steps(values: Places) -> tuple[Places, Places]:
    """Return a rising column as (from position, what to add): few steps where text is plain."""
    shift = values - np.arange(len(values), dtype=np.int32)
    at = np.flatnonzero(np.diff(shift)) + 1
    at = np.concatenate([np.zeros(min(len(shift), 1), np.int32), at.astype(np.int32)])
    return at, shift[at]


def _stepped(steps: tuple[Places, Places], position: int) -> int:
    at, shift = steps
    return position + int(shift[bisect_right(at, position) - 1])
