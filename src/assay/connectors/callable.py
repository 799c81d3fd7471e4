"""Any Python callable ``search(query, k) -> hits`` as a retriever.

>>> from assay.model.golden import Query
>>> def search(query, k):
...     return [("guide.md#0-12", 0.9), ("guide.md#12-30", 0.4)][:k]
>>> found = CallableRetriever(search).retrieve([Query(id="q1", text="pump")], k=1)
>>> [found.chunks.ids[chunk] for chunk in found.stages[-1].chunks]
['guide.md#0-12']
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

from assay.connectors.calls import Done, call_all, call_batches
from assay.connectors.collector import collect
from assay.connectors.frameworks import adapt
from assay.connectors.hits import USUAL, HitForm
from assay.connectors.protocol import Search, SearchBatch
from assay.connectors.recording import RecordedSearch, Recording
from assay.model.errors import ConfigError, Fault, nearest
from assay.model.golden import Query
from assay.model.runs import Retrieved

METHODS = ("search", "retrieve")
"""Methods that are called where an object is not callable itself."""


class CallableRetriever:
    """A callable, an object with a ``search`` or ``retrieve`` method, or ``"package.module:attribute"``.

    Args:
        target: what is called, or where it is.
        folder: where the module is looked for first (the project's folder).
        concurrency: how many calls may run at a time; the results do not depend on it.
        timeout_s: seconds after which a call has failed; None: no limit.
        form: where the fields of its hits are, when their names do not say it.
        batch: queries a call; above 1 the target needs a method ``search_batch(queries, k)``.
        recording: where replies are kept, and answered from.

    Raises:
        ConfigError: it cannot be found or cannot be called as ``search(query, k)``; the fault says how to
            mend it.
    """

    def __init__(
        self,
        target: object,
        *,
        folder: str | Path | None = None,
        concurrency: int = 1,
        timeout_s: float | None = None,
        form: HitForm = USUAL,
        batch: int = 1,
        recording: Recording | None = None,
    ) -> None:
        faults = [
            Fault(where="retriever", what=what)
            for wrong, what in (
                (concurrency < 1, f"concurrency must be at least 1, not {concurrency}"),
                (batch < 1, f"batch must be at least 1, not {batch}"),
                (timeout_s is not None and timeout_s <= 0, f"timeout_s must be above 0, not {timeout_s}"),
            )
            if wrong
        ]
        if faults:
            raise ConfigError(faults)
        self.name = target if isinstance(target, str) else _name_of(target)
        found = load(target, folder=folder) if isinstance(target, str) else target
        self.search = as_search(found, self.name)
        self.search_batch = _batch_of(found, self.name) if batch > 1 else None
        self.batch = batch
        self.embeds = False
        self.form = form
        self.recording = recording
        if recording is not None:
            self.search = RecordedSearch(self.search, recording, form)
            self.search_batch = None
        self.concurrency = concurrency
        self.timeout_s = timeout_s

    def retrieve(self, queries: Sequence[Query], *, k: int, on_done: Done | None = None) -> Retrieved:
        """Search for every query; failures and time-outs are recorded for their query.

        Args:
            queries: what is asked.
            k: how many hits are asked for.
            on_done: told how many queries are done.

        Raises:
            RetrieverError: every query failed.
        """
        texts = [query.text for query in queries]
        calling = _Calling(concurrency=self.concurrency, timeout_s=self.timeout_s, on_done=on_done)
        if self.search_batch is not None:
            outcomes = call_batches(self.search_batch, texts, k, size=self.batch, **calling)
        else:
            outcomes = call_all(self.search, texts, k, **calling)
        if self.recording is not None:
            self.recording.settle()
        return collect([query.id for query in queries], outcomes, k, form=self.form)


class _Calling(TypedDict):
    concurrency: int
    timeout_s: float | None
    on_done: Done | None


def load(place: str, *, folder: str | Path | None = None) -> object:
    """Import what ``"package.module:attribute"`` names.

    Args:
        place: module, colon, attribute (dots reach into it).
        folder: where the module is looked for first.

    Raises:
        ConfigError: there is no such module or attribute, or the module fails while it is imported.

    >>> load("json:loads").__name__
    'loads'
    """
    module_name, colon, attribute = place.partition(":")
    if not (module_name and colon and attribute):
        raise _fault(place, "this is not a place in Python", 'write "package.module:attribute"')
    with _found_first(folder):
        try:
            target: object = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
                fix = "run from the folder that holds it, or install it"
                raise _fault(place, f"there is no module {error.name!r}", fix) from error
            raise _fault(
                place, f"{module_name} needs {error.name!r}, which is missing", f"pip install {error.name}"
            ) from error
        except Exception as error:
            what = f"{module_name} fails when it is imported: {type(error).__name__}: {error}"
            raise _fault(place, what, f"python -c 'import {module_name}' shows where") from error
    for name in attribute.split("."):
        try:
            target = getattr(target, name)
        except AttributeError as error:
            close = nearest(name, [known for known in dir(target) if not known.startswith("_")])
            fix = f"did you mean {close!r}?" if close else f"name what {module_name} defines"
            raise _fault(place, f"there is no {name!r} in {module_name}", fix) from error
    return target


def as_search(target: object, name: str) -> Search:
    """Return the callable of a target, called as ``search(query, k)``; objects of frameworks are adapted.

    Raises:
        ConfigError: the target is a class, is not callable, or does not take a query and k.
    """
    if inspect.isclass(target):
        raise _fault(
            name, "this is a class", "name an object of it, or a function that makes one and searches"
        )
    adapted = adapt(target, name)
    if adapted is not None:
        return adapted
    if not callable(target):
        method = next((method for method in METHODS if callable(getattr(target, method, None))), None)
        if method is None:
            what = f"this is {type(target).__name__}, which cannot be called"
            raise _fault(name, what, "name a function search(query, k), or an object with such a method")
        target = getattr(target, method)
    search = cast("Search", target)
    try:
        signature = inspect.signature(search)
    except (TypeError, ValueError):  # built-in functions may have none
        return search
    try:
        signature.bind("", 1)
    except TypeError:
        return _by_keyword(search, signature, name)
    return search


def _batch_of(target: object, name: str) -> SearchBatch:
    method = getattr(target, "search_batch", None)
    if not callable(method):
        raise _fault(name, "it has no method search_batch(queries, k)", "batch = 1, or write that method")
    return cast("SearchBatch", method)


@dataclass(frozen=True, slots=True)
class _KeywordSearch:
    """A search whose k has to be given by name."""

    search: Callable[..., object]
    keyword: str

    def __call__(self, query: str, k: int, /) -> object:
        return self.search(query, **{self.keyword: k})


def _by_keyword(search: Callable[..., object], signature: inspect.Signature, name: str) -> Search:
    """Return a search for a function that takes k by keyword only, or under another name."""
    for keyword in ("k", "top_k", "limit", "n"):
        try:
            signature.bind("", **{keyword: 1})
        except TypeError:
            continue
        return _KeywordSearch(search, keyword)
    what = f"it takes {signature}, and is called as search(query, k)"
    raise _fault(name, what, "def search(query: str, k: int) -> list")


@contextmanager
def _found_first(folder: str | Path | None) -> Generator[None]:
    """Look for modules in a folder before anywhere else."""
    if folder is None:
        yield
        return
    entry = str(Path(folder).resolve())
    sys.path.insert(0, entry)
    try:
        importlib.invalidate_caches()
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)


def _fault(place: str, what: str, fix: str | None) -> ConfigError:
    return ConfigError(Fault(where=f"retriever {place!r}", what=what, fix=fix))


def _name_of(target: object) -> str:
    return str(getattr(target, "__name__", None) or type(target).__name__)
