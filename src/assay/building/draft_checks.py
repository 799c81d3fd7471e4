"""A draft is checked like a person's work before anybody is asked to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.building.anchor_shapes import AnchorShaper
from assay.building.checks.wording import EASY_RUN, PREAMBLE, SHARED_LIMIT
from assay.building.draft_tasks import CONCEPTUAL, LEXICAL, DraftTask
from assay.building.questions import longest_shared_run, question_key, shared_words
from assay.building.rarity import Rarity
from assay.model.golden import Anchor
from assay.model.notices import listed
from assay.model.words import STOP_WORDS, content_words, stem, words

_FEWEST_WORDS, _MOST_CHARS = 3, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a proposal cannot be used."""

    code: str
    """A stable short name, to count by: ``anchor``, ``leaks``, ``no-term``, ``duplicate``, ``wording``."""
    why: str
    """The sentence for whoever writes it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A question with its anchors, as far as it can be used."""

    question: str
    anchors: tuple[Anchor, ...] = ()
    notes: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    """All that is wrong; empty: it can go before a person."""

    @property
    def why(self) -> str:
        return "; ".join(refusal.why for refusal in self.refusals)


class DraftChecker:
    """Checks proposals against one corpus.

    Args:
        shaper: makes anchors.
        rarity: knows rare words.
    """

    def __init__(self, shaper: AnchorShaper, rarity: Rarity) -> None:
        self._shaper = shaper
        self._rarity = rarity

    def check(
        self,
        task: DraftTask,
        question: str,
        quotes: Sequence[str],
        *,
        facts: Sequence[str] = (),
        taken: frozenset[str] = frozenset(),
        last: bool = False,
    ) -> Offered:
        """Return what can be used of a question and its anchors, and everything that is wrong with them.

        Args:
            task: what was asked for.
            question: the question.
            quotes: one phrase a passage, in the order of the passages.
            facts: what the question is about, to narrow anchors that are too long.
            taken: keys (``question_key``) of questions that are asked already.
            last: a conceptual question that still shares some words is let through with a note, as long as
                they are fewer than the check of a set complains of.
        """
        question = " ".join(question.split())
        refusals: list[Refusal] = list(self._wording(task, question, taken))
        anchors: list[Anchor] = []
        notes: list[str] = []
        about = content_words(" ".join([question, *facts]))
        for number, (passage, quote) in enumerate(zip(task.passages, quotes, strict=True), start=1):
            if question and question_key(quote) == question_key(question):
                refusals.append(Refusal(code="anchor", why="anchor equals the question"))
                continue
            shaped = self._shaper.shape(passage, quote, about=about)
            if shaped.anchor is None:
                refusals.append(Refusal(code="anchor", why=shaped.why or "anchor refused"))
                continue
            anchors.append(replace(shaped.anchor, id=f"a{number}"))
            notes += [f"a{number}: {note}" for note in shaped.notes]
        if task.kind == CONCEPTUAL and question:
            leak, note = _leak(task, question, last=last)
            refusals += leak
            notes += note
        return Offered(
            question=question, anchors=tuple(anchors), notes=tuple(notes), refusals=tuple(refusals)
        )

    def _wording(self, task: DraftTask, question: str, taken: frozenset[str]) -> list[Refusal]:
        if not question:
            return [Refusal(code="wording", why="the question is empty")]
        found: list[Refusal] = []
        if question_key(question) in taken:
            found.append(Refusal(code="duplicate", why="that question is asked already; ask another"))
        if len(words(question)) < _FEWEST_WORDS or len(question) > _MOST_CHARS:
            found.append(Refusal(code="wording", why="the question has too few words, or too many"))
        preamble = PREAMBLE.match(question.casefold().replace("’", "'"))
        if preamble:
            why = (
                f"{preamble[0].strip()!r} speaks of a passage, or is chatter: ask as somebody who has no text"
            )
            found.append(Refusal(code="wording", why=why))
        if task.kind == LEXICAL and not self._has_term(task, question):
            shown = listed([repr(term) for term in task.terms])
            found.append(
                Refusal(code="no-term", why=f"the question has none of the terms {shown} as they are")
            )
        runs = [longest_shared_run(question, passage.text) for passage in task.passages]
        longest = max(runs, key=lambda run: len(run.split()))
        most = EASY_RUN + 2 if task.kind == LEXICAL else EASY_RUN
        if len(longest.split()) >= most:
            why = f"the question repeats the passage word for word ({longest!r}): say it in other words"
            found.append(Refusal(code="leaks", why=why))
        return found

    def _has_term(self, task: DraftTask, question: str) -> bool:
        there = set(words(task.passages[0].text))
        return any(word in there and self._rarity.is_rare(word) for word in words(question))


def _leak(task: DraftTask, question: str, *, last: bool) -> tuple[list[Refusal], list[str]]:
    """Return why a conceptual question gives its passage away, or a note of what it still shares."""
    passage = " ".join(passage.text for passage in task.passages)
    share = shared_words(question, passage).stemmed_share
    if not share:
        return [], []
    there = {stem(word) for word in words(passage)}
    asked = [word for word in dict.fromkeys(words(question)) if word not in STOP_WORDS]
    shared = [word for word in asked if stem(word) in there]
    if last and share < SHARED_LIMIT:
        return [], [f"shares {listed(shared)} with its passage"]
    why = f"the question uses the passage's own words ({', '.join(shared)}): replace each of them"
    return [Refusal(code="leaks", why=why)], []
