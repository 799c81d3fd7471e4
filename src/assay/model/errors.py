"""The error tree.

::

    AssayError                 every error that Assay raises on purpose; carries its exit code
    ├── InputError             a file, a value or a call is wrong; lists every fault with its fix
    │   ├── ConfigError        assay.toml or a command line setting
    │   └── MissingExtraError  an optional package is needed and absent
    ├── StoreError             a stored run, cache or label cannot be read or written
    └── RetrieverError         a retriever failed; recorded as data in the trace, raised only when
                               nothing could be measured at all

Exit codes: 0 fine, 1 a gate or a check failed, 2 the input or the call is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong: where it stands, what is wrong with it, and what mends it."""

    where: str
    """The place, as precise as it is known: ``golden.jsonl:14``, ``assay.toml [chunker] overlap``."""
    what: str
    """What is wrong, with the value."""
    fix: str | None = None
    """What the user can do or run; None when the text of the fault says it already."""

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  fix: {self.fix}" if self.fix else head


class AssayError(Exception):
    """The root of the tree: an error with a message for people and an exit code for scripts.

    Args:
        faults: one fault, several, or a plain sentence (which becomes one fault without a place).
        fix: the fix of a plain sentence; ignored otherwise.

    >>> raise InputError("k must be at least 1, not 0")
    Traceback (most recent call last):
    ...
    assay.model.errors.InputError: k must be at least 1, not 0
    """

    exit_code = 2
    faults: tuple[Fault, ...]
    """All that were found, not only the first."""

    def __init__(self, faults: str | Fault | Iterable[Fault], *, fix: str | None = None) -> None:
        if isinstance(faults, str):
            faults = Fault(where="", what=faults, fix=fix)
        self.faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[Callable[..., AssayError], tuple[object, ...]]:
        # A class may take more than its message, and add a fix: another process gets what was made here.
        return _made_again, (type(self), self.args, self.__dict__)

    @property
    def reason(self) -> str:
        """The message on one line and without the fixes, for places that tell of many errors."""
        return "; ".join(f"{one.where}: {one.what}" if one.where else one.what for one in self.faults)


def _made_again(kind: type[AssayError], args: tuple[object, ...], state: dict[str, object]) -> AssayError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class InputError(AssayError):
    """A file, a value or a call is wrong."""


class ConfigError(InputError):
    """A setting in ``assay.toml`` or on the command line is wrong."""


class MissingExtraError(InputError):
    """A feature needs an optional package that is not installed.

    >>> print(MissingExtraError("embedder 'minilm'", package="onnxruntime", extra="minilm"))
    embedder 'minilm' needs the package 'onnxruntime', which is not installed
      fix: pip install 'retrieval-assay[minilm]'
    """

    def __init__(self, feature: str, *, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package {package!r}, which is not installed",
            fix=f"pip install 'retrieval-assay[{extra}]'",
        )


class StoreError(AssayError):
    """A stored run, cache entry or label cannot be read or written."""


class RetrieverError(AssayError):
    """A retriever failed on every query, so that nothing was measured."""


def in_line_order(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults of one file by the line that they name; those of the whole file come first.

    >>> [fault.where for fault in in_line_order([Fault(where="a:9", what=""), Fault(where="a:2", what="")])]
    ['a:2', 'a:9']
    """

    def line(fault: Fault) -> int:
        named = re.search(r":(\d+)(?=\s|$)", fault.where)
        return int(named[1]) if named else 0

    return sorted(faults, key=line)


def reason_of(error: Exception) -> str:
    """Return what an error says on one line; its fixes are left out.

    >>> reason_of(InputError("k must be at least 1, not 0", fix="k = 10")), reason_of(OSError("no route"))
    ('k must be at least 1, not 0', 'no route')
    """
    return error.reason if isinstance(error, AssayError) else str(error)


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is most like ``name``, or None when none is alike.

    >>> nearest("recal@10", ["recall@10", "precision@10"])
    'recall@10'
    """
    import difflib  # noqa: PLC0415 - only on the way to an error message

    lowered = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), list(lowered), n=1, cutoff=0.5)
    return lowered[close[0]] if close else None
