"""Near-duplicates among queries, merged with their counts; work grows with the log, not with its square.

Every query gets a key, and equal keys are one query. The key is made of its content words, so that case,
order, politeness and small words do not count. What changes a question stays in the key: who, when, where and
why; not, no, without; and the order of words where a direction is asked for ("from v1 to v2"). Numbers and
identifiers are never changed.

After that a query joins a more frequent one when it differs by one mistyped word, or by one plain word more
out of seven. It joins the most frequent of its like directly, never through another, so that no chain forms.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.building.logged import Logged
from assay.building.questions import question_key
from assay.model.words import content_words

_KEPT = re.compile(
    r"\b(?:who|whom|whose|when|where|why|not|no|never|without|can't|cannot|don't|doesn't|won't|isn't|aren't)\b"
)
_NEGATIONS = frozenset({"no", "never", "can't", "cannot", "don't", "doesn't", "won't", "isn't", "aren't"})
POLITE = re.compile(
    r"\b(?:please|pls|plz|thanks|thank you|thx|hi|hello|hey|kindly|tell me|show me|i (?:want|need) to know)\b"
)
"""Words around a question that are none of it."""
_WISH = re.compile(r"\b(?:i|we)(?: would|'d)? (?:want|need|like|wish|try) to\b")
_NOT_A_DIRECTION = re.compile(
    r"\b(how|want|need|able|trying|try|like|has|have|ways?|possible|used|going|wish|order|unable|steps) to\b"
)
_DIRECTION = re.compile(r"\w\W+(?:to|into|onto|from|before|after|over|under|than|instead of)\W+\w")
_LEAST_LETTERS = 6
"""Shorter words have too many neighbours to be called mistyped."""
_FREQUENT = 10
"""A word is mistyped when its neighbour is so many times as frequent."""
_FEWEST_WORDS = 6
"""Content words from which one plain word more leaves 85 % in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedQuery:
    """One question of a log, in its most frequent wording (or one half as frequent without courtesies)."""

    text: str
    count: float
    """How often it was asked, in all its wordings."""
    wordings: tuple[tuple[str, float], ...]
    """Every wording with its count: the text's own first, then the most frequent."""
    clicked: tuple[tuple[str, int], ...] = ()
    """What was opened, with how often, the most frequent first."""


def merge_queries(rows: Sequence[Logged], *, known: Collection[str] = ()) -> list[MergedQuery]:
    """Return the different questions of a log, the most frequent first.

    A session counts once for one question, however often it asked.

    Args:
        rows: the log.
        known: words (stemmed) that are right as they are, as those of the documents.

    >>> asked = ["How do I reset my password?", "reset password", "reset pin"]
    >>> [(one.text, one.count) for one in merge_queries([Logged(text=text) for text in asked])]
    [('How do I reset my password?', 2.0), ('reset pin', 1.0)]
    """
    keys = {text: merge_key(text) for text in dict.fromkeys(row.text for row in rows)}
    groups: dict[Key, list[_Wording]] = defaultdict(list)
    for wording in _wordings(rows, keys):
        groups[keys[wording.text]].append(wording)
    leaders = _Leaders(groups, frozenset(known))
    merged: dict[Key, list[_Wording]] = defaultdict(list)
    for key in leaders.order:
        merged[leaders.leader_of(key)] += groups[key]
    found = [_merged(group) for group in merged.values()]
    return sorted(found, key=lambda one: (-one.count, one.text))


Key = tuple[tuple[str, ...], tuple[str, ...]]
"""What makes a question: its content words (in order where that matters, else sorted), and what turns it."""


def merge_key(text: str) -> Key:
    """Return what two wordings of one question share.

    >>> merge_key("How to export logs, please?") == merge_key("exporting the logs")
    True
    >>> merge_key("convert csv to json") == merge_key("convert json to csv")
    False
    """
    plain = question_key(text)
    turning = sorted({"not" if word in _NEGATIONS else word for word in _KEPT.findall(plain)})
    bare = _WISH.sub(" ", POLITE.sub(" ", plain))
    found = content_words(bare)
    if not found:
        return (plain,), tuple(turning)
    directed = _DIRECTION.search(_NOT_A_DIRECTION.sub(r"\1", bare))
    return (tuple(dict.fromkeys(found)) if directed else tuple(sorted(set(found)))), tuple(turning)


@dataclass(slots=True)
class _Wording:
    """One wording with what is known of it."""

    text: str
    count: float
    clicked: Counter[str]


