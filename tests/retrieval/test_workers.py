from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.model.errors import ConfigError
from assay.retrieval.workers import Desk, OneProcess, Processes, Task, WorkerError, local_workers


def start_multiplying(factor: int) -> Callable[[int], int]:
    return lambda work: factor * work


def start_failing(kind: str) -> Callable[[int], int]:
    def work(number: int) -> int:
        if number == 3 and kind == "fault":
            raise ConfigError("pool 5 is below k 10")
        if number == 3 and kind == "bug":
            raise ZeroDivisionError("one over nothing")
        if number == 3 and kind == "death":
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return work


def start_counting(folder: str) -> Callable[[str], int]:
    """Leave a mark for each session that is started."""
    Path(folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return len


def start_printing(_: None) -> Callable[[int], int]:
    def work(number: int) -> int:
        sys.stdout.write("a library that talks\n")
        return number

    return work


def tasks(count: int) -> list[Task[int]]:
    return [Task(work=number, affinity=(str(number % 3),)) for number in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_workers_gives_every_result_once(count: int):
    found = dict(local_workers(count).run(start_multiplying, 7, tasks(10)))
    assert found == {place: 7 * place for place in range(10)}


def test_no_task_starts_no_process():
    assert list(Processes(2).run(start_multiplying, 7, [])) == []


def test_what_is_loaded_is_loaded_here_when_it_is_sent():
    seen: list[int] = []

    def load(number: int) -> int:
        seen.append(number)
        return number + 100

    found = dict(Processes(2).run(start_multiplying, 1, tasks(4), load=load))
    assert found == {place: 100 + place for place in range(4)}
    assert sorted(seen) == [0, 1, 2, 3]
    assert dict(OneProcess().run(start_multiplying, 1, tasks(4), load=load)) == found


def test_a_worker_that_prints_disturbs_nobody(capfd: pytest.CaptureFixture[str]):
    assert dict(Processes(2).run(start_printing, None, tasks(3))) == {0: 0, 1: 1, 2: 2}
    assert "a library that talks" not in capfd.readouterr().out


def test_each_process_has_one_session(tmp_path: Path):
    work = [Task(work="x" * number) for number in range(6)]
    assert len(dict(Processes(2).run(start_counting, str(tmp_path), work))) == 6
    assert len(list(tmp_path.iterdir())) <= 2


def test_a_fault_of_a_task_is_told_in_its_own_words():
    with pytest.raises(WorkerError, match="pool 5 is below k 10"):
        dict(Processes(2).run(start_failing, "fault", tasks(6)))


def test_a_bug_in_a_task_brings_its_traceback():
    with pytest.raises(WorkerError, match=r"(?s)Traceback.*ZeroDivisionError"):
        dict(Processes(2).run(start_failing, "bug", tasks(6)))


def test_a_worker_that_is_killed_is_told_with_its_exit_code():
    with pytest.raises(WorkerError, match="exit -9"):
        dict(Processes(2).run(start_failing, "death", tasks(6)))


def test_workers_go_when_the_program_that_feeds_them_is_killed():
    script = (
        "import time\n"
        "from assay.retrieval.workers import Processes, Task\n"
        "from workers_that_sleep import start_sleeping\n"
        "for _, pid in Processes(1).run(start_sleeping, None, [Task(work=0.0), Task(work=1.0)]):\n"
        "    print(pid, flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment
    )
    with parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 20.0
    while time.monotonic() < deadline and _lives(worker):
        time.sleep(0.05)
    assert not _lives(worker)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.is_file() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_below_one_worker_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        local_workers(0)


def test_the_desk_keeps_alike_tasks_with_one_worker():
    desk = Desk([("a", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("b", "y")])
    assert [desk.next_for(0), desk.next_for(1)] == [0, 2]
    # Worker 0 did (a, x): the other (a, x) is nearest, then (a, y).
    assert [desk.next_for(0), desk.next_for(0)] == [3, 1]
    assert desk.next_for(1) == 4


def test_the_desk_lets_an_idle_worker_take_the_end_of_the_longest_group():
    desk = Desk([("a", "x"), ("a", "x"), ("a", "y"), ("a", "y")])
    assert desk.next_for(0) == 0
    assert desk.next_for(1) == 3  # not the one that worker 0 comes to next
    assert desk.next_for(1) == 2
    assert desk.next_for(0) == 1
    assert desk.next_for(0) is None
