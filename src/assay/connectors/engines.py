"""What the connectors of engines share: their lists become stages, and ``assay index`` can fill them.

An engine gives a vector list, a full-text list, or both; each is a stage of the trace, ``pool`` is what they
are fused into, and ``final`` is what the prompt gets. The query's vector comes from the project's embedder.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeVar

import msgspec
from msgspec import Meta

from assay.connectors.callable import CallableRetriever
from assay.connectors.calls import Done
from assay.connectors.fusing import fuse
from assay.connectors.hits import FINAL, HitForm, RawHit, read_hit
from assay.connectors.kinds import Connected, Connector, ConnectorSettings, Surroundings
from assay.connectors.protocol import Embed
from assay.connectors.recording import Recording
from assay.model.errors import ConfigError, Fault
from assay.model.golden import Query
from assay.model.runs import Retrieved

ListName = Literal["vector", "fulltext"]
_WORD = re.compile(r"\w+")
C = TypeVar("C", bound="Closing")
S = TypeVar("S", bound="EngineSettings")

COLUMNS = ("chunk_id", "doc_id", "start", "end", "text")
"""What ``assay index`` keeps of a chunk for its hits; ``searched`` and ``embedding`` are searched."""


class EngineSettings(ConnectorSettings, frozen=True, kw_only=True):
    """The settings of every engine."""

    url: str
    """Where it is: a file or folder relative to ``assay.toml``, or an address; ``${NAME}`` is replaced."""
    table: str = "assay_chunks"
    """The table, collection or index."""
    lists: list[ListName] | None = None
    """What is searched; None: all that the engine has."""
    depth: Annotated[int, Meta(ge=1)] = 50
    """How long each list is: what fusion sees."""
    fusion: Literal["rrf", "engine"] | None = None
    """``engine``: the engine's own hybrid search; None: that where it has one, else ``rrf``."""
    k_rrf: Annotated[float, Meta(ge=0)] = 60.0
    """How much less the top of a list counts in the fusion than it would alone."""
    vector_field: str = "embedding"
    """The column or field of the vectors."""
    fulltext_field: str = "searched"
    """The column or field whose words are searched."""

    def columns(self) -> tuple[str, ...]:
        """Return the columns of a hit: those that ``fields`` names, or those that ``assay index`` makes."""
        named = msgspec.structs.asdict(self.fields)
        given = tuple(dict.fromkeys(name for key, name in named.items() if name and key != "score"))
        return given or COLUMNS


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One chunk as it is put into an engine."""

    key: str
    """Content address, in the form of a UUID: the same chunk is the same row, however often it is put in."""
    chunk_id: str
    doc_id: str
    start: int
    end: int
    text: str
    searched: str
    """The text with its context: what full-text search sees."""
    embedding: list[float]

    def fields(self) -> dict[str, Any]:
        """Return what is kept beside the key and the vector."""
        names = (*COLUMNS, "searched")
        return {name: getattr(self, name) for name in names}


Found = Sequence[Mapping[str, Any]]
"""One list of an engine: the columns of each hit and its ``score``, best first."""


class Engine(ABC):
    """One engine, opened: what is asked of it, and how it is filled."""

    lists: ClassVar[tuple[ListName, ...]] = ("vector", "fulltext")
    fuses: bool = False
    """Whether it has a hybrid search of its own."""
    fuses_unasked: bool = True
    """Whether that is used where the settings do not say."""
    least_k_rrf: ClassVar[int | None] = None
    """The least ``k_rrf`` that it takes, in whole numbers; None: it fuses without."""
    recording: Recording | None = None
    """Where its answers are recorded, for engines that are asked by HTTP."""

    def by_vector(self, vector: Sequence[float], depth: int) -> Found:
        """Return the nearest chunks, by cosine."""
        raise NotImplementedError

    def by_text(self, text: str, depth: int) -> Found:
        """Return the chunks that share words with a text."""
        raise NotImplementedError

    def by_both(self, text: str, vector: Sequence[float], depth: int) -> Found:
        """Return the engine's own fusion of both."""
        raise NotImplementedError

    @abstractmethod
    def create(self, dimensions: int) -> None:
        """Make the table, if it is not there."""

    @abstractmethod
    def keys(self) -> set[str]:
        """Return the keys of all rows."""

    @abstractmethod
    def add(self, rows: Sequence[Row]) -> None:
        """Put rows in; they are there for good when this returns."""

    @abstractmethod
    def remove(self, keys: Sequence[str]) -> None:
        """Take rows out."""

    def finish(self) -> None:  # noqa: B027 - most engines need nothing
        """Do what an index needs once all rows are in."""

    def close(self) -> None:  # noqa: B027 - as above
        """Let go of connections and files; the next question opens them again."""


