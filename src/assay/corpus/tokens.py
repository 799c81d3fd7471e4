"""Counting tokens: for chunk sizes, and for the budget of a prompt.

The counters, all offline (``characters`` is there as well):

- ``words``: a token is a run of word characters, or one mark. Exact, and the same everywhere.
- ``estimate``: about what a model's tokenizer would say, without its vocabulary: words in pieces of up to
  eight letters, numbers and marks in threes, line ends in runs, ideographs and kana one by one. Within 12 %
  of cl100k on English prose, papers and technical Markdown; up to 15 % off on German, Japanese and Korean.
- ``cl100k``: the vocabulary of OpenAI's embedding models. Needs ``tiktoken`` and the vocabulary's file, which
  is looked for and never downloaded.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from assay.model.errors import InputError, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSpans:
    """Where each token of a text stands: code points, in order, not overlapping except inside a character."""

    starts: Sequence[int]
    ends: Sequence[int]


class TokenCounter(ABC):
    """Counts tokens and says where they stand."""

    name: str
    """What settings call it."""

    @abstractmethod
    def count(self, text: str) -> int:
        """Return the number of tokens."""

    @abstractmethod
    def spans(self, text: str) -> TokenSpans:
        """Return where the tokens stand; every character that is not white space is in one."""


class _PatternCounter(TokenCounter):
    """Tokens are the matches of a pattern."""

    def __init__(self, name: str, pattern: str) -> None:
        self.name = name
        self._pattern = re.compile(pattern)

    def count(self, text: str) -> int:
        return sum(1 for _ in self._pattern.finditer(text))

    def spans(self, text: str) -> TokenSpans:
        found = [match.span() for match in self._pattern.finditer(text)]
        return TokenSpans(starts=[span[0] for span in found], ends=[span[1] for span in found])


class _CharacterCounter(TokenCounter):
    """Every code point is a token."""

    name = "characters"

    def count(self, text: str) -> int:
        return len(text)

    def spans(self, text: str) -> TokenSpans:
        return TokenSpans(starts=range(len(text)), ends=range(1, len(text) + 1))


_WORDS = r"\w+|[^\w\s]"
# Kana, ideographs and hangul: about one token a character in the vocabularies of the day.
_ONE_BY_ONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_ESTIMATE = rf"[{_ONE_BY_ONE}]|(?:[^\W\d_{_ONE_BY_ONE}]){{1,8}}|\d{{1,3}}|_+|[^\w\s]{{1,3}}|\n+"


def _cl100k() -> TokenCounter:
    from assay.corpus.vocabularies import Cl100kCounter  # noqa: PLC0415 - it needs an optional package

    return Cl100kCounter()


_COUNTERS: dict[str, Callable[[], TokenCounter]] = {
    "characters": _CharacterCounter,
    "words": lambda: _PatternCounter("words", _WORDS),
    "estimate": lambda: _PatternCounter("estimate", _ESTIMATE),
    "cl100k": _cl100k,
}

COUNTERS = tuple(_COUNTERS)
"""The names of the token counters."""


@cache
def token_counter(name: str) -> TokenCounter:
    """Return the counter of that name.

    Raises:
        InputError: no counter has the name (the nearest is said), or the vocabulary's file is not found.
        MissingExtraError: ``cl100k`` without the package tiktoken.

    >>> token_counter("words").count("It's 12 days.")
    6
    """
    if name not in _COUNTERS:
        like = nearest(name, COUNTERS)
        raise InputError(
            f"no token counter is called {name!r}",
            fix=f"did you mean {like!r}?" if like else f"there are: {', '.join(COUNTERS)}",
        )
    return _COUNTERS[name]()


def count_tokens(text: str, counter: str = "estimate") -> int:
    """Return how many tokens of a prompt a text takes; by default an estimate that needs no vocabulary.

    >>> count_tokens("Refunds reach the card within 14 days.")
    8
    """
    return token_counter(counter).count(text)
