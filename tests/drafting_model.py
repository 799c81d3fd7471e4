"""Stand-in models that draft: one that does it well, and one that makes every mistake in turn."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from assay.building.facts import sentences_of
from assay.model.words import STOP_WORDS, content_words, stem, words
from stand_in_model import Says

_PASSAGE = re.compile(r"<passage>\n(.*?)\n</passage>", re.DOTALL)
_TERMS = re.compile(r"one of these terms, spelled exactly as here: (.*?)\. The term", re.DOTALL)
_OTHER_WORDS = re.findall(
    r"\w+",
    """astronaut balcony caramel dolphin emerald falcon glacier harmonica igloo jasmine kangaroo lantern
    mandolin nectarine ostrich paprika quartz raccoon saffron tangerine umbrella velvet walrus yoghurt""",
)


def good_reply(body: dict[str, Any]) -> dict[str, Any]:
    """Return a reply that keeps every rule, from what the first question says."""
    asked = str(body["messages"][1]["content"])
    passages = _PASSAGE.findall(asked)
    anchors = [_anchor(passage) for passage in passages]
    terms = _TERMS.search(asked)
    if "Use NONE" in asked:
        question = f"How would somebody describe the {_unlike(passages[0])} situation?"
    elif terms:
        question = f"For which purpose would anybody want {terms[1].split(', ')[0]} at all?"
    else:
        topics = " and ".join(_topic(passage) for passage in passages)
        question = f"Which particular detail is known concerning {topics}?"
    reply = {"facts": anchors, "question": question, "anchor": anchors[0]}
    return reply if len(anchors) == 1 else {**reply, "second_anchor": anchors[1]}


def _anchor(passage: str) -> str:
    """Return the first words of the first fitting sentence, at most fifteen."""
    for sentence in [*sentences_of(passage), passage]:
        if len(sentence.split()) >= 8:
            return sentence if len(sentence.split()) <= 18 else " ".join(sentence.split(" ")[:15])
    return passage


def _topic(passage: str) -> str:
    rare = [word for word in words(passage) if word.isalpha() and len(word) > 5 and word not in STOP_WORDS]
    return " or ".join(sorted(dict.fromkeys(rare), key=lambda word: (-len(word), word))[:3])


def _unlike(passage: str) -> str:
    there = set(content_words(passage))
    free = [word for word in _OTHER_WORDS if stem(word) not in there]
    at = sum(map(ord, passage))
    return " ".join(free[(at * step) % len(free)] for step in (1, 3, 7))


class Careless:
    """Answers well, but every other task is spoilt first, each time in another way.

    A task that is asked again with the reason gets a good reply.
    """

    def __init__(self) -> None:
        self.spoilt: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._turn = 0

    def __call__(self, body: dict[str, Any]) -> Says:
        reply = good_reply(body)
        if len(body["messages"]) > 2:
            return Says(content=f"Of course!\n```json\n{json.dumps(reply)}\n```")
        with self._lock:
            self._turn += 1
            turn = self._turn
        if turn % 2:
            return Says(content=json.dumps(reply))
        name = list(_SPOILS)[(turn // 2) % len(_SPOILS)]
        with self._lock:
            self.spoilt[name] += 1
        return _SPOILS[name](reply)


def _with(reply: dict[str, Any], **changes: object) -> Says:
    return Says(content=json.dumps({**reply, **changes}))


_SPOILS: dict[str, Callable[[dict[str, Any]], Says]] = {
    "comma": lambda reply: Says(content=json.dumps(reply)[:-1] + ",}"),
    "bare": lambda _: Says(content="7"),
    "cut": lambda reply: Says(content=json.dumps(reply)[:40], finish_reason="length"),
    "list": lambda reply: Says(content=json.dumps([reply])),
    "null": lambda reply: _with(reply, anchor=None),
    "paraphrase": lambda reply: _with(reply, anchor="in other words this is what the authors meant to say"),
    "dots": lambda reply: _with(
        reply, anchor=f"{' '.join(reply['anchor'].split()[:3])} ... {reply['anchor'].split()[-1]}"
    ),
    "copied": lambda reply: _with(reply, question=reply["anchor"]),
    "chatter": lambda reply: _with(reply, question="According to the passage, what is described here?"),
    "empty": lambda _: Says(content=""),
    "busy": lambda _: Says(status=503, content="overloaded", headers={"Retry-After": "0"}),
}
