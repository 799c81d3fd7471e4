"""A corpus and a run in which every miss was planted: for each, what is wrong is known beforehand.

Each topic has a page of its own with eight invented words per part, so that which words are shared, and where
they stand, is exact. k = 2, the pool holds 5, the lists hold 10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from assay.diagnosis.cases import Library
from assay.diagnosis.losses import find_losses
from assay.matching import find_relevance
from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.runs import Run
from planted import planted_run

K, POOL, LISTS = 2, 5, 10
_ONSETS, _VOWELS, _ENDS = "bdfgklmnprtvz", "aou", "bdgkmnp"


def invented(number: int) -> str:
    """Return the word of a number: no two are alike, and none is English."""
    word = ""
    for place in range(3):
        number, at = divmod(number, len(_ONSETS))
        word += _ONSETS[at] + _VOWELS[(at + place) % len(_VOWELS)]
    return word + _ENDS[number % len(_ENDS)]


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A page: heading, a paragraph before, the paragraph with the anchor, one after."""

    number: int

    def words(self, part: int) -> list[str]:
        return [invented(self.number * 64 + part * 8 + at) for at in range(8)]

    @property
    def doc_id(self) -> str:
        return f"topic-{self.number}.md"

    @property
    def anchor(self) -> str:
        return " ".join(self.words(2))

    @property
    def paragraphs(self) -> list[str]:
        heading = f"# {' '.join(self.words(0)[:4])}"
        return [heading, f"{' '.join(self.words(1))}.", f"{self.anchor}.", f"{' '.join(self.words(3))}."]

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)

    def chunk(self, part: int) -> str:
        """Return the id of the chunk that is one paragraph."""
        start = sum(len(one) + 2 for one in self.paragraphs[:part])
        return f"{self.doc_id}#{start}-{start + len(self.paragraphs[part])}"

    @property
    def halves(self) -> tuple[str, str]:
        """Return two chunks that cut the anchor in the middle."""
        start = sum(len(one) + 2 for one in self.paragraphs[:2])
        middle = start + len(" ".join(self.words(2)[:4]))
        end = start + len(self.paragraphs[2])
        return f"{self.doc_id}#0-{middle}", f"{self.doc_id}#{middle + 1}-{end}"


@dataclass(frozen=True, kw_only=True)
class Planted:
    """One planted miss: what stages gave, and what a diagnosis has to say."""

    name: str
    topic: Topic
    query: str
    kind: str | None
    lost_at: str
    fix: str | None = None
    """None: any."""
    stages: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    deep: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    extra: tuple[Document, ...] = ()
    anchor: str | None = None


def filler(count: int, start: int = 0) -> list[str]:
    """Return ids of chunks that have nothing to do with anything."""
    return [f"filler-{number}.md#0-{len(_filler_text(number))}" for number in range(start, start + count)]


def _filler_text(number: int) -> str:
    return " ".join(invented(9000 + number * 8 + at) for at in range(8))


def lists(
    gold: str,
    *,
    vector: int | None,
    fulltext: int | None,
    pool: int | None,
    reranked: int | None = 0,
    diverse: int | None = 0,
    top: tuple[str, ...] = (),
) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """Put the gold chunk at those ranks: None is nowhere, 0 for a stage that leaves the order alone."""
    stages: dict[str, list[str]] = {}
    deep: dict[str, dict[str, int]] = {}
    reranked = pool if reranked == 0 else reranked
    diverse = reranked if diverse == 0 else diverse
    sizes = {"vector": LISTS, "fulltext": LISTS, "pool": POOL, "reranked": POOL, "diverse": POOL, "final": K}
    ranks = {
        "vector": vector, "fulltext": fulltext, "pool": pool,
        "reranked": reranked, "diverse": diverse, "final": diverse,
    }  # fmt: skip
    for name, size in sizes.items():
        rank = ranks[name]
        held = [*top, *filler(size)][:size]
        if rank is not None and rank <= size:
            held = [*held[: rank - 1], gold, *held[rank - 1 :]][:size]
        elif rank is not None and name in ("vector", "fulltext", "pool"):
            deep[name] = {gold: rank}
        stages[name] = held
    return stages, deep


