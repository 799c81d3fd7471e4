"""Which words of a corpus are rare, and how many of its documents have each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from assay.building.checks.material import PARAGRAPH_END
from assay.building.checks.wording import RARE_SHARE
from assay.model.documents import Document
from assay.model.words import STOP_WORDS, content_words, words


class Rarity:
    """Document frequencies of a corpus.

    A term is rare when at most a tenth of the documents have it; where there are fewer than ten documents,
    of the paragraphs. The check of a golden set means the same by it.

    >>> rarity = Rarity([Document(id="a", text="See E1207 below."), Document(id="b", text="See below.")])
    >>> rarity.is_rare("e1207"), rarity.is_rare("see")
    (True, False)
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        texts: list[str] = [document.text for document in documents]
        if len(texts) < 1 / RARE_SHARE:
            texts = [part for text in texts for part in PARAGRAPH_END.split(text) if part.strip()]
        self._held: Counter[str] = Counter()
        self._stems: Counter[str] = Counter()
        for text in texts:
            self._held.update(set(words(text)))
            self._stems.update(set(content_words(text)))
        self._most = max(1, int(RARE_SHARE * len(texts)))
        self._texts = max(1, len(texts))

    def is_rare(self, word: str) -> bool:
        """Return whether few of the documents have a word (casefolded) that carries content."""
        return word not in STOP_WORDS and 0 < self._held[word] <= self._most

    def documents_with(self, word: str) -> int:
        """Return how many documents (or paragraphs) have a word."""
        return self._held[word]

    def weight(self, word: str) -> float:
        """Return how much a stemmed word tells: log(texts / texts that have it), 0 for words of all."""
        return log(self._texts / self._stems[word]) if self._stems[word] else 0.0

    def rarest(self, found: Iterable[str], most: int) -> list[str]:
        """Return the rarest of some words, the rarest first, longer before shorter."""
        rare = [word for word in dict.fromkeys(found) if self.is_rare(word)]
        return sorted(rare, key=lambda word: (self._held[word], -len(word), word))[:most]
