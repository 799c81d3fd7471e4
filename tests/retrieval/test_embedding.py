from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.model.documents import Chunk
from assay.retrieval import embedding
from assay.retrieval.cache import Cache
from assay.retrieval.corpus_index import CorpusIndex
from assay.retrieval.models.hashing import HashingSettings
from assay.retrieval.models.registry import make_embedder
from assay.retrieval.workers import OneProcess, Processes, Task, Workers


def chunks(count: int) -> list[Chunk]:
    texts = [f"passage {at} of {at % 7} tells of pump{at % 13} and valve" for at in range(count)]
    return [
        Chunk(id=f"c{at}", doc_id="d", start=0, end=len(text), text=text) for at, text in enumerate(texts)
    ]


def vectors(
    folder: Path | None,
    settings: HashingSettings,
    workers: Workers | None,
    told: list[tuple[int, int]] | None = None,
) -> np.ndarray:
    index = CorpusIndex(chunks(50), Cache(folder))
    rows, _ = index.vectors(
        settings,
        lambda: make_embedder(settings),
        workers=workers,
        progress=None if told is None else lambda _, done, of: told.append((done, of)),
    )
    return np.asarray(rows)


@pytest.mark.parametrize("idf", [False, True])
def test_vectors_are_the_same_bytes_for_any_number_of_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, idf: bool
):
    monkeypatch.setattr(embedding, "EMBEDDED", 8)  # seven blocks
    settings = HashingSettings(dimensions=64, idf=idf)
    here = vectors(None, settings, None)
    told: list[tuple[int, int]] = []
    there = vectors(tmp_path, settings, Processes(2), told)
    assert here.tobytes() == there.tobytes()
    assert len(told) == 7
    assert max(told) == (50, 50)
    assert vectors(None, settings, OneProcess()).tobytes() == here.tobytes()


def test_a_text_is_taken_when_it_is_sent_and_not_before(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(embedding, "EMBEDDED", 10)
    taken: list[int] = []

    class Slow:
        """Workers that note what was loaded when."""

        def run(
            self,
            start: Callable[..., Callable[..., object]],
            shared: object,
            tasks: list[Task[int]],
            *,
            load: Callable[[int], object],
        ) -> object:
            session = start(shared)
            for place, task in enumerate(tasks):
                taken.append(task.work)
                yield place, session(load(task.work))
                assert len(taken) == place + 1

    settings = HashingSettings(dimensions=16)
    assert vectors(None, settings, Slow()).shape == (50, 16)  # pyright: ignore[reportArgumentType]
    assert taken == [0, 10, 20, 30, 40]