def _wordings(rows: Sequence[Logged], keys: Mapping[str, Key]) -> list[_Wording]:
    found: dict[str, _Wording] = {}
    sessions: set[tuple[str, Key]] = set()
    for row in rows:
        wording = found.setdefault(row.text, _Wording(row.text, 0.0, Counter()))
        wording.clicked.update(row.clicked)
        if row.session is not None:
            seen = (row.session, keys[row.text])
            if seen in sessions:
                continue
            sessions.add(seen)
        wording.count += row.count
    return list(found.values())


def _merged(group: Sequence[_Wording]) -> MergedQuery:
    ordered = sorted(group, key=lambda one: (-one.count, one.text))
    plain = [
        one for one in ordered if one.count * 2 >= ordered[0].count and not POLITE.search(one.text.casefold())
    ]
    ordered.sort(key=lambda one: one not in plain[:1])
    clicked: Counter[str] = Counter()
    for wording in group:
        clicked.update(wording.clicked)
    return MergedQuery(
        text=ordered[0].text,
        count=sum(one.count for one in group),
        wordings=tuple((one.text, one.count) for one in ordered),
        clicked=tuple(sorted(clicked.items(), key=lambda one: (-one[1], one[0]))),
    )


class _Leaders:
    """Which key joins which more frequent one."""

    def __init__(self, groups: dict[Key, list[_Wording]], known: frozenset[str]) -> None:
        self._counts = {key: sum(one.count for one in group) for key, group in groups.items()}
        self.order = sorted(self._counts, key=lambda key: (-self._counts[key], key))
        self._known = known
        self._words: Counter[str] = Counter()
        for key, count in self._counts.items():
            for word in key[0]:
                self._words[word] += max(1, int(count))
        self._deletions: dict[str, list[str]] = defaultdict(list)
        for word in sorted(self._words):
            if _is_plain(word):
                for part in _deletions(word):
                    self._deletions[part].append(word)
        self._joined: dict[Key, Key] = {}
        self._longer: dict[tuple[Key, int], Key] = {}
        for key in self.order:
            self._joined[key] = self._find(key)

    def leader_of(self, key: Key) -> Key:
        return self._joined[key]

    def _find(self, key: Key) -> Key:
        """Return the more frequent key that a key joins, or the key itself, which others may join then."""
        for corrected in self._corrections(key):
            if self._joined.get(corrected) == corrected:
                return corrected
        words, turning = key
        if len(words) > _FEWEST_WORDS:
            for shorter in _shorter(words):
                if self._joined.get((shorter, turning)) == (shorter, turning):
                    return shorter, turning
        if len(words) >= _FEWEST_WORDS:
            longer = self._longer.get((key, len(words) + 1))
            if longer is not None and self._joined.get(longer) == longer:
                return longer
            for shorter in _shorter(words):
                self._longer.setdefault(((shorter, turning), len(words)), key)
        return key

    def _corrections(self, key: Key) -> Iterator[Key]:
        words, turning = key
        is_sorted = list(words) == sorted(words)
        for at, word in enumerate(words):
            if not _is_plain(word) or word in self._known:
                continue
            for right in self._neighbours(word):
                other = [*words[:at], right, *words[at + 1 :]]
                yield (tuple(sorted(set(other))) if is_sorted else tuple(dict.fromkeys(other))), turning

    def _neighbours(self, word: str) -> list[str]:
        """Return much more frequent words at one typing mistake from a word."""
        near = {other for part in _deletions(word) for other in self._deletions.get(part, ())}
        near.discard(word)
        return sorted(
            (
                other
                for other in near
                if other[0] == word[0]
                and self._words[other] >= _FREQUENT * self._words[word]
                and _one_mistake(word, other)
            ),
            key=lambda other: (-self._words[other], other),
        )


def _is_plain(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS and word.isalpha()


def _deletions(word: str) -> set[str]:
    """Return a word and what it is with one letter less."""
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _one_mistake(one: str, other: str) -> bool:
    """Return whether two words differ by one letter added, left out or exchanged, or by two swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    first = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    a, b = one[first:], other[first:]
    swapped = len(a) > 1 and len(b) > 1 and a[0] == b[1] and a[1] == b[0] and a[2:] == b[2:]
    return swapped or a[1:] == b[1:] or a[1:] == b or a == b[1:]


def _shorter(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words without each one that carries no number and is no identifier."""
    for at, word in enumerate(words):
        if word.isalpha():
            yield (*words[:at], *words[at + 1 :])