def _gap(topic: Topic) -> Planted:
    """No list reaches it, and query and page share no word."""
    stages, deep = lists(topic.chunk(2), vector=8412 if topic.number % 2 else None, fulltext=None, pool=None)
    return Planted(
        name="gap", topic=topic, query=" ".join(topic.words(6)[:5]), kind="vocabulary-gap",
        fix="better-embedder", lost_at="pool cut" if topic.number % 2 else "first stage",
        stages=stages, deep=deep,
    )  # fmt: skip


def _severed(topic: Topic) -> Planted:
    """The cut goes through the anchor."""
    stages, _ = lists(topic.halves[0], vector=1, fulltext=1, pool=1)
    stages["vector"][-1] = topic.halves[1]
    return Planted(
        name="severed", topic=topic, query=" ".join(topic.words(2)[:3]), kind="chunk-boundary",
        fix="smaller-chunks", lost_at="cut by the chunker", stages=stages,
    )  # fmt: skip


def _heading(topic: Topic) -> Planted:
    """The words that would have matched stand in the heading."""
    stages, deep = lists(topic.chunk(2), vector=40, fulltext=None, pool=None)
    return Planted(
        name="heading", topic=topic, query=" ".join([*topic.words(0)[:3], topic.words(2)[0]]),
        kind="chunk-boundary", fix="contextual-chunk-headers", lost_at="pool cut", stages=stages, deep=deep,
    )  # fmt: skip


def _neighbour(topic: Topic) -> Planted:
    """The words that would have matched stand in the paragraph before."""
    stages, deep = lists(topic.chunk(2), vector=40, fulltext=90, pool=60)
    return Planted(
        name="neighbour", topic=topic, query=" ".join([*topic.words(1)[:3], topic.words(2)[0]]),
        kind="chunk-boundary", fix="smaller-chunks", lost_at="pool cut", stages=stages, deep=deep,
    )  # fmt: skip


def _split_ranking(topic: Topic) -> Planted:
    """One list has it on top, the fused list below its size."""
    first = topic.number % 2
    stages, deep = lists(
        topic.chunk(2), vector=1 if first else 300, fulltext=300 if first else 2, pool=POOL + 3
    )
    return Planted(
        name="split", topic=topic, query=" ".join(topic.words(2)[:4]), kind="ranking", fix="hybrid-weights",
        lost_at="fusion", stages=stages, deep=deep,
    )  # fmt: skip


def _low_ranking(topic: Topic) -> Planted:
    """It was in the pool, and too low."""
    stages, deep = lists(topic.chunk(2), vector=5, fulltext=6, pool=4, reranked=3)
    return Planted(
        name="low", topic=topic, query=" ".join(topic.words(2)[:4]), kind="ranking", fix="hybrid-weights",
        lost_at="final cut", stages=stages, deep=deep,
    )  # fmt: skip


def _demoted(topic: Topic) -> Planted:
    """Fusion had it within the cut; the reranker put it below, or dropped it."""
    stages, deep = lists(
        topic.chunk(2), vector=1, fulltext=2, pool=1, reranked=4 if topic.number % 2 else None
    )
    return Planted(
        name="demoted", topic=topic, query=" ".join(topic.words(2)[:4]), kind="reranker-demotion",
        lost_at="reranker", stages=stages, deep=deep,
    )  # fmt: skip


def _twin(topic: Topic) -> Planted:
    """The same phrase stands in another document, and that one is in the prompt."""
    copy = Document(id=f"copy-{topic.number}.md", text=f"{topic.anchor} {' '.join(topic.words(5))}.")
    hit = f"{copy.id}#0-{len(copy.text)}"
    stages, deep = lists(topic.chunk(2), vector=5, fulltext=5, pool=4, top=(hit,))
    return Planted(
        name="twin", topic=topic, query=" ".join(topic.words(2)[:4]), kind="anchor-ambiguity",
        lost_at="final cut", stages=stages, deep=deep, extra=(copy,),
    )  # fmt: skip


