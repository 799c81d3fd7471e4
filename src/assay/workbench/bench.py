"""What all pages work on: the project, its label store, its runs as measured, and the jobs."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.building.anchor_shapes import AnchorShaper
from assay.corpus import Corpus
from assay.corpus.folders import find_files
from assay.flows.check import Checked, check_project
from assay.flows.diagnose import Diagnosed, decisions_path, diagnose_evaluation
from assay.flows.evaluate import Evaluation, evaluate, load_evaluation
from assay.flows.find import Finder
from assay.flows.golden_draft import anchor_shaper
from assay.flows.golden_labels import project_labels
from assay.flows.golden_pool import PoolWishes, pool_project
from assay.flows.prepare import load_corpus
from assay.flows.project import FILE, Project, load_project
from assay.store.runs import RunStore, RunSummary
from assay.workbench.jobs import Jobs, Progress

if TYPE_CHECKING:
    from assay.store.labels.store import LabelStore

Stamp = tuple[tuple[str, int, int], ...]
_MOST_HELD = 12


class Workbench:
    """One project on the bench; what is costly is made once for each state of its files.

    Args:
        path: the folder of an ``assay.toml``, or the file itself.

    Raises:
        InputError: the project cannot be read.
        MissingExtraError: SQLAlchemy is not installed.
        StoreError: the label store cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.project: Project = load_project(path)
        self.labels: LabelStore = project_labels(self.project)
        self.jobs = Jobs()
        self.deciding = threading.Lock()
        """Held where what is written depends on what was read: of two people at once, one is second."""
        self._lock = threading.Lock()
        self._making: dict[tuple[object, ...], threading.Lock] = {}
        self._held: OrderedDict[tuple[object, ...], Any] = OrderedDict()

    def close(self) -> None:
        """Close the label store."""
        self.labels.close()

    # Documents

    @property
    def corpus(self) -> Corpus:
        """The documents as they are now."""
        return self._once(("corpus", self._sources()), lambda: load_corpus(self.project))

    @property
    def shaper(self) -> AnchorShaper:
        """What makes anchors over the documents."""
        key = ("shaper", self._sources())
        return self._once(key, lambda: anchor_shaper(self.project, self.corpus))

    @property
    def finder(self) -> Finder:
        """What finds passages by words."""
        return self._once(("finder", self._sources()), lambda: Finder(self.project, self.corpus))

    # The set and its check

    def check(self, *, wait: bool = True) -> Checked | None:
        """Return the check of the golden set; without ``wait`` None where it was not made yet."""
        latest = self.runs()[:1]  # the check holds the set against what the last run returned
        key = ("check", latest, self._stamp())
        if not wait:
            return self._known(key)
        return self._once(key, lambda: check_project(self.project))

    # Runs

    @property
    def store(self) -> RunStore:
        return RunStore(self.project.home / "runs")

    def runs(self) -> tuple[RunSummary, ...]:
        """Return the stored runs, the latest first."""
        return tuple(reversed(self.store.list()))

    def evaluation(self, run_id: str) -> Evaluation:
        """Return a stored run, measured against the golden set as it is now.

        Raises:
            StoreError: there is no such run.
        """
        found = self.store.find(run_id)
        key = ("evaluation", found, self._stamp())
        return self._once(key, lambda: load_evaluation(self.project, found))

    def diagnosed(self, run_id: str) -> Diagnosed:
        """Return the diagnosis of a stored run, with what people said of it until now.

        Raises:
            StoreError: there is no such run.
        """
        evaluation = self.evaluation(run_id)
        return self._once(self._diagnosis_key(evaluation.run.id), lambda: diagnose_evaluation(evaluation))

    def keep_diagnosed(self, diagnosed: Diagnosed) -> None:
        """Remember a diagnosis with decisions that were written just now."""
        self._keep(self._diagnosis_key(diagnosed.evaluation.run.id), diagnosed)

    def once(self, what: tuple[object, ...], make: Callable[[], Any]) -> Any:  # noqa: ANN401 - the caller's own
        """Return what is made once for each state of the project's files."""
        return self._once((*what, self._stamp()), make)

    # Jobs

    def run_now(self, progress: Progress) -> str:
        """Measure the project as it is; return where the run is to be seen."""
        self.project = load_project(self._path)
        evaluation = evaluate(self.project, progress=progress)
        self._keep(("evaluation", evaluation.run.id, self._stamp()), evaluation)
        return f"/misses?run={evaluation.run.id}"

    def pool_now(self, progress: Progress) -> str:
        """Gather candidates for the queries of the set; return where they are labelled."""
        own = self.project.pipeline.get("pool")
        depth = min(PoolWishes().depth, own) if isinstance(own, int) else PoolWishes().depth
        pool_project(self.project, PoolWishes(depth=depth), progress=progress)
        return "/label"

    def check_now(self, progress: Progress) -> str:
        """Check the golden set; return where the result is to be seen."""
        progress("check", 0, 1)
        self.check()
        return "/"

    # What is held

    def _once(self, key: tuple[object, ...], make: Callable[[], Any]) -> Any:  # noqa: ANN401 - the caller's own
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            found = self._known(key)
            if found is None:
                found = make()
                self._keep(key, found)
        with self._lock:
            self._making.pop(key, None)
        return found

    def _known(self, key: tuple[object, ...]) -> Any:  # noqa: ANN401 - what was made
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def _keep(self, key: tuple[object, ...], made: object) -> None:
        with self._lock:
            self._held[key] = made
            while len(self._held) > _MOST_HELD:
                self._held.popitem(last=False)

    def _diagnosis_key(self, run_id: str) -> tuple[object, ...]:
        return "diagnosis", run_id, self._stamp(), _stamp_of(decisions_path(self.project))

    def _stamp(self) -> Stamp:
        return (*self._sources(), *_stamp_of(self.project.golden_path))

    def _sources(self) -> Stamp:
        """Name the state of settings and documents; what labelling writes beside them is neither."""
        table = self.project.corpus
        found = find_files(self.project.corpus_path, include=table.include, exclude=table.exclude)
        state = hashlib.sha256()
        for name, path in () if found is None else found.files:
            _, *told = _stamp_of(path)[0]
            state.update(f"{name}\0{told}\n".encode("utf-8", "surrogateescape"))
        settings = self._path / FILE if self._path.is_dir() else self._path
        return (*_stamp_of(settings), (state.hexdigest(), 0, 0))


def _stamp_of(path: Path) -> Stamp:
    try:
        known = path.stat()
    except OSError:  # not there, or gone just now
        return ((path.name, 0, 0),)
    return ((path.name, known.st_mtime_ns, known.st_size),)
