"""Questions compared with each other and with their passages."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fractions import Fraction
from typing import cast

from assay.model.text import normalise
from assay.model.words import STOP_WORDS, stem, words

_END_MARKS = " \t?!.,;:…。？！"
_RUN = re.compile(r"\w+(?:['.]\w+)*")


def question_key(question: str) -> str:
    """Return what two wordings of the same question share: case, blanks and end marks do not count.

    >>> question_key(" How long  are logs kept ?") == question_key("how long are logs kept")
    True
    """
    return normalise(question).text.strip(_END_MARKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedQuestion:
    """One question with all the anchors that were offered for it."""

    question: str
    """As it was first written."""
    anchors: tuple[str, ...]
    rows: tuple[int, ...]
    """The rows that it was made of, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folding:
    """What became of rows of questions with their anchors."""

    kept: tuple[FoldedQuestion, ...]
    rejected: tuple[tuple[int, str], ...]
    """Row (from 1) and why."""
    malformed: tuple[int, ...]
    """Rows that are not a question with an anchor."""


def fold_questions(rows: Sequence[object]) -> Folding:
    """Make one of equal questions, with their anchors united; questions that differ in a word stay apart.

    A row is a pair of texts: question and anchor. A question that is its own anchor is rejected.

    >>> folding = fold_questions([["Who signs?", "the owner"], ["who signs", "two owners"], " "])
    >>> [(one.question, one.anchors) for one in folding.kept], folding.malformed
    ([('Who signs?', ('the owner', 'two owners'))], (3,))
    """
    kept: dict[str, FoldedQuestion] = {}
    rejected: list[tuple[int, str]] = []
    malformed: list[int] = []
    for number, row in enumerate(rows, start=1):
        pair = _pair(row)
        if pair is None:
            malformed.append(number)
            continue
        question, anchor = pair
        key = question_key(question)
        if question_key(anchor) == key:
            rejected.append((number, "anchor equals the question"))
            continue
        known = kept.get(key) or FoldedQuestion(question=question.strip(), anchors=(), rows=())
        anchors = known.anchors if anchor in known.anchors else (*known.anchors, anchor)
        kept[key] = FoldedQuestion(question=known.question, anchors=anchors, rows=(*known.rows, number))
    return Folding(kept=tuple(kept.values()), rejected=tuple(rejected), malformed=tuple(malformed))


def _pair(row: object) -> tuple[str, str] | None:
    if not isinstance(row, list | tuple):
        return None
    cells = cast("Sequence[object]", row)
    if len(cells) != 2:
        return None
    question, anchor = cells
    if not isinstance(question, str) or not isinstance(anchor, str):
        return None
    return (question, anchor) if question.strip() and anchor.strip() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWords:
    """How many content words of a question its passage has."""

    content_words: int
    """Different words of the question that are no stop words."""
    exact: int
    """Of these, those that stand in the passage as they are."""
    stemmed: int
    """Of these, those whose stem is the stem of a word of the passage."""

    @property
    def share(self) -> Fraction | None:
        """Exactly shared words among the content words, 0 to 1; None when there are none."""
        return Fraction(self.exact, self.content_words) if self.content_words else None

    @property
    def stemmed_share(self) -> Fraction | None:
        """The same with words that share a stem."""
        return Fraction(self.stemmed, self.content_words) if self.content_words else None


def shared_words(question: str, passage: str, *, stop_words: Collection[str] = STOP_WORDS) -> SharedWords:
    """Count the content words that a question shares with its passage.

    >>> shared_words("Why does the ledger freeze?", "the ledger freezes after the job")
    SharedWords(content_words=2, exact=1, stemmed=2)
    """
    asked = [word for word in dict.fromkeys(words(question)) if word not in stop_words]
    there = set(words(passage))
    stems = {stem(word) for word in there}
    return SharedWords(
        content_words=len(asked),
        exact=sum(word in there for word in asked),
        stemmed=sum(stem(word) in stems for word in asked),
    )


def longest_shared_run(question: str, passage: str) -> str:
    """Return the longest run of words that stands in both, in normal form.

    The first of equals in the question; the empty text when they share no word.

    >>> longest_shared_run("When is the seal to be checked?", "Note that the seal is to be checked twice.")
    'to be checked'
    """
    asked = _RUN.findall(normalise(question).text)
    there = _RUN.findall(normalise(passage).text)
    matcher = SequenceMatcher(None, asked, there, autojunk=False)
    match = matcher.find_longest_match(0, len(asked), 0, len(there))
    return " ".join(asked[match.a : match.a + match.size])