def _likeness(topic: Topic) -> Planted:
    """Another document says it in another order, with a word more and one less."""
    said = [*reversed(topic.words(2)[1:]), topic.words(5)[0]]
    other = Document(id=f"other-{topic.number}.md", text=f"{' '.join(said)} {' '.join(topic.words(4))}.")
    hit = f"{other.id}#0-{len(other.text)}"
    stages, deep = lists(topic.chunk(2), vector=5, fulltext=5, pool=1, reranked=4, top=(hit,))
    return Planted(
        name="likeness", topic=topic, query=" ".join(topic.words(2)[:4]), kind="anchor-ambiguity",
        lost_at="reranker", stages=stages, deep=deep, extra=(other,),
    )  # fmt: skip


def _unexplained(topic: Topic) -> Planted:
    """Query and chunk share every word, and still no list comes near: no rule speaks of that."""
    stages, deep = lists(topic.chunk(2), vector=40, fulltext=50, pool=44)
    return Planted(
        name="unexplained", topic=topic, query=" ".join(topic.words(2)[:4]), kind=None, lost_at="pool cut",
        stages=stages, deep=deep,
    )  # fmt: skip


def _diversity(topic: Topic) -> Planted:
    """It was within the cut until the list was made diverse."""
    stages, deep = lists(topic.chunk(2), vector=1, fulltext=1, pool=1, diverse=4)
    return Planted(
        name="diversity", topic=topic, query=" ".join(topic.words(2)[:4]), kind=None, lost_at="diversity",
        stages=stages, deep=deep,
    )  # fmt: skip


def _stale(topic: Topic) -> Planted:
    """The anchor stands in no document any more."""
    stages, _ = lists(topic.chunk(1), vector=1, fulltext=1, pool=1)
    return Planted(
        name="stale", topic=topic, query=" ".join(topic.words(6)[:4]), kind=None, lost_at="stale label",
        stages=stages, anchor=" ".join(topic.words(7)),
    )  # fmt: skip


MAKERS: tuple[Callable[[Topic], Planted], ...] = (
    _gap, _severed, _heading, _neighbour, _split_ranking, _low_ranking, _demoted, _twin, _likeness,
    _unexplained, _diversity, _stale,
)  # fmt: skip


def plant(each: int = 5) -> list[Planted]:
    """Plant every kind of miss so many times, each on a page of its own."""
    makers = [maker for maker in MAKERS for _ in range(each)]
    return [maker(Topic(number=number)) for number, maker in enumerate(makers)]


def library_of(planted: list[Planted]) -> tuple[Library, Run]:
    """Return the library and the run of planted misses."""
    documents = [Document(id=one.topic.doc_id, text=one.topic.text) for one in planted]
    documents += [document for one in planted for document in one.extra]
    documents += [Document(id=f"filler-{n}.md", text=_filler_text(n)) for n in range(LISTS)]
    golden = GoldenSet(
        name="planted",
        queries=tuple(
            Query(
                id=f"{one.name}-{one.topic.number}",
                text=one.query,
                kind=one.name,
                anchors=(Anchor(id="a1", doc_id=one.topic.doc_id, quote=one.anchor or one.topic.anchor),),
            )
            for one in planted
        ),
    )
    ids = [query.id for query in golden.queries]
    names = ("vector", "fulltext", "pool", "reranked", "diverse", "final")
    # Every page's chunks are in the index: those that no list holds are known by a rank far down.
    run = planted_run(
        {name: {query: one.stages[name] for query, one in zip(ids, planted, strict=True)} for name in names},
        k=K,
        deep={
            name: {query: one.deep.get(name, {}) for query, one in zip(ids, planted, strict=True)}
            for name in names
        },
        index=[
            chunk
            for one in planted
            for chunk in (
                one.topic.halves if one.name == "severed" else [one.topic.chunk(part) for part in range(4)]
            )
        ],
    )
    relevance = find_relevance(golden, documents, run.chunks)
    return Library(run, relevance, golden, documents), run


def losses_of(library: Library):
    return find_losses(library.run, library.relevance)