class EngineSearch:
    """An engine as ``search(query, k)``.

    Args:
        engine: the engine.
        settings: what is searched, how deep, how it is fused.
        embed: makes the vector of a query.

    Raises:
        ConfigError: a list is asked for that the engine has not, or no embedder is at hand.
    """

    def __init__(self, engine: Engine, settings: EngineSettings, embed: Embed | None) -> None:
        self.engine, self.settings, self.embed = engine, settings, embed
        self.lists = tuple(settings.lists or engine.lists)
        where = "[retriever] lists"
        faults = [
            Fault(
                where=where, what=f"{settings.type} has no {name} list", fix=f"lists = {list(engine.lists)}"
            )
            for name in self.lists
            if name not in engine.lists
        ]
        if "vector" in self.lists and embed is None:
            fix = 'embed=..., or lists = ["fulltext"]' if "fulltext" in engine.lists else "embed=..."
            faults.append(Fault(where=where, what="the vector list needs an embedder", fix=fix))
        if settings.fusion == "engine" and not engine.fuses:
            what = f"{settings.type} has no fusion of its own"
            faults.append(Fault(where="[retriever] fusion", what=what, fix='fusion = "rrf"'))
        self.own = len(self.lists) > 1 and (
            settings.fusion == "engine" or (settings.fusion is None and engine.fuses and engine.fuses_unasked)
        )
        least, k_rrf = engine.least_k_rrf, settings.k_rrf
        if self.own and least is not None and (k_rrf < least or not k_rrf.is_integer()):
            what = f"{settings.type} fuses with a whole number from {least}, not {k_rrf:g}"
            fix = f'k_rrf = {max(least, int(k_rrf))}, or fusion = "rrf"'
            faults.append(Fault(where="[retriever] k_rrf", what=what, fix=fix))
        if faults:
            raise ConfigError(faults)
        self.form = HitForm(**msgspec.structs.asdict(settings.fields), strip_prefix=settings.strip_prefix)
        self._vectors: dict[str, list[float]] = {}

    def prepare(self, texts: Sequence[str]) -> None:
        """Make the vectors of all queries at once."""
        if "vector" in self.lists and self.embed is not None and texts:
            rows = self.embed(list(texts))
            self._vectors = {text: row.tolist() for text, row in zip(texts, rows, strict=True)}

    def __call__(self, query: str, k: int, /) -> object:
        """Return each list, the pool and the final list."""
        depth = max(self.settings.depth, k)
        vector = self._vector_of(query)
        lists: dict[str, list[RawHit]] = {}
        if "vector" in self.lists:
            # A text without a word has no direction: nothing is near it.
            near = self.engine.by_vector(vector, depth) if any(vector) else ()
            lists["vector"] = [read_hit(hit, self.form) for hit in near]
        if "fulltext" in self.lists:
            lists["fulltext"] = [read_hit(hit, self.form) for hit in self.engine.by_text(query, depth)]
        if len(lists) == 1:
            (only,) = lists.values()
            return {**lists, FINAL: only[:k]}
        if self.own and any(vector):
            pool = [read_hit(hit, self.form) for hit in self.engine.by_both(query, vector, depth)]
        else:
            pool = fuse(list(lists.values()), k_rrf=self.settings.k_rrf)
        return {**lists, "pool": pool, FINAL: pool[:k]}

    def _vector_of(self, query: str) -> list[float]:
        if "vector" not in self.lists or self.embed is None:
            return []
        known = self._vectors.get(query)
        return self.embed([query])[0].tolist() if known is None else known


class EngineRetriever(CallableRetriever):
    """An engine as a connector.

    Args:
        search: the engine's search.
        recording: where replies are kept, unless the engine records its own answers.
    """

    def __init__(self, search: EngineSearch, recording: Recording | None) -> None:
        own = search.engine.recording
        super().__init__(
            search,
            concurrency=search.settings.concurrency,
            timeout_s=None if own is not None else search.settings.timeout_s,
            form=search.form,
            recording=None if own is not None else recording,
        )
        self.name = f"{search.settings.type} {search.settings.table}"
        self.engine_search = search
        self.embeds = "vector" in search.lists

    def retrieve(self, queries: Sequence[Query], *, k: int, on_done: Done | None = None) -> Retrieved:
        """Embed every query, ask for each, and put the recording in order."""
        self.engine_search.prepare([query.text for query in queries])
        try:
            return super().retrieve(queries, k=k, on_done=on_done)
        finally:
            own = self.engine_search.engine.recording
            if own is not None:
                own.settle()
            self.engine_search.engine.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind(Connector, Generic[S]):
    """A connector that ``assay index`` can fill."""

    open: Callable[[S, Surroundings], Engine]


def engine_kind(settings: type[S], open_engine: Callable[[S, Surroundings], Engine]) -> EngineKind[S]:
    """Return the connector of an engine."""

    def make(values: S, around: Surroundings) -> Connected:
        engine = open_engine(values, around)
        recording = values.recording_in(around.folder) if engine.recording is None else None
        return EngineRetriever(EngineSearch(engine, values, around.embed), recording)

    return EngineKind(settings=settings, make=make, open=open_engine)


class Closing(Protocol):
    """Something that can be closed."""

    def close(self) -> object: ...


class Pool(Generic[C]):
    """Connections that are used by one thread at a time, made when all others are busy.

    Args:
        make: opens one.
    """

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._idle: list[C] = []
        self._guard = threading.Lock()

    @contextmanager
    def one(self) -> Generator[C]:
        """Lend a connection; one that failed is not lent again."""
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        connection = self._make() if connection is None else connection
        yield connection
        with self._guard:
            self._idle.append(connection)

    def close(self) -> None:
        """Close what is idle."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        self.close()


def path_of(url: str, around: Surroundings) -> str:
    """Return the file or folder that a URL names, relative to the project's folder; ``:memory:`` stays.

    >>> from pathlib import Path
    >>> path_of("sqlite:///index.db", Surroundings(folder=Path("shop")))
    'shop/index.db'
    >>> path_of("sqlite:////srv/index.db", Surroundings(folder=Path("shop")))
    '/srv/index.db'
    """
    scheme, mark, rest = url.partition("://")
    path = rest.removeprefix("/") if mark else scheme
    return path if path == ":memory:" else str(around.folder / path)


def plain_words(text: str) -> list[str]:
    """Return the words of a query in lower case, without anything that an engine's grammar could mean.

    >>> plain_words('E1207 AND (card OR "E1207")')
    ['e1207', 'and', 'card', 'or']
    """
    return list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))


def quoted(name: str) -> str:
    """Return a name of SQL in quotes.

    >>> quoted('my"table')
    '"my""table"'
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
