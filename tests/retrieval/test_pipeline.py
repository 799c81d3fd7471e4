from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.model.documents import Chunk
from assay.model.errors import ConfigError, InputError, RetrieverError
from assay.model.golden import Query
from assay.model.runs import Retrieved, StageTable
from assay.retrieval.cache import Cache
from assay.retrieval.models.hashing import HashingEmbedder
from assay.retrieval.models.lexical import LexicalReranker
from assay.retrieval.models.protocols import Reply
from assay.retrieval.pipeline import Pipeline
from assay.retrieval.settings import PipelineSettings, read_pipeline

SUBJECTS = ["pump", "valve", "gauge", "filter", "hose", "motor", "seal", "rotor"]
DEEDS = ["leaks", "jams", "rattles", "overheats", "freezes"]


def corpus(n_chunks: int = 60) -> list[Chunk]:
    """Chunks that name one subject and one deed each, with some filler that differs."""
    chunks: list[Chunk] = []
    for place in range(n_chunks):
        subject, deed = SUBJECTS[place % len(SUBJECTS)], DEEDS[place % len(DEEDS)]
        text = f"The {subject} {deed} when step {place} of {DEEDS[(place // 7) % 5]} is skipped."
        doc = f"doc{place // 10}.md"
        start = (place % 10) * 100
        chunks.append(
            Chunk(
                id=f"{doc}#{start}-{start + len(text)}",
                doc_id=doc,
                start=start,
                end=start + len(text),
                text=text,
                context=f"Manual of the {subject}" if place % 3 == 0 else "",
            )
        )
    return chunks


CHUNKS = corpus()
QUERIES = [
    Query(id=f"q{place}", text=f"{subject} {deed}")
    for place, (subject, deed) in enumerate((subject, deed) for subject in SUBJECTS for deed in DEEDS)
]


def stage(found: Retrieved, name: str) -> StageTable:
    return next(table for table in found.stages if table.name == name)


def ids(found: Retrieved, name: str, query: int) -> list[str]:
    table = stage(found, name)
    return [found.chunks.ids[chunk] for chunk in table.chunks[table.hits_of(query)].tolist()]


def as_bytes(found: Retrieved) -> list[bytes]:
    return [
        column.tobytes()
        for table in found.stages
        for column in (table.offsets, table.chunks, table.scores, table.deep_chunk, table.deep_rank)
    ]


def run(chunks: Sequence[Chunk] = CHUNKS, queries: Sequence[Query] = QUERIES, **values: Any) -> Retrieved:
    return Pipeline(read_pipeline(values), chunks).run(queries)


def test_every_stage_leaves_its_list():
    found = run()
    assert [(table.name, table.role) for table in found.stages] == [
        ("vector", "list"),
        ("fulltext", "list"),
        ("pool", "pool"),
        ("reranked", "rerank"),
        ("diverse", "diversify"),
        ("final", "final"),
    ]
    assert np.diff(stage(found, "vector").offsets).tolist() == [60] * len(QUERIES)
    assert set(np.diff(stage(found, "final").offsets)) == {10}
    for table in found.stages:
        assert table.elapsed_ms is not None
        assert (table.elapsed_ms >= 0).all()


def test_stages_that_are_off_leave_none():
    found = run(vector=False, reranker="none")
    assert [table.name for table in found.stages] == ["fulltext", "pool", "final"]
    assert ids(found, "pool", 0)[:10] == ids(found, "final", 0)


def test_the_chunk_that_says_it_is_found():
    found = run()
    query = next(place for place, query in enumerate(QUERIES) if query.text == "valve jams")
    texts = {chunk.id: chunk.text for chunk in CHUNKS}
    assert texts[ids(found, "final", query)[0]].startswith("The valve jams")


def test_lists_hold_each_chunk_once_and_scores_never_rise():
    found = run(rewrite="prf")
    for table in found.stages:
        for query in range(len(QUERIES)):
            rows = table.hits_of(query)
            assert len(set(table.chunks[rows].tolist())) == rows.stop - rows.start
            assert not (np.diff(table.scores[rows]) > 0).any()


def test_watched_chunks_have_a_rank_however_deep():
    chunks = corpus(400)
    pipeline = Pipeline(read_pipeline({"depth": 50}), chunks)
    watch = {query.id: [chunk.id for chunk in chunks] for query in QUERIES[:3]}
    found = pipeline.run(QUERIES[:3], watch=watch)
    vector = stage(found, "vector")
    for query in range(3):
        own = vector.deep_query == query
        # 50 stored and 350 deep: every rank from 1 to 400 once.
        assert sorted(vector.deep_rank[own].tolist()) == list(range(51, 401))
        stored = vector.chunks[vector.hits_of(query)].tolist()
        assert not set(stored) & set(vector.deep_chunk[own].tolist())
    pool = stage(found, "pool")
    assert pool.deep_rank.min() == 51


