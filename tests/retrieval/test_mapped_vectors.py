from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.model.documents import Chunk
from assay.model.golden import Query
from assay.retrieval import cache as shelves
from assay.retrieval.cache import Cache
from assay.retrieval.pipeline import Pipeline
from assay.retrieval.settings import read_pipeline


def test_vectors_in_a_file_are_mapped_and_found_like_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shelves, "_CHECKED", 0)  # every file counts as a large one
    texts = [f"valve {number % 9} of pump {number} in hall {number % 5}" for number in range(300)]
    chunks = [
        Chunk(id=f"c{at}", doc_id="d", start=0, end=len(text), text=text) for at, text in enumerate(texts)
    ]
    queries = [Query(id=f"q{at}", text=f"pump {at} hall {at % 5}") for at in range(20)]
    settings = read_pipeline({"embedder": {"dimensions": 64}, "depth": 50, "pool": 20})
    mapped = Pipeline(settings, chunks, cache=Cache(tmp_path))
    mapped.build()
    (vectors,) = tmp_path.glob("vectors-*/vectors.npy")
    again = Pipeline(settings, chunks, cache=Cache(tmp_path))
    rows, _ = again.index.vectors(settings.embedder, lambda: pytest.fail("they are there already"))
    assert isinstance(rows, np.memmap)
    assert not rows.flags.writeable
    assert rows.nbytes <= vectors.stat().st_size
    in_memory = Pipeline(settings, chunks, cache=Cache()).run(queries)
    for here, there in zip(again.run(queries).stages, in_memory.stages, strict=True):
        assert here.chunks.tolist() == there.chunks.tolist()
        assert here.scores.tobytes() == there.scores.tobytes()
