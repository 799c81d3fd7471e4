from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.flows.diagnose import diagnose
from assay.flows.evaluate import evaluate
from assay.flows.prepare import prepare
from assay.flows.project import load_project
from assay.model.errors import ConfigError, InputError
from small_project import make_project


def faults_of(folder: Path, settings: str) -> str:
    make_project(folder, settings=settings)
    with pytest.raises(ConfigError) as caught:
        load_project(folder)
    return str(caught.value)


def test_every_fault_of_the_file_comes_at_once_with_the_nearest_name(tmp_path: Path):
    told = faults_of(tmp_path, "nmae = 'x'\nk = 'ten'\n[corpsu]\npath = 'docs'\n")
    assert "assay.toml nmae: there is no such setting\n  fix: did you mean 'name'?" in told
    assert "assay.toml k: should be int, not 'ten'" in told
    assert "assay.toml corpsu: there is no such setting\n  fix: did you mean 'corpus'?" in told


def test_faults_of_all_tables_come_at_once_also_of_those_that_rooms_read(tmp_path: Path):
    told = faults_of(
        tmp_path,
        "nmae = 'x'\nk = true\n[corpus]\npaht = 'docs'\n[chunker]\nname = 'paragrafs'\n"
        "[pipeline]\npol = 5\nk = 3\n[measure]\nnames = ['nDGC@10']\n[gate]\n'recal@10' = '>= 0.7'\n",
    )
    for place, fix in (
        ("nmae: there is no such setting", "did you mean 'name'?"),
        ("k: should be int, not True", "k = 10, for one"),
        ("[corpus] paht: there is no such setting", "did you mean 'path'?"),
        ("[pipeline] k: k stands above the tables", "k = 3 as a line"),
        ("[chunker]: no chunker is called 'paragrafs'", "did you mean 'paragraphs'?"),
        ("[pipeline] pol: there is no such setting", "did you mean 'pool'?"),
        ("[measure] names: unknown measure 'nDGC@10'", "did you mean nDCG@10?"),
        ("[gate] 'recal@10': unknown measure 'recal@10'", "did you mean recall@10?"),
    ):
        assert f"assay.toml {place}\n  fix: {fix}" in told


def test_a_run_tells_the_faults_of_every_room_before_it_reads_anything(tmp_path: Path):
    settings = (
        "[corpus]\npath = 'nowhere'\n[chunker]\nmax_char = 9\n[pipeline]\nvector = false\nfulltext = false\n"
    )
    project = load_project(make_project(tmp_path, settings=settings))
    with pytest.raises(ConfigError) as caught:
        prepare(project)
    told = str(caught.value)
    assert "assay.toml [chunker]: no setting is called 'max_char'\n  fix: did you mean 'max_chars'?" in told
    assert "assay.toml [pipeline] vector: both lists are off" in told
    assert "nowhere" not in told


def test_a_folder_in_the_place_of_the_file_is_called_one(tmp_path: Path):
    (tmp_path / "assay.toml").mkdir()
    with pytest.raises(ConfigError, match="is a folder, not a file"):
        load_project(tmp_path)


def test_unknown_keys_inside_a_table_are_errors(tmp_path: Path):
    told = faults_of(tmp_path, "[corpus]\npaht = 'docs'\n[golden]\nkind = []\n")
    assert "assay.toml [corpus] paht: there is no such setting\n  fix: did you mean 'path'?" in told
    assert "assay.toml [corpus]: 'path' is missing" in told
    assert "assay.toml [golden] kind: there is no such setting\n  fix: did you mean 'kinds'?" in told


def test_a_missing_file_names_the_command_that_writes_one(tmp_path: Path):
    with pytest.raises(ConfigError, match="assay init FOLDER writes one"):
        load_project(tmp_path)


def test_a_broken_file_says_where(tmp_path: Path):
    assert "this is not TOML" in faults_of(tmp_path, "k = = 3")


def test_k_below_1_is_refused(tmp_path: Path):
    assert "assay.toml k: should be at least 1, not 0" in faults_of(
        tmp_path, "k = 0\n[corpus]\npath = 'docs'\n"
    )


def test_k_inside_the_pipeline_is_sent_to_the_top(tmp_path: Path):
    assert "k = 5 as a line of its own" in faults_of(tmp_path, "[corpus]\npath = 'docs'\n[pipeline]\nk = 5\n")


def test_one_knob_can_be_turned(tmp_path: Path):
    project = load_project(make_project(tmp_path))
    turned = project.with_settings({"chunker.max_chars": 40, "pipeline.reranker.top_n": 3, "k": 1})
    assert (turned.chunker["max_chars"], turned.pipeline["reranker"], turned.k) == (40, {"top_n": 3}, 1)
    assert project.chunker["max_chars"] == 80


def test_turning_a_knob_of_a_short_form_keeps_its_name(tmp_path: Path):
    project = load_project(make_project(tmp_path)).with_settings({"pipeline.reranker": "lexical"})
    assert project.with_settings({"pipeline.reranker.top_n": 3}).pipeline["reranker"] == {
        "name": "lexical",
        "top_n": 3,
    }


def test_turning_a_knob_of_a_retriever_in_short_form_keeps_its_call(tmp_path: Path):
    settings = f'retriever = "my_search:find"\n{(make_project(tmp_path) / "assay.toml").read_text()}'
    project = load_project(make_project(tmp_path, settings=settings))
    turned = project.with_settings({"retriever.concurrency": 4})
    assert turned.retriever == {"call": "my_search:find", "concurrency": 4}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("docs", "project is 'docs', which is no Project\n  fix: load_project('docs')"),
        (None, "project is None, which is no Project\n  fix: load_project(FOLDER)"),
    ],
)
def test_a_path_in_the_place_of_a_project_is_told(given: Any, told: str):
    for call in (evaluate, diagnose):
        with pytest.raises(InputError) as caught:
            call(given)
        assert str(caught.value) == told
