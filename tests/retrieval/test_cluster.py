from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.flows.project import load_project
from assay.flows.sweep import sweep
from assay.flows.sweep_files import save_sweep
from assay.flows.sweep_plan import load_plan
from assay.model.errors import InputError, MissingExtraError
from assay.retrieval.cluster import DaskWorkers
from assay.retrieval.workers import Task, WorkerError
from flows.headed_project import make_headed
from retrieval.test_workers import start_failing, start_multiplying, tasks

distributed = pytest.importorskip("distributed", reason="dask's distributed is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    """A cluster inside this process: scheduler, two workers and what they say to each other are real."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ports that are in use, a missing dashboard
        with distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            worker_dashboard_address=None,
        ) as local:
            yield local


def test_a_cluster_gives_every_result_once(cluster: object):
    found = dict(DaskWorkers(cluster).run(start_multiplying, 7, tasks(10)))
    assert found == {place: 7 * place for place in range(10)}
    assert dict(DaskWorkers(cluster).run(start_multiplying, 9, tasks(4))) == {n: 9 * n for n in range(4)}


def test_work_is_loaded_here(cluster: object):
    found = dict(DaskWorkers(cluster).run(start_multiplying, 2, [Task(work=1)], load=lambda work: work + 20))
    assert found == {0: 42}


def test_a_failure_on_the_cluster_is_told(cluster: object):
    with pytest.raises(WorkerError, match="one over nothing"):
        dict(DaskWorkers(cluster).run(start_failing, "bug", tasks(6)))


@pytest.mark.parametrize("error", [OSError("timed out"), ValueError("unknown address scheme")])
def test_a_cluster_that_does_not_answer_is_the_caller_s_mistake(
    error: Exception, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(InputError, match="it cannot be reached"):
        list(DaskWorkers("tcp://127.0.0.1:1").run(start_multiplying, 7, tasks(1)))


def test_nothing_to_do_asks_no_cluster():
    assert list(DaskWorkers("tcp://127.0.0.1:1").run(start_multiplying, 7, [])) == []


def test_a_sweep_on_a_cluster_gives_the_same_bytes(cluster: object, tmp_path: Path):
    written: list[list[bytes]] = []
    for name, workers in (("here", None), ("there", DaskWorkers(cluster))):
        project = load_project(make_headed(tmp_path / name))
        result = sweep(project, load_plan(project, None, ["max_chars=70,140", "pool=4,6"]), workers=workers)
        folder = save_sweep(project, result, "")
        written.append([(folder / file).read_bytes() for file in ("results.json", "results.parquet")])
    assert written[0] == written[1]


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError) as caught:
        DaskWorkers("tcp://127.0.0.1:8786")
    assert str(caught.value) == (
        "a Dask cluster needs the package 'distributed', which is not installed\n"
        "  fix: pip install 'retrieval-assay[dask]'"
    )
