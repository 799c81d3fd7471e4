"""Splitters of other packages by name: their cuts, our places.

A splitter says what its chunks are; where they stand is found in the document (its own offsets are believed
only when they fit). A chunk that cannot be located is an error: its labels could only be guessed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import logging
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any

from assay.corpus.chunkers.chunker import SpanChunker
from assay.corpus.chunkers.locating import locate
from assay.corpus.chunkers.settings import ChunkerSettings, read_settings
from assay.corpus.chunkers.spans import Span
from assay.corpus.tokens import COUNTERS, token_counter
from assay.corpus.vocabularies import vocabulary_path
from assay.model.documents import Document
from assay.model.errors import ConfigError, Fault, InputError, MissingExtraError, nearest

Foreign = Any
"""An object of another package, which has no types of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One chunk as its splitter gave it."""

    text: str
    start: int | None = None
    """Where the splitter says that it begins; None when it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package of splitters."""

    module: str
    distribution: str
    method: str
    """The method that makes a class a splitter."""
    split: Callable[[Foreign, str], Iterable[Piece]]
    counting: Callable[[str], Mapping[str, object]] | None = None
    """Turns the name of a token counter into the splitter's own options; None: it has its own way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSettings(ChunkerSettings):
    """Settings of a foreign splitter: its own options beside ours."""

    counter: str | None = None
    """What its sizes count: one of Assay's token counters; None: as the splitter does by itself."""
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """What its constructor is given."""

    def faults(self) -> Iterator[tuple[str, str]]:
        if self.counter is not None and self.counter not in COUNTERS:
            yield "counter", f"must be one of {', '.join(COUNTERS)}, not {self.counter!r}"


class ForeignChunker(SpanChunker[ForeignSettings]):
    """The chunks of another package's splitter, each at its place in the document."""

    settings_type = ForeignSettings

    def __init__(self, settings: ForeignSettings, *, name: str, package: Package, splitter: object) -> None:
        super().__init__(settings)
        self.name = name
        self._package = package
        self._splitter = splitter

    def spans(self, document: Document) -> Iterable[Span]:
        pieces = [piece for piece in self._package.split(self._splitter, document.text) if piece.text.strip()]
        places = [_as_said(document.text, piece) for piece in pieces]
        if all(place is not None for place in places):
            return sorted(place for place in places if place is not None)
        located = locate(document.text, [piece.text for piece in pieces])
        if located.missing:
            raise InputError([self._fault(document, number, pieces) for number in located.missing])
        return located.spans

    def describe(self) -> Mapping[str, object]:
        """Return name, settings and the package's version, with which its cuts may change."""
        version = importlib.metadata.version(self._package.distribution)
        return {"name": self.name, "settings": self.settings.plain(), "version": version}

    def _fault(self, document: Document, number: int, pieces: Sequence[Piece]) -> Fault:
        start = " ".join(pieces[number].text.split())[:60]
        return Fault(
            where=document.id,
            what=f"chunk {number + 1} of {len(pieces)} by {self.name} does not stand in the document "
            f"after the chunks before it: {start!r}",
            fix="choose a splitter, or options, that leave the text as it is",
        )


def make_foreign(name: str, settings: Mapping[str, object], *, where: str) -> ForeignChunker:
    """Return a chunker that cuts as ``langchain:``, ``chonkie:`` or ``llama-index:`` and a class name say.

    Raises:
        ConfigError: there is no such package or splitter, or it refuses its options.
        MissingExtraError: the package is not installed.
    """
    prefix, _, class_name = name.partition(":")
    package = PACKAGES.get(prefix)
    if package is None:
        raise ConfigError(
            Fault(where=where, what=f"no package of splitters is called {prefix!r}", fix=_like(prefix))
        )
    splitter_type = _splitter_type(name, class_name, package, where)
    ours = {key: value for key, value in settings.items() if key in {"context", "counter"}}
    options = {key: value for key, value in settings.items() if key not in ours}
    read = read_settings(ForeignSettings, {**ours, "options": options}, where=where)
    counting: Mapping[str, object] = {}
    if read.counter is not None:
        if package.counting is None:
            fix = "it has its own setting for this: tokenizer"
            raise ConfigError(Fault(where=f"{where} counter", what=f"{prefix} takes no counter", fix=fix))
        counting = package.counting(read.counter)
    _check_options(splitter_type, options, where)
    try:
        with _vocabulary_at_hand():
            splitter = splitter_type(**options, **counting)
    except Exception as error:
        told = " ".join(str(error).split())[:300] or type(error).__name__
        raise ConfigError(
            Fault(
                where=where,
                what=f"{class_name} refuses its settings: {told}",
                fix=f"the documentation of {class_name} says what it takes",
            )
        ) from error
    return ForeignChunker(read, name=name, package=package, splitter=splitter)


