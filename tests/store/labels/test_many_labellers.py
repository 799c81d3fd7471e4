from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from label_stores import BACKENDS, new_store_url, store_at
from labelling import acknowledged, judgement_of, label, label_in_threes

TOTAL = 5_000
KILLS = 20
# A process that is ready to work in no time: the server of processes has loaded what a labeller needs.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["labelling", "assay.store.labels.store", "psycopg"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_labellers_lose_nothing_although_one_is_killed_twenty_times(backend: str, tmp_path: Path):
    url = new_store_url(backend, tmp_path)
    diaries = {name: tmp_path / f"{name}.txt" for name in ("ada", "bob")}
    steady = PROCESSES.Process(target=label, args=(url, "ada", str(diaries["ada"]), TOTAL))
    steady.start()
    rng = random.Random(5)
    for kill in range(1, KILLS + 1):
        killed = PROCESSES.Process(target=label, args=(url, "bob", str(diaries["bob"]), TOTAL))
        killed.start()
        # Somewhere in the next of its stretches, and in the middle of whatever it is doing then.
        goal = min(acknowledged(diaries["bob"]) + rng.randrange(50, 200), TOTAL * kill // (KILLS + 1))
        while acknowledged(diaries["bob"]) < goal and killed.is_alive():
            time.sleep(rng.random() * 0.01)
        assert killed.is_alive()
        killed.kill()
        killed.join()
        assert killed.exitcode == -9
    last = PROCESSES.Process(target=label, args=(url, "bob", str(diaries["bob"]), TOTAL))
    last.start()
    for process in (last, steady):
        process.join(timeout=120)
        assert process.exitcode == 0
    with store_at(url) as store:
        for name in diaries:
            kept = store.judgements(by=name)
            wanted = [judgement_of(name, number) for number in range(TOTAL)]
            assert [row.id for row in kept] == [row.id for row in wanted]
            assert [(row.grade, row.shown, row.place) for row in kept] == [
                (row.grade, row.shown, row.place) for row in wanted
            ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_twenty_people_at_once_lose_nothing_and_no_reader_sees_half_of_what_was_given_together(
    backend: str, tmp_path: Path
):
    url, rounds = new_store_url(backend, tmp_path), 10
    people = [
        PROCESSES.Process(target=label_in_threes, args=(url, f"person {number}", rounds))
        for number in range(20)
    ]
    for person in people:
        person.start()
    with store_at(url) as store:
        while any(person.is_alive() for person in people):
            seen = Counter(row.query_id for row in store.judgements())
            assert set(seen.values()) <= {3}
        assert [person.exitcode for person in people] == [0] * 20
        assert len(store.judgements()) == 20 * rounds * 3