def test_watching_unknown_chunks_and_queries_is_harmless():
    pipeline = Pipeline(PipelineSettings(), CHUNKS)
    found = pipeline.run(QUERIES[:2], watch={"q0": ["nowhere#0-1"], "q99": [CHUNKS[0].id]})
    assert not len(stage(found, "vector").deep_rank)


def test_the_same_inputs_give_the_same_bytes_and_one_query_alone_gives_its_part():
    whole = run(rewrite="prf")
    assert as_bytes(run(rewrite="prf")) == as_bytes(whole)
    for query in (0, 17, 39):
        alone = run(queries=[QUERIES[query]], rewrite="prf")
        for table, part in zip(whole.stages, alone.stages, strict=True):
            rows = table.hits_of(query)
            assert table.chunks[rows].tobytes() == part.chunks.tobytes(), table.name
            assert table.scores[rows].tobytes() == part.scores.tobytes(), table.name


PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:]
from hashlib import sha256
from test_pipeline import as_bytes, corpus, run
print(sha256(b"".join(as_bytes(run(corpus(700), rewrite="prf", embedder={"idf": True})))).hexdigest())
"""


def test_neither_threads_nor_hash_seeds_change_a_byte():
    here = Path(__file__).resolve().parent
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(here), str(here.parents[1] / "src")],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "8")
    }
    assert len(outputs) == 1


def test_equal_chunks_stand_in_the_order_of_their_ids_whatever_order_they_come_in():
    copies = [
        Chunk(id=f"{name}#0-9", doc_id=name, start=0, end=9, text="pump jams")
        for name in ("c", "a", "d", "b")
    ]
    for order in (copies, copies[::-1]):
        found = run(order, [Query(id="q", text="pump jams")], pool=4, k=4, reranker="none", mmr="off")
        assert ids(found, "final", 0) == ["a#0-9", "b#0-9", "c#0-9", "d#0-9"]


def test_results_from_the_disk_cache_are_the_same_bytes(tmp_path: Path):
    settings = read_pipeline({"embedder": {"idf": True}, "rewrite": "prf"})
    cold = Pipeline(settings, CHUNKS, cache=Cache(tmp_path)).run(QUERIES)
    cache = Cache(tmp_path)
    warm = Pipeline(settings, CHUNKS, cache=cache).run(QUERIES)
    assert as_bytes(warm) == as_bytes(cold)
    assert {"vectors", "terms", "postings"}.isdisjoint(cache.made)


def test_pipelines_that_begin_alike_share_what_they_share():
    cache = Cache()
    Pipeline(read_pipeline({}), CHUNKS, cache=cache).run(QUERIES)
    made = dict(cache.made)
    Pipeline(read_pipeline({"mmr": "off"}), CHUNKS, cache=cache).run(QUERIES)
    assert {kind: cache.made[kind] - made[kind] for kind in cache.made if cache.made[kind] > made[kind]} == {
        "final": 1
    }
    made = dict(cache.made)
    Pipeline(read_pipeline({"fulltext": {"k1": 0.9}}), CHUNKS, cache=cache).run(QUERIES)
    # Another k1: new weights and all that follows the full-text list; the vectors and the words stay.
    assert {kind for kind in cache.made if cache.made[kind] > made[kind]} == {
        "postings",
        "fulltext",
        "pool",
        "reranked",
        "diverse",
        "final",
    }


def test_sharing_never_changes_a_result():
    cache = Cache()
    knobs: list[dict[str, Any]] = [
        {},
        {"fusion": {"weights": {"fulltext": 3.0}}},
        {"embedder": {"dimensions": 64}},
        {"rewrite": "prf"},
        {"reranker": {"top_n": 20}},
        {"fusion": "minmax"},
        {"vector": False},
    ]
    for values in knobs:
        shared = Pipeline(read_pipeline(values), CHUNKS, cache=cache).run(QUERIES[:5])
        assert as_bytes(shared) == as_bytes(run(queries=QUERIES[:5], **values))


def test_feedback_says_what_was_searched_for():
    found = run(queries=QUERIES[:1], rewrite={"name": "prf", "terms": 2})
    assert found.rewritten["q0"].startswith("pump leaks ")
    assert len(found.rewritten["q0"].split()) == 4
    assert run(queries=QUERIES[:1]).rewritten == {}


def test_no_queries_and_no_chunks_are_fine():
    assert [table.offsets.tolist() for table in run(queries=[]).stages] == [[0]] * 6
    assert [table.offsets.tolist() for table in run([], QUERIES[:1]).stages] == [[0, 0]] * 6


def test_a_query_without_a_word_has_empty_lists():
    found = run(queries=[Query(id="q", text="?!"), QUERIES[0]])
    assert all(table.hits_of(0) == slice(0, 0) for table in found.stages)
    assert not any(table.errors for table in found.stages)


def test_an_embedder_that_fails_on_one_query_spoils_its_vector_list_alone(monkeypatch: pytest.MonkeyPatch):
    embed = HashingEmbedder.embed_queries

    def fail(self: HashingEmbedder, texts: Sequence[str], state: Any) -> Any:
        if any("valve" in text for text in texts):
            raise ValueError("too long")
        return embed(self, texts, state)

    monkeypatch.setattr(HashingEmbedder, "embed_queries", fail)
    found = run(queries=[Query(id="q1", text="pump leaks"), Query(id="q2", text="valve jams")])
    vector = stage(found, "vector")
    assert vector.errors == {1: "embedder: ValueError: too long"}
    assert np.diff(vector.offsets).tolist() == [60, 0]
    assert stage(found, "pool").errors == {}
    assert ids(found, "final", 1)
    assert [notice.code for notice in found.notices] == ["stage-errors"]
    assert found.notices[0].ids == ("q2",)


def test_when_every_query_fails_nothing_was_measured(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> Reply:
        raise RuntimeError("no model")

    monkeypatch.setattr(LexicalReranker, "rerank", fail)
    with pytest.raises(RetrieverError, match=r"every query failed.*no model"):
        run()


def test_rows_that_a_reranker_drops_are_said(monkeypatch: pytest.MonkeyPatch):
    def short(*_: object) -> Reply:
        return Reply(places=np.array([3, 1]), scores=np.array([0.9, np.nan]))

    monkeypatch.setattr(LexicalReranker, "rerank", short)
    found = run(queries=QUERIES[:1], mmr="off")
    assert np.diff(stage(found, "final").offsets).tolist() == [2]
    assert [notice.code for notice in found.notices] == ["reranker-unscored", "reranker-dropped"]
    assert "48 of the rows" in found.notices[1].text
    filled = run(queries=QUERIES[:1], mmr="off", reranker={"backfill": True})
    assert np.diff(stage(filled, "final").offsets).tolist() == [10]
    assert "48 rows back-filled" in filled.notices[2].text


def test_faults_of_the_wiring_are_raised_before_anything_runs():
    with pytest.raises(ConfigError) as caught:
        Pipeline(PipelineSettings(pool=5, depth=3), [])
    assert len(caught.value.faults) == 2


def test_two_chunks_of_one_id_are_refused():
    with pytest.raises(InputError, match="two chunks have this id"):
        Pipeline(PipelineSettings(), [CHUNKS[0], CHUNKS[0]])


def test_building_says_what_the_indexes_cost():
    cost = Pipeline(PipelineSettings(), CHUNKS).build()
    assert cost.bytes > 60 * 1024 * 4
    assert cost.build_ms > 0
    assert Pipeline(read_pipeline({"vector": False}), CHUNKS).build().bytes < cost.bytes


def test_embedding_tells_its_progress(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.retrieval.embedding.EMBEDDED", 25)
    told: list[tuple[str, int, int]] = []

    def tell(what: str, done: int, all_: int) -> None:
        told.append((what, done, all_))

    Pipeline(PipelineSettings(), CHUNKS).build(progress=tell)
    assert told == [("embedding", 25, 60), ("embedding", 50, 60), ("embedding", 60, 60)]


def test_the_settings_are_described_for_the_manifest():
    pipeline = Pipeline(read_pipeline({"pool": 20}), CHUNKS)
    assert pipeline.describe()["pool"] == 20
    assert len(pipeline.digest) == 16


def test_the_manifest_shows_what_was_in_force_and_saying_so_makes_no_other_pipeline():
    silent, said = (Pipeline(read_pipeline(values), CHUNKS) for values in ({}, {"mmr": 0.9}))
    assert silent.describe()["mmr"] == 0.9
    assert silent.describe()["fusion"]["weights"] == {"vector": 1.0, "fulltext": 1.0}
    assert silent.digest == said.digest
    words_only = Pipeline(read_pipeline({"vector": False}), CHUNKS)
    assert words_only.describe()["mmr"] == "off"
