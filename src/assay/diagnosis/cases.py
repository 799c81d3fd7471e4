"""One miss with all that a rule may look at: words, ranks, the text beside the chunk, the top k."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import log1p

from assay.corpus.outline import Outline, outline_of
from assay.model.documents import Document
from assay.model.findings import ItemLoss
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.relevance import Place, QueryRelevance, Relevance
from assay.model.runs import Run
from assay.model.words import STOP_WORDS, content_words, stem, words

AROUND = 800
"""Characters before and after a chunk that count as its neighbourhood."""
_MAY_HEAD = re.compile(r"^[ >]{0,6}#|^[ >]{0,6}([^\w\s])\1+[ \t]*$", re.MULTILINE)
_JOINTS = re.compile(r"[-_.'’]")
NOTHING: AbstractSet[str] = frozenset()
COMMON = 0.1
"""A word that more than this share of the chunks holds tells no chunk from another."""
_COUNTED = 10_000
"""Chunks over which words are counted at most; of a larger index, evenly spread ones."""


def words_of(text: str) -> dict[str, str]:
    """Return the content words of a text, stem -> its first form; no stop words, in order of the text.

    >>> words_of("How are chunks chunked?")
    {'chunk': 'chunks'}
    """
    forms: dict[str, str] = {}
    for word in words(text):
        if word not in STOP_WORDS:
            forms.setdefault(stem(word), word)
    return forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk as rules read it."""

    chunk_id: str
    doc_id: str
    start: int
    """-1 where its place is not known."""
    end: int
    text: str
    rank: int | None = None
    """Its rank in the prompt, where it is a hit."""
    words: AbstractSet[str] = NOTHING
    """Stems of the content words of its text and context."""

    def covers(self, place: Place) -> bool:
        return self.doc_id == place.doc_id and 0 <= self.start <= place.start and place.end <= self.end

    def touches(self, place: Place) -> bool:
        return self.doc_id == place.doc_id and self.start < place.end and place.start < self.end


