"""The pytest plugin: a fixture with the figures of a project's run, and one test a gate.

::

    def test_retrieval(assay_run):
        assert assay_run["recall@10"] >= 0.70
        assert assay_run["recall@10 [conceptual]"] >= 0.25
        assert assay_run["pool: recall@50"] >= 0.80

A failure names the queries that caused it. ``pytest --assay`` also collects every gate of ``assay.toml``
as a test of its own. The project is the folder that ``--assay FOLDER`` or the ini option ``assay_project``
names, else pytest's root; it is run once a session. Nothing of Assay is imported until it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.flows.evaluate import Evaluation
    from assay.flows.figures import Figures
    from assay.model.gates import Gate, GateResult

_FILE = "assay.toml"
_EVALUATIONS: pytest.StashKey[dict[Path, Evaluation]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--assay``, ``--assay-run`` and the ini option ``assay_project``."""
    group = parser.getgroup("assay", "retrieval, measured")
    group.addoption(
        "--assay",
        nargs="?",
        const="",
        default=None,
        metavar="FOLDER",
        help="collect each gate of a project's assay.toml as a test (default: the root folder's)",
    )
    group.addoption(
        "--assay-run",
        default=None,
        metavar="RUN",
        help="use this stored run (an id, or latest) instead of running the retriever",
    )
    parser.addini("assay_project", "folder of the assay.toml that the fixture assay_run measures")


def pytest_configure(config: pytest.Config) -> None:
    """Have the project's file collected when ``--assay`` asks for its gates."""
    config.stash[_EVALUATIONS] = {}
    if config.getoption("--assay") is not None:
        path = str(_project_file(config))
        if path not in config.args:
            config.args.append(path)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GateFile | None:
    """Collect the gates of the project's file, when they were asked for."""
    config = parent.config
    if config.getoption("--assay") is None or file_path != _project_file(config):
        return None
    return GateFile.from_parent(parent, path=file_path)


class GateFile(pytest.File):
    """An ``assay.toml``: one item a gate."""

    def collect(self) -> Iterable[GateItem]:
        """Yield one item a gate, in the order of the file."""
        from assay.flows.gate import project_gates  # noqa: PLC0415 - nothing is imported early
        from assay.flows.project import load_project  # noqa: PLC0415
        from assay.model.errors import AssayError  # noqa: PLC0415

        try:
            gates = project_gates(load_project(self.path))
        except AssayError as error:
            raise self.CollectError(str(error)) from None
        for gate in gates:
            yield GateItem.from_parent(self, name=gate.name, gate=gate)


class GateItem(pytest.Item):
    """One gate."""

    def __init__(self, *, gate: Gate, **others: Any) -> None:  # noqa: ANN401 - pytest's own arguments
        super().__init__(**others)
        self.gate = gate

    def runtest(self) -> None:
        """Hold the project's run against this gate."""
        from assay.flows.figures import figures_of  # noqa: PLC0415
        from assay.flows.gate import gate_evaluation  # noqa: PLC0415

        evaluation = _evaluation(self.config, self.path)
        report = gate_evaluation(evaluation, [self.gate], figures_of(evaluation).baseline)
        for notice in report.notices:
            self.add_report_section("call", "assay", notice.text)
        if not report.passed:
            raise GateFellError(report.results[0])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401
        """Say why the gate fell, without a traceback."""
        from assay.model.errors import AssayError  # noqa: PLC0415

        if isinstance(excinfo.value, GateFellError | AssayError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the gate in reports."""
        return self.path, None, f"assay gate: {self.name}"


class GateFellError(AssertionError):
    """A gate fell; the text says why and names the queries."""

    def __init__(self, result: GateResult) -> None:
        from assay.report.words import result_lines  # noqa: PLC0415

        super().__init__("\n".join([result.shown, *result_lines(result)]))
        self.result = result


@pytest.fixture(scope="session")
def assay_run(pytestconfig: pytest.Config) -> Figures:
    """The figures of the project's run by name, as in ``assay_run["recall@10"]``; run once a session."""
    from assay.flows.figures import figures_of  # noqa: PLC0415
    from assay.model.errors import AssayError  # noqa: PLC0415

    try:
        return figures_of(_evaluation(pytestconfig, _project_file(pytestconfig)))
    except AssayError as error:
        pytest.fail(str(error), pytrace=False)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Name the queries behind a figure that is not what a test asserts."""
    if type(left).__name__ != "Figure" and type(right).__name__ != "Figure":
        return None
    from assay.flows.figures import Figure  # noqa: PLC0415
    from assay.report.words import cause_lines  # noqa: PLC0415

    if isinstance(left, Figure):
        figure, wanted_more = left, op in (">=", ">")
        head = f"{left.name} {left!r} {op} {right!r}"
    elif isinstance(right, Figure):
        figure, wanted_more = right, op in ("<=", "<")
        head = f"{left!r} {op} {right.name} {right!r}"
    else:
        return None
    causes = figure.lower if wanted_more or op in ("==", "!=") else figure.higher
    heading = f"queries that caused it, of {figure.n}:"
    return [head, heading, *(f"  {line}" for line in cause_lines(causes))]


def _project_file(config: pytest.Config) -> Path:
    given = config.getoption("--assay") or config.getini("assay_project")
    base = config.invocation_params.dir if config.getoption("--assay") else config.rootpath
    path = (base / given).resolve() if given else config.rootpath
    return path / _FILE if path.is_dir() else path


def _evaluation(config: pytest.Config, file: Path) -> Evaluation:
    from assay.flows.evaluate import evaluate, load_evaluation  # noqa: PLC0415
    from assay.flows.project import load_project  # noqa: PLC0415

    known = config.stash[_EVALUATIONS]
    if file not in known:
        project, run = load_project(file), config.getoption("--assay-run")
        known[file] = evaluate(project) if run is None else load_evaluation(project, run)
    return known[file]
