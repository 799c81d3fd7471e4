from __future__ import annotations

from pathlib import Path

import pytest

from assay.flows.project import Project, load_project
from assay.flows.sweep import balanced, rounds_of
from assay.flows.sweep_names import full_name, known_settings
from assay.flows.sweep_plan import load_plan, read_plan
from assay.model.errors import ConfigError
from assay.model.golden import Query
from small_project import make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return load_project(make_project(tmp_path))


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("reranker", "pipeline.reranker"),
        ("pool", "pipeline.pool"),
        ("max_chars", "chunker.max_chars"),
        ("overlap", "chunker.overlap"),
        ("k1", "pipeline.fulltext.k1"),
        ("dimensions", "pipeline.embedder.dimensions"),
        ("vector", "pipeline.vector"),
        ("chunker.name", "chunker"),
        ("pipeline.fusion.weights.vector", "pipeline.fusion.weights.vector"),
    ],
)
def test_short_names_mean_the_setting_that_ends_so(project: Project, short: str, full: str):
    assert full_name(project, short, "") == full


def test_a_short_name_of_two_settings_is_refused_with_both(project: Project):
    with pytest.raises(ConfigError, match="'enabled' can be") as error:
        full_name(project, "enabled", "--vary enabled")
    assert "pipeline.vector.enabled or pipeline.fulltext.enabled" in str(error.value)


def test_an_unknown_name_gets_the_nearest(project: Project):
    with pytest.raises(ConfigError, match="did you mean 'reranker'"):
        full_name(project, "rerankr", "--vary rerankr")


def test_every_known_setting_is_its_own_full_name(project: Project):
    assert [full_name(project, name, "") for name in known_settings()] == [
        "chunker" if name == "chunker.name" else name for name in known_settings()
    ]


def test_a_grid_has_every_combination_the_last_knob_fastest(project: Project):
    plan = load_plan(project, None, ["pool=4,8", "reranker=none,lexical"])
    assert [one.name for one in plan.configurations] == [
        "pool=4 reranker=none",
        "pool=4 reranker=lexical",
        "pool=8 reranker=none",
        "pool=8 reranker=lexical",
    ]
    # The project's reranker is not named: 'lexical' is a change like any other.
    assert plan.configurations[3].changes == {"pipeline.pool": 8, "pipeline.reranker": {"name": "lexical"}}


def test_a_model_that_is_there_keeps_its_own_settings(project: Project):
    own = project.with_settings({"pipeline.reranker": {"name": "lexical", "span": 9}})
    plan = load_plan(own, None, ["reranker=none,lexical", "chunker=paragraphs,markdown"])
    assert plan.configurations[2].changes == {}
    assert plan.configurations[1].changes == {
        "pipeline.reranker": {"name": "none"},
        "chunker": {"name": "markdown"},
    }


def test_values_are_toml_where_they_can_be(project: Project):
    plan = load_plan(project, None, ["mmr=0.5,off", "vector=true,false"])
    assert [one.changes["pipeline.mmr"] for one in plan.configurations] == [0.5, 0.5, "off", "off"]
    assert plan.configurations[1].changes["pipeline.vector"] is False


def test_a_file_has_knobs_of_a_teams_own(project: Project, tmp_path: Path):
    file = tmp_path / "sweep.toml"
    file.write_text(
        'measure = "recall@2"\n[knobs]\npool = [4, 8]\n[knobs.style]\n'
        'plain = {}\ndeep = { depth = 20, reranker = "none" }\n'
    )
    plan = load_plan(project, file)
    assert [one.labels["style"] for one in plan.configurations] == ["plain", "deep", "plain", "deep"]
    assert plan.configurations[1].changes == {
        "pipeline.pool": 4,
        "pipeline.depth": 20,
        "pipeline.reranker": {"name": "none"},
    }
    assert load_plan(project, file, ["pool=6"]).configurations[0].changes == {"pipeline.pool": 6}
    assert load_plan(project, file, measure="hit@2").table.measure == "hit@2"