class Library:
    """Texts and words of a run, looked up once and kept.

    Args:
        run: the run.
        relevance: which chunks cover which items.
        golden: the queries.
        documents: the corpus; without it, only what the run itself holds is known.
        contexts: chunk id -> what was put before its text for search.
    """

    def __init__(
        self,
        run: Run,
        relevance: Relevance,
        golden: GoldenSet,
        documents: Sequence[Document] = (),
        contexts: Mapping[str, str] | None = None,
    ) -> None:
        self.run = run
        self.relevance = relevance
        self.queries = {query.id: query for query in golden.queries}
        self.documents = {document.id: document for document in documents}
        self.contexts = contexts or {}
        self.passage = lru_cache(maxsize=200_000)(self._passage)
        self.outline = lru_cache(maxsize=4096)(self._outline)
        self.query_words = lru_cache(maxsize=100_000)(self._query_words)

    def case(self, loss: ItemLoss, *, k: int) -> Case:
        """Return one miss, ready for the rules."""
        query = self.queries[loss.query_id]
        anchor = next((anchor for anchor in query.anchors if anchor.id == loss.item_id), None)
        return Case(
            library=self,
            query=query,
            anchor=anchor,
            loss=loss,
            k=k,
            relevance=self.relevance.by_query[loss.query_id],
        )

    @cached_property
    def chunk_counts(self) -> tuple[Mapping[str, int], int]:
        """Stem -> how many chunks hold it, and of how many."""
        total = len(self.run.chunks)
        step = max(1, -(-total // _COUNTED))
        counts: Counter[str] = Counter()
        for at in range(0, total, step):
            counts.update(self.passage(at).words)
        return counts, len(range(0, total, step))

    def weight(self, word: str) -> float:
        """Return how much a word tells chunks apart: its inverse frequency among them."""
        counts, n = self.chunk_counts
        held = counts.get(word, 0)
        return log1p((n - held + 0.5) / (held + 0.5))

    def is_common(self, word: str) -> bool:
        """Whether so many chunks hold a word that it tells none from another; never in a small index."""
        counts, n = self.chunk_counts
        return n >= 50 and counts.get(word, 0) > COMMON * n

    def context_words(self, passage: Passage) -> AbstractSet[str]:
        """Return the stems of the headings above a passage and of its document's title."""
        document = self.documents.get(passage.doc_id)
        if document is None or passage.start < 0:
            return NOTHING
        path = self.outline(passage.doc_id).path_at(passage.start)
        return frozenset(content_words(" ".join([document.title or "", *path])))

    def around(self, passage: Passage) -> tuple[str, str]:
        """Return the text before and after a passage in its document."""
        document = self.documents.get(passage.doc_id)
        if document is None or passage.start < 0:
            return "", ""
        before = document.text[max(0, passage.start - AROUND) : passage.start]
        return before, document.text[passage.end : passage.end + AROUND]

    def _query_words(self, query_id: str) -> Mapping[str, str]:
        return words_of(self.queries[query_id].text)

    def _outline(self, doc_id: str) -> Outline:
        document = self.documents[doc_id]
        # Parsing is slow, and a text without any of these signs has no heading.
        return outline_of(document) if _MAY_HEAD.search(document.text) else Outline(headings=(), blocks=())

    def _passage(self, at: int) -> Passage:
        table = self.run.chunks
        doc_id, start, end = table.doc_ids[at], int(table.starts[at]), int(table.ends[at])
        text = table.texts[at]
        if text is None:
            document = self.documents.get(doc_id)
            text = document.text[start:end] if document is not None and start >= 0 else ""
        context = self.contexts.get(table.ids[at], "")
        return Passage(
            chunk_id=table.ids[at],
            doc_id=doc_id,
            start=start,
            end=end,
            text=text,
            words=frozenset(content_words(f"{context}\n{text}" if context else text)),
        )


@dataclass(frozen=True, kw_only=True)
class Case:
    """One miss: the query, the item, its ranks, its chunk, what stands around it, and what took its place."""

    library: Library
    query: Query
    anchor: Anchor | None
    """None for a plain label."""
    loss: ItemLoss
    k: int
    relevance: QueryRelevance

    @property
    def item(self) -> str:
        return self.loss.item_id

    @cached_property
    def query_words(self) -> Mapping[str, str]:
        """Content words of the query: stem -> form."""
        return self.library.query_words(self.query.id)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where the anchor (or an alternative) stands."""
        return self.relevance.places.get(self.item, ())

    @cached_property
    def passage(self) -> Passage | None:
        """The chunk that came nearest to the prompt; where none holds the anchor, its paragraph."""
        position = self.library.run.chunks.position
        if self.loss.chunk_id is not None:
            return self.library.passage(position[self.loss.chunk_id])
        for place in self.places:
            document = self.library.documents.get(place.doc_id)
            if document is not None:
                start, end = _paragraph(document.text, place)
                text = document.text[start:end]
                return Passage(
                    chunk_id="",
                    doc_id=place.doc_id,
                    start=start,
                    end=end,
                    text=text,
                    words=frozenset(content_words(text)),
                )
        return None

    @property
    def held(self) -> AbstractSet[str]:
        """Stems of the content words of the chunk."""
        return self.passage.words if self.passage is not None else NOTHING

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """Stems that query and chunk share, rarest first."""
        held = self.held
        return self.by_weight(word for word in self.query_words if word in held)

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """Those of them that tell chunks apart."""
        return tuple(word for word in self.shared if not self.library.is_common(word))

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Stems of the query that the chunk lacks, rarest first."""
        held = self.held
        return self.by_weight(word for word in self.query_words if word not in held)

    @cached_property
    def coverage(self) -> float:
        """The part of the query that the chunk holds: 0 to 1, each word by how much it tells."""
        return self.part(self.shared)

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """Missing stems that stand in the headings above the chunk, or in the title."""
        held = self.library.context_words(self.passage) if self.passage is not None else NOTHING
        return tuple(word for word in self.missing if word in held)

    @cached_property
    def neighbours(self) -> tuple[str, ...]:
        """Missing stems that stand in the text just before or after the chunk, and in no heading of it."""
        if self.passage is None:
            return ()
        held = frozenset(content_words("\n".join(self.library.around(self.passage))))
        return tuple(word for word in self.missing if word in held and word not in self.headings)

    @cached_property
    def top(self) -> tuple[Passage, ...]:
        """The hits of the prompt, best first, that do not cover the item."""
        run = self.library.run
        query = run.query_position.get(self.query.id)
        if query is None:
            return ()
        span = run.final.hits_of(query)
        hits: list[Passage] = []
        for rank, at in enumerate(run.final.chunks[span].tolist()[: self.k], start=1):
            one = self.library.passage(at)
            if self.item not in self.relevance.covers.get(one.chunk_id, ()):
                hits.append(
                    Passage(
                        chunk_id=one.chunk_id,
                        doc_id=one.doc_id,
                        start=one.start,
                        end=one.end,
                        text=one.text,
                        words=one.words,
                        rank=rank,
                    )
                )
        return tuple(hits)

    @cached_property
    def list_ranks(self) -> Mapping[str, int | None]:
        """First-stage list -> the rank of the item there."""
        return self._ranks("list")

    @property
    def best_list_rank(self) -> int | None:
        known = [rank for rank in self.list_ranks.values() if rank is not None]
        return min(known, default=None)

    @property
    def pool_rank(self) -> int | None:
        """Rank in the fused list; where nothing is fused, in the one first-stage list."""
        pools = self._ranks("pool")
        lists = self.list_ranks
        return next(iter(pools.values()), None if len(lists) != 1 else next(iter(lists.values())))

    @property
    def reranked_rank(self) -> int | None:
        return next(iter(self._ranks("rerank").values()), None)

    @cached_property
    def pool_size(self) -> int:
        """Rows of the pool; of the longest first-stage list where nothing is fused."""
        run = self.library.run
        query = run.query_position.get(self.query.id)
        if query is None:
            return 0
        sizes = {"pool": 0, "list": 0, "final": 0}
        for stage in run.stages:
            if stage.role in sizes:
                span = stage.hits_of(query)
                sizes[stage.role] = max(sizes[stage.role], span.stop - span.start)
        return sizes["pool"] or sizes["list"] or sizes["final"]

    def part(self, some: Iterable[str]) -> float:
        """Return the part of the query's words that some of them make, by how much each tells."""
        whole = sum(self.library.weight(word) for word in self.query_words)
        return sum(self.library.weight(word) for word in some) / whole if whole else 0.0

    def by_weight(self, some: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(some, key=lambda word: (-self.library.weight(word), word)))

    def spelled(self, stems: Iterable[str]) -> list[str]:
        """Return stems as the query spells them; a part of a joined word only where the whole is not told."""
        told = [self.query_words.get(word, word) for word in stems]
        parts = {part for word in told for part in _JOINTS.split(word) if part != word}
        return [word for word in told if word not in parts]

    def _ranks(self, role: str) -> dict[str, int | None]:
        stages = self.library.run.stages
        return {stage.name: self.loss.ranks.get(stage.name) for stage in stages if stage.role == role}


def _paragraph(text: str, place: Place) -> tuple[int, int]:
    """Return the paragraph around a place, or as much of it as a neighbourhood holds."""
    before, after = text.rfind("\n\n", 0, place.start), text.find("\n\n", place.end)
    start = 0 if before < 0 else before + 2
    end = len(text) if after < 0 else after
    return max(start, place.start - AROUND), min(end, place.end + AROUND)
