from __future__ import annotations

from typing import Any, cast

import pytest

from assay.model.errors import ConfigError
from assay.retrieval.models.hashing import HashingSettings
from assay.retrieval.settings import PipelineSettings, describe, digest, read_pipeline, wiring_faults


def faults_of(values: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_pipeline(values, where="assay.toml [pipeline]")
    return [str(fault) for fault in caught.value.faults]


def test_nothing_said_is_the_reference_pipeline():
    settings = read_pipeline({})
    assert settings == PipelineSettings()
    assert (settings.embedder.name, settings.fusion.name, settings.reranker.name) == (
        "hashing",
        "rrf",
        "lexical",
    )
    assert (settings.pool, settings.k, settings.fusion.k_rrf) == (50, 10, 60.0)
    assert wiring_faults(settings) == []


def test_every_knob_can_be_set_by_name():
    settings = read_pipeline(
        {
            "k": 5,
            "pool": 20,
            "depth": 100,
            "mmr": 0.5,
            "rewrite": {"name": "prf", "terms": 3},
            "embedder": {"name": "hashing", "dimensions": 64, "idf": True},
            "fulltext": {"k1": 0.9, "b": 0.4, "stemming": False},
            "fusion": {"name": "minmax", "weights": {"vector": 0.3, "fulltext": 0.7}},
            "reranker": {"name": "lexical", "top_n": 20, "backfill": True},
        }
    )
    assert settings.embedder == HashingSettings(dimensions=64, idf=True)
    assert settings.list_weights == {"vector": 0.3, "fulltext": 0.7}
    assert settings.reranked == 20


def test_a_name_and_a_switch_stand_for_a_table():
    settings = read_pipeline({"reranker": "none", "fusion": "minmax", "rewrite": "prf"})
    assert (settings.reranker.name, settings.fusion.name, settings.rewrite.name) == ("none", "minmax", "prf")
    words_only = read_pipeline({"vector": False, "mmr": False, "reranker": False})
    assert words_only.lists == ("fulltext",)
    assert words_only.reranker.name == "none"


def test_diversity_is_off_by_itself_without_vectors():
    assert read_pipeline({"vector": False}).balance is None
    assert read_pipeline({}).balance == 0.9
    assert read_pipeline({"mmr": "off"}).balance is None


def test_unknown_names_get_the_nearest_and_all_faults_come_at_once():
    assert faults_of(
        {"pools": 5, "embedder": "hash", "fusion": {"metod": "rrf"}, "fulltext": {"b": 2.0}, "k": 0}
    ) == [
        "assay.toml [pipeline] pools: there is no such setting\n  fix: did you mean 'pool'?",
        "assay.toml [pipeline] embedder: there is no 'hash'\n  fix: did you mean 'hashing'?",
        "assay.toml [pipeline.fusion] metod: there is no such setting\n  fix: known are name, k_rrf, weights",
        "assay.toml [pipeline.fulltext] b: expected float <= 1.0; it is 2.0",
        "assay.toml [pipeline] k: expected int >= 1; it is 0\n  fix: a whole number, 1 or more",
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"vector": False, "fulltext": False}, ["both lists are off"]),
        ({"pool": 5}, ["pool 5 is below k 10"]),
        ({"depth": 20}, ["depth 20 is below pool 50"]),
        ({"vector": False, "fusion": {"weights": {"vector": 1.0}}}, ["weighs the vector list, which is off"]),
        ({"fusion": {"weights": {"vector": 0, "fulltext": 0}}}, ["every weight is 0"]),
        ({"reranker": {"top_n": 60}}, ["top_n 60 is above pool 50"]),
        ({"reranker": {"top_n": 5}}, ["top_n 5 is below k 10"]),
        ({"vector": False, "mmr": 0.5}, ["needs vectors"]),
        ({"fulltext": False, "rewrite": "prf"}, ["takes its words from the full-text list"]),
        (
            {"pool": 5, "depth": 3, "reranker": {"top_n": 8}, "fulltext": False, "rewrite": "prf"},
            ["pool 5", "depth 3", "top_n 8", "takes its words"],
        ),
    ],
)
def test_what_does_not_fit_is_found_before_anything_runs(values: dict[str, Any], expected: list[str]):
    found = faults_of(values)
    assert len(found) == len(expected)
    for fault, part in zip(found, expected, strict=True):
        assert part in fault
        assert "fix:" in fault


def test_a_wrong_value_is_not_judged_a_second_time_by_what_depends_on_it():
    # pool is unknown, so that neither k nor depth can be held against it.
    assert len(faults_of({"pool": "many", "k": 80})) == 1


def test_a_back_filled_reranker_may_be_sent_few_rows():
    assert read_pipeline({"reranker": {"top_n": 5, "backfill": True}}).reranked == 5


@pytest.mark.parametrize(
    "value", [{"mmr": 1.5}, {"mmr": "on"}, {"fusion": 3}, {"embedder": {"dimensions": 0}}, {"rewrite": True}]
)
def test_values_of_the_wrong_kind_are_faults(value: dict[str, Any]):
    assert len(faults_of(value)) == 1


def test_settings_read_back_from_their_description():
    settings = read_pipeline({"mmr": 0.7, "embedder": {"dimensions": 32}, "rewrite": "prf"})
    plain = describe(settings)
    del plain["reranker"]["top_n"]  # TOML has no null: nothing said
    plain["fusion"].pop("weights")
    assert read_pipeline(plain) == settings


def test_what_holds_where_nothing_is_said_is_what_can_be_said():
    said = {"mmr": 0.9, "fusion": {"weights": {"vector": 1.0, "fulltext": 1.0}}}
    assert read_pipeline({}).in_force == read_pipeline(said) == read_pipeline(said).in_force
    words_only = read_pipeline({"vector": False}).in_force
    assert (words_only.mmr, words_only.fusion.weights.vector) == ("off", None)
    assert read_pipeline(describe_without_nulls(words_only)) == words_only


def describe_without_nulls(settings: PipelineSettings) -> dict[str, Any]:
    """Return settings as TOML can hold them."""

    def kept(values: dict[str, Any]) -> dict[str, Any]:
        return {
            key: kept(cast("dict[str, Any]", value)) if isinstance(value, dict) else value
            for key, value in values.items()
            if value is not None
        }

    return kept(describe(settings))


def test_the_digest_tells_pipelines_apart():
    assert digest(read_pipeline({"pool": 50})) == digest(read_pipeline({}))
    assert digest(read_pipeline({"pool": 51})) != digest(read_pipeline({}))
