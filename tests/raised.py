"""A whole run of the tests makes every error of the list in ``docsite``, or says which it did not.

Every error, and every fault, notes the calls it was made by. Where all tests ran (nothing chosen, left out,
skipped for want of a tool, or failed), the places that none of them reached make the run fail. A run that was
asked for some tests notes nothing and says nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Protocol, cast

import pytest
from docsite.error_sites import Place, Site, error_classes, error_sites, in_tree

from assay.model import errors

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = str(ROOT / "src" / "assay")
_FRAMES = 8
"""So many callers of an error are noted at most: what helps to make it stands near."""


@dataclass(slots=True)
class Noted:
    """The calls that made errors, as the interpreter knows them: they are put into words at the end."""

    calls: set[tuple[CodeType, int]] = field(default_factory=set[tuple[CodeType, int]])

    def note(self, frame: FrameType | None) -> None:
        """Note the calls from a frame outwards, as long as they stand in the package."""
        for _ in range(_FRAMES):
            if frame is None or not frame.f_code.co_filename.startswith(PACKAGE):
                return
            self.calls.add((frame.f_code, frame.f_lasti))
            frame = frame.f_back

    def places(self) -> set[Place]:
        """Return where the calls end in their files."""
        found: set[Place] = set()
        for code, instruction in self.calls:
            _, line, _, column = list(code.co_positions())[instruction // 2]
            if line is not None and column is not None:
                found.add(Place(Path(code.co_filename).relative_to(PACKAGE).as_posix(), line, column))
        return found


def watched(kind: type[Any], noted: Noted) -> Callable[..., None]:
    """Return an ``__init__`` for a class, and for those below it, that notes where each object is made.

    Not a ``__new__``: a class that had one of Python's own cannot be given back as it was.
    """
    begin = cast("Callable[..., None]", kind.__init__)

    @wraps(begin)
    def begun(self: object, *args: object, **named: object) -> None:
        noted.note(sys._getframe(1))
        begin(self, *args, **named)

    return begun


def unreached(sites: tuple[Site, ...], places: set[Place]) -> list[Site]:
    """Return the sites of which a call is not among the places."""
    return [site for site in sites if not site.places <= places]


class _Node(Protocol):
    """A worker of pytest-xdist."""

    workerinput: dict[str, object]
    workeroutput: dict[str, object]


class Raised:
    """The part of pytest that asks for every error."""

    def __init__(self, config: pytest.Config) -> None:
        self.noted = Noted()
        self.places: set[Place] = set()
        self.partial: str | None = None
        """Why this is no whole run."""
        self.missing: list[Site] = []
        worker: dict[str, object] | None = getattr(config, "workerinput", None)
        self.whole = is_whole(config) if worker is None else bool(worker.get("every_error"))
        """Whether all tests were asked for."""
        if not self.whole:
            self.partial = "tests were chosen"
        elif worker is not None or not config.getoption("numprocesses", None):
            self._watch(errors.Fault)
            self._watch(errors.AssayError)

    def _watch(self, kind: type[Any]) -> None:
        kind.__init__ = watched(kind, self.noted)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: _Node) -> None:
        """Tell a worker whether all tests were asked for."""
        node.workerinput["every_error"] = self.whole

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: _Node, error: object) -> None:
        """Take what a worker noted."""
        told = cast("list[tuple[str, int, int]] | None", getattr(node, "workeroutput", {}).get("raised"))
        if error or told is None:
            self.partial = self.partial or "a worker ended early"
            return
        self.partial = self.partial or cast("str | None", node.workeroutput["partial"])
        self.places |= {Place(*place) for place in told}

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Note that not all tests run."""
        self.partial = self.partial or f"{len(items)} tests were left out"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what keeps a run from being whole."""
        if report.outcome != "passed":
            self.partial = self.partial or f"{report.nodeid} {report.outcome}"

    def pytest_collection_finish(self) -> None:
        """Watch the exceptions outside of the tree, now that the tests have loaded what they load."""
        if self.whole:
            for name, (module, _) in error_classes().items():
                if not in_tree(name):
                    self._watch(getattr(import_module(module), name))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over what was noted; fail the run if an error of the list is not among it."""
        self.places |= self.noted.places()
        output: dict[str, object] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["raised"] = [(place.file, place.line, place.column) for place in self.places]
            output["partial"] = self.partial
        elif self.partial is None:
            self.missing = unreached(error_sites(), self.places)
            if self.missing and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name the errors that no test made, or why a run of all tests cannot say."""
        if self.missing:
            terminalreporter.section("errors that no test makes", red=True)
            for site in self.missing:
                terminalreporter.write_line(f"src/assay/{site.file}:{site.line}: {site.told}")
        elif self.whole and self.partial:
            terminalreporter.write_line(f"whether every error is made was not looked at: {self.partial}")


def is_whole(config: pytest.Config) -> bool:
    """Say whether pytest was asked for all tests, as far as its options tell."""
    options = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "collectonly")
    chosen = any(config.getoption(name, None) for name in options)
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not chosen