def _like(prefix: str) -> str:
    like = nearest(prefix, list(PACKAGES))
    return f"did you mean {like}:...?" if like else f"there are: {', '.join(PACKAGES)}"


def _splitter_type(name: str, class_name: str, package: Package, where: str) -> Callable[..., object]:
    try:
        module = importlib.import_module(package.module)
    except ImportError:
        raise MissingExtraError(f"chunker {name!r}", package=package.distribution, extra="chunkers") from None
    known = _splitters(module, package.method)
    if class_name not in known:
        like = nearest(class_name, list(known))
        fix = f"did you mean {like!r}?" if like else f"there are: {', '.join(sorted(known))}"
        raise ConfigError(
            Fault(where=where, what=f"{package.distribution} has no splitter called {class_name!r}", fix=fix)
        )
    return known[class_name]


def _splitters(module: ModuleType, method: str) -> dict[str, Callable[..., object]]:
    known: dict[str, Callable[..., object]] = {}
    for name in dir(module):
        kind = getattr(module, name, None)
        if inspect.isclass(kind) and hasattr(kind, method) and not inspect.isabstract(kind):
            known[name] = kind
    return known


def _check_options(splitter_type: Callable[..., object], options: Mapping[str, object], where: str) -> None:
    """Report options that no constructor of the class's line takes, each with the nearest name."""
    known: set[str] = set()
    for kind in inspect.getmro(splitter_type) if inspect.isclass(splitter_type) else ():
        if "__init__" in vars(kind) or kind is splitter_type:
            known.update(inspect.signature(kind).parameters)
    known -= {"self", "args", "kwargs"}
    faults: list[Fault] = []
    for key in options:
        if key not in known:
            like = nearest(key, sorted(known))
            fix = f"did you mean {like!r}?" if like else f"there are: {', '.join(sorted(known))}"
            faults.append(Fault(where=where, what=f"no setting is called {key!r}", fix=fix))
    if faults:
        raise ConfigError(faults)


def _as_said(text: str, piece: Piece) -> Span | None:
    """Return the splitter's own place where it holds: some count bytes, some search from the start."""
    if piece.start is None or piece.start < 0:
        return None
    end = piece.start + len(piece.text)
    return (piece.start, end) if text[piece.start : end] == piece.text else None


@contextmanager
def _vocabulary_at_hand() -> Generator[None]:
    """Let tiktoken find a vocabulary that is on this machine already, instead of downloading it."""
    path = vocabulary_path()
    if path is None or os.environ.get("TIKTOKEN_CACHE_DIR"):
        yield
        return
    os.environ["TIKTOKEN_CACHE_DIR"] = str(path.parent)
    try:
        yield
    finally:
        os.environ.pop("TIKTOKEN_CACHE_DIR", None)


def _split_langchain(splitter: Foreign, text: str) -> Iterator[Piece]:
    # It warns of each long chunk on the log; ours are counted once, in a notice.
    logging.getLogger("langchain_text_splitters").setLevel(logging.ERROR)
    for one in splitter.split_text(text):
        # Header splitters give documents, the others plain texts. Their start_index is a search: not used.
        yield Piece(text=one if isinstance(one, str) else one.page_content)


def _split_chonkie(splitter: Foreign, text: str) -> Iterator[Piece]:
    for one in splitter.chunk(text):
        yield Piece(text=one.text, start=one.start_index)


def _split_llama_index(splitter: Foreign, text: str) -> Iterator[Piece]:
    from llama_index.core.schema import Document as Page  # noqa: PLC0415 - an optional package

    for node in splitter.get_nodes_from_documents([Page(text=text)]):
        yield Piece(text=node.text)


def _count_for_langchain(counter: str) -> Mapping[str, object]:
    return {"length_function": token_counter(counter).count}


def _count_for_llama_index(counter: str) -> Mapping[str, object]:
    def tokens(text: str) -> list[int]:
        return list(token_counter(counter).spans(text).starts)

    return {"tokenizer": tokens}


PACKAGES: Mapping[str, Package] = MappingProxyType(
    {
        "langchain": Package(
            module="langchain_text_splitters",
            distribution="langchain-text-splitters",
            method="split_text",
            split=_split_langchain,
            counting=_count_for_langchain,
        ),
        "chonkie": Package(module="chonkie", distribution="chonkie", method="chunk", split=_split_chonkie),
        "llama-index": Package(
            module="llama_index.core.node_parser",
            distribution="llama-index-core",
            method="get_nodes_from_documents",
            split=_split_llama_index,
            counting=_count_for_llama_index,
        ),
    }
)
"""Packages of splitters, by the prefix that settings use."""