def test_a_table_goes_before_settings_inside_it(project: Project):
    values = {"knobs": {"pipeline.embedder.dimensions": [64], "embedder": [{"name": "hashing", "idf": True}]}}
    (one,) = read_plan(project, values).configurations
    assert list(one.changes) == ["pipeline.embedder", "pipeline.embedder.dimensions"]


def test_lists_switch_the_first_stage(project: Project):
    plan = load_plan(project, None, ["lists=vector,fulltext,both"])
    assert [one.changes for one in plan.configurations] == [
        {"pipeline.vector.enabled": True, "pipeline.fulltext.enabled": False},
        {"pipeline.vector.enabled": False, "pipeline.fulltext.enabled": True},
        {"pipeline.vector.enabled": True, "pipeline.fulltext.enabled": True},
    ]
    diverse = load_plan(project.with_settings({"pipeline.mmr": 0.7}), None, ["lists=fulltext"])
    assert diverse.configurations[0].changes["pipeline.mmr"] == "off"


def test_all_faults_of_a_plan_come_at_once(project: Project):
    values = {"knobs": {"rerankr": ["none"], "lists": ["dense"], "pool": 5, "k": [2, 2]}, "method": "grid"}
    with pytest.raises(ConfigError) as error:
        read_plan(project, values)
    assert len(error.value.faults) == 4
    assert "there are no lists 'dense'" in str(error.value)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"knobs": {}}, "nothing is varied"),
        ({"knobs": {"pool": [4]}, "method": "random"}, "random needs samples"),
        ({"knobs": {"pool": [4]}, "methd": "grid"}, "did you mean 'method'"),
        ({"knobs": {"pool": list(range(1, 101)), "depth": list(range(1, 101))}}, "10,000 configurations"),
        ({"knobs": {"pool": [4], "pipeline.pool": [5]}}, "stands twice"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(project: Project, values: dict[str, object], told: str):
    with pytest.raises(ConfigError, match=told):
        read_plan(project, values)


def test_a_text_without_values_is_refused(project: Project):
    with pytest.raises(ConfigError, match="name=value,value"):
        load_plan(project, None, ["pool"])


def test_random_draws_the_same_configurations_from_the_same_seed(project: Project):
    vary = ["pool=4,5,6,7,8,9", "depth=20,30,40,50"]
    first = load_plan(project, None, vary, method="random", samples=7, seed=3)
    again = load_plan(project, None, vary, method="random", samples=7, seed=3)
    other = load_plan(project, None, vary, method="random", samples=7, seed=4)
    numbers = [one.number for one in first.configurations]
    assert numbers == [one.number for one in again.configurations] == sorted(set(numbers))
    assert numbers != [one.number for one in other.configurations]
    whole = {one.number: one.labels for one in load_plan(project, None, vary).configurations}
    assert all(whole[one.number] == one.labels for one in first.configurations)


def test_rounds_of_halving_by_hand(project: Project):
    vary = [f"pool={','.join(str(pool) for pool in range(4, 31))}"]
    plan = load_plan(project, None, vary, method="halving")
    # 27 configurations, 900 queries: the last round asks 900 of 3, before it 300 of 9, first 100 of 27.
    assert rounds_of(plan, 900) == [(27, 100), (9, 300), (3, 900)]
    # 400 / 3 / 3 would be 44, below 50: two rounds.
    assert rounds_of(plan, 400) == [(27, 133), (9, 400)]
    assert rounds_of(plan, 60) == [(27, 60)]
    assert rounds_of(load_plan(project, None, vary), 900) == [(27, 900)]


def test_every_beginning_of_the_order_holds_the_kinds_in_their_proportions():
    queries = [Query(id=f"a{n}", text="", kind="a") for n in range(60)]
    queries += [Query(id=f"b{n}", text="", kind="b") for n in range(30)]
    order = balanced(queries, seed=5)
    assert sorted(order) == sorted(query.id for query in queries)
    for size in (9, 30, 60):
        assert abs(sum(one[0] == "a" for one in order[:size]) - 2 * size / 3) <= 1
    assert balanced(queries[::-1], seed=5) == order
    assert balanced(queries, seed=6) != order
