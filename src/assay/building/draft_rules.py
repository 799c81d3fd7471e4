"""A draft without a model: rules find the facts and the anchors, a person words the questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from assay.building.anchor_shapes import AnchorShaper
from assay.building.draft_checks import Offered
from assay.building.draft_job import draft_of
from assay.building.draft_tasks import CONCEPTUAL, LEXICAL, MULTI_HOP, DraftTask
from assay.building.facts import Fact, key_facts
from assay.building.passages import Passage
from assay.building.rarity import Rarity
from assay.model.golden import Anchor
from assay.model.labels import Draft
from assay.model.notices import listed
from assay.model.words import content_words, words

BY = "rules"
"""Who made the drafts, as it stands in their provenance."""
UNWORDED = "the question is yours to write"
"""The first note of a draft whose question is empty."""
_FIRST_WORDING = "worded by a rule: make it what a person would ask"
_MOST_TASKS = 6


class RuleDrafter:
    """Drafts from facts that rules find.

    Args:
        job: the job's name.
        shaper: makes anchors.
        rarity: knows rare words.
    """

    def __init__(self, job: str, shaper: AnchorShaper, rarity: Rarity) -> None:
        self._job = job
        self._shaper = shaper
        self._rarity = rarity

    def run(
        self, wanted: Mapping[str, int], next_task: Callable[[str], DraftTask | None]
    ) -> tuple[Draft, ...]:
        """Return drafts of each kind, as many as are wanted or as the documents give.

        Factual and lexical drafts have a first wording; conceptual and multi-hop ones have none, since a rule
        that knows other words for a thing is a model. What there is of them is the passages, the anchors and
        the words to avoid or to join.
        """
        made: list[Draft] = []
        for kind, count in wanted.items():
            done = 0
            for _ in range(_MOST_TASKS * count):
                task = next_task(kind) if done < count else None
                if task is None:
                    break
                draft = self.draft(task)
                if draft is not None:
                    made.append(draft)
                    done += 1
        return tuple(made)

    def draft(self, task: DraftTask) -> Draft | None:
        """Return the draft of one task; None when a passage has no fact that makes an anchor."""
        anchors: list[Anchor] = []
        facts: list[Fact] = []
        notes: list[str] = []
        for number, passage in enumerate(task.passages, start=1):
            found = self._anchored(task, passage)
            if found is None:
                return None
            fact, anchor, said = found
            facts.append(fact)
            anchors.append(replace(anchor, id=f"a{number}"))
            notes += [f"a{number}: {note}" for note in said]
        question = "" if task.kind in {CONCEPTUAL, MULTI_HOP} else first_wording(facts[0], task)
        offered = Offered(question=question, anchors=tuple(anchors), notes=(*_advice(task, facts), *notes))
        return draft_of(self._job, task, offered, by=BY)

    def _anchored(self, task: DraftTask, passage: Passage) -> tuple[Fact, Anchor, tuple[str, ...]] | None:
        for fact in key_facts(passage, self._rarity):
            if task.kind == LEXICAL and not any(self._rarity.is_rare(word) for word in words(fact.term)):
                continue
            shaped = self._shaper.shape(passage, fact.quote, about=content_words(fact.term))
            if shaped.anchor is not None:
                return fact, shaped.anchor, shaped.notes
        return None


def first_wording(fact: Fact, task: DraftTask) -> str:
    """Return a question that a fact answers, stiff as rules are.

    >>> fact = Fact(kind="definition", quote="A lease is the right to hold one shard.", term="lease")
    >>> first_wording(fact, DraftTask(kind="factual", passages=()))
    'What is lease?'
    """
    path = task.passages[0].path if task.passages else ()
    where = path[-1].strip("`*_ ") if path else ""
    if fact.kind == "definition":
        return f"What is {fact.term}?"
    if fact.kind == "number":
        return f"Which figure is given for {where or 'this'}?"
    if fact.kind == "identifier":
        return f"What is {fact.term} for?"
    if task.kind == LEXICAL:
        return f"What is known about {fact.term}?"
    return f"What holds for {fact.term or where}" + (f" in {where}?" if where and fact.term else "?")


def _advice(task: DraftTask, facts: list[Fact]) -> list[str]:
    if task.kind == CONCEPTUAL:
        avoid = list(dict.fromkeys(content_words(facts[0].quote)))
        return [UNWORDED, f"ask for the idea without the passage's words: {listed(avoid, most=12)}"]
    if task.kind == MULTI_HOP:
        return [UNWORDED, f"ask for what needs both passages; they share: {', '.join(task.terms)}"]
    return [_FIRST_WORDING, f"it rests on a fact of the kind {facts[0].kind}: {facts[0].term}"]
