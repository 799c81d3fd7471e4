"""What the tests of frameworks share: a ranking by common words, and a reader of replies."""

from __future__ import annotations

from assay.connectors.callable import as_search
from assay.connectors.conformance import Conformance
from assay.connectors.hits import RawHit, read_reply
from assay.model.documents import Chunk
from assay.model.words import content_words
from conformance.small_corpus import NOTHING, QUERIES, TEXTS, chunks

WORDS = sorted({word for chunk in chunks() for word in content_words(chunk.text)})


class Kit(Conformance):
    """The kit over the small corpus."""

    queries = QUERIES
    documents = TEXTS
    nothing = NOTHING
    __test__ = False


def ranked(query: str) -> list[tuple[int, Chunk]]:
    """Return the chunks that share words with a query, best first, each with their number."""
    asked = set(content_words(query))
    scored = [(len(asked & set(content_words(chunk.text))), chunk) for chunk in chunks()]
    return sorted(((n, chunk) for n, chunk in scored if n), key=lambda row: (-row[0], row[1].id))


def vector(text: str) -> list[float]:
    """Return one number a word of the small corpus, and one that is never 0."""
    return [0.001, *(float(word in content_words(text)) for word in WORDS)]


def search(target: object, query: str, k: int = 5) -> dict[str, list[RawHit]]:
    """Ask an object as a connector would."""
    return read_reply(as_search(target, "it")(query, k))
