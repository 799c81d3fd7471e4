"""Nothing heavy is imported before it is used, and what is missing is named with the extra that brings it."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.connectors.registry import ENGINES, MODULES, connect
from assay.model.errors import MissingExtraError

PACKAGES = {
    "http": ("httpx", "jmespath"),
    "postgresql": ("psycopg",),
    "sqlite": ("sqlite_vec", "pysqlite3", "sqlite3"),
    "duckdb": ("duckdb", "duckdb_extensions"),
    "tantivy": ("tantivy",),
    "lancedb": ("lancedb", "pyarrow"),
    "chroma": ("chromadb",),
    "qdrant": ("qdrant_edge",),
    "milvus": ("pymilvus", "milvus_lite"),
    "redis": ("redis",),
}
"""Extra -> what it brings to connectors."""
FRAMEWORKS = ("langchain_core", "llama_index", "haystack", "dspy", "ir_datasets", "mteb")
EVERYTHING = """
import pkgutil, sys
import assay, assay.connectors, assay.flows.retrieve, assay.flows.index, assay.cli, assay.store.imports.known
from importlib import import_module
for module in pkgutil.iter_modules(assay.connectors.__path__):
    import_module(f"assay.connectors.{module.name}")
print(" ".join(sorted({name.split(".")[0] for name in sys.modules})))
"""
SETTINGS: dict[str, dict[str, Any]] = {
    "http": {"type": "http", "url": "http://127.0.0.1:9/", "hits": "hits"},
    "postgresql": {"type": "postgresql", "url": "postgresql://127.0.0.1:9/x"},
    "sqlite": {"type": "sqlite", "url": "sqlite:///x.db"},
    "duckdb": {"type": "duckdb", "url": "duckdb:///x.db"},
    "tantivy": {"type": "tantivy", "url": "tantivy:///x"},
    "lancedb": {"type": "lancedb", "url": "lancedb:///x"},
    "chroma": {"type": "chroma", "url": "chroma:///x"},
    "qdrant": {"type": "qdrant", "url": "qdrant:///x"},
    "milvus": {"type": "milvus", "url": "milvus:///x.db"},
    "redis": {"type": "redis", "url": "redis://127.0.0.1:9"},
}


def embed(texts: Any) -> NDArray[np.float32]:
    return np.ones((len(texts), 2), np.float32)


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """Top-level names that are loaded once every connector's module is."""
    done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("extra", PACKAGES)
def test_no_connector_loads_what_an_extra_brings(extra: str, loaded: set[str]):
    assert not loaded & set(PACKAGES[extra])


@pytest.mark.parametrize("package", FRAMEWORKS)
def test_no_connector_loads_a_framework(package: str, loaded: set[str]):
    assert package not in loaded


@pytest.mark.parametrize("extra", PACKAGES)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    extra: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for package in PACKAGES[extra]:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"retrieval-assay\[{extra}\]"):
        connect(SETTINGS[extra], folder=tmp_path, embed=embed)[0].search("pump", 1)


@pytest.mark.parametrize(
    "name", ["opensearch", "elasticsearch", "weaviate", "vespa", "typesense", "meilisearch"]
)
def test_engines_behind_http_need_the_extra_http_alone(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setitem(sys.modules, "httpx", None)
    values = {"type": name, "url": f"{name}+http://127.0.0.1:9"}
    with pytest.raises(MissingExtraError, match=r"retrieval-assay\[http\]"):
        connect(values, folder=tmp_path, embed=embed)[0].search("pump", 1)


def test_every_extra_that_errors_name_is_there():
    known = set(importlib.metadata.metadata("retrieval-assay").get_all("Provides-Extra") or [])
    source = Path(__file__).resolve().parents[2] / "src" / "assay" / "connectors"
    named = {
        extra for file in source.glob("*.py") for extra in re.findall(r'extra="(\w+)"', file.read_text())
    } - {"none"}
    written = (source.parents[2] / "pyproject.toml").read_text()
    assert named == set(PACKAGES)
    assert all(extra in known or re.search(rf"^{extra} = \[", written, re.MULTILINE) for extra in named)


def test_every_connector_says_what_it_is():
    assert set(ENGINES) < set(MODULES)
    for kind, module in MODULES.items():
        assert module == f"assay.connectors.{kind}"
