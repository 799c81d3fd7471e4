from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.connectors.frameworks import kind_of
from assay.connectors.hits import RawHit
from conformance.small_corpus import TEXTS
from connectors.by_words import Kit, ranked, search


def stand_in(module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a class that looks as if it came from a package that is too heavy for tests."""
    monkeypatch.setitem(sys.modules, module, ModuleType(module))
    return type(name, (), {"__module__": module})


class TestDSPy(Kit):
    __test__ = True
    base: Any

    @pytest.fixture(autouse=True)
    def _base(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.base = stand_in("dspy.primitives.module", "Module", monkeypatch)

    def make(self) -> object:
        class Retrieve(self.base):
            def __call__(self, query: str, **options: Any) -> object:
                return self.forward(query, **options)

            def forward(self, query: str, k: int | None = None) -> object:
                return SimpleNamespace(passages=[chunk.text for _, chunk in ranked(query)][:k])

        return Retrieve()


def test_passages_of_dspy_are_texts_and_not_ids(monkeypatch: pytest.MonkeyPatch):
    base = stand_in("dspy.retrievers.embeddings", "Embeddings", monkeypatch)

    class Mine(base):
        def __call__(self, query: str) -> object:
            return SimpleNamespace(passages=[f"{query} text"])

    assert search(Mine(), "one")["final"] == [RawHit(text="one text")]


def test_the_real_dspy_retriever_is_known():
    dspy = pytest.importorskip("dspy")

    def embed(texts: Sequence[str]) -> Any:
        return np.array([[len(text), 1.0] for text in texts], np.float32)

    module = dspy.retrievers.Embeddings(corpus=list(TEXTS.values()), embedder=embed, k=2)
    assert kind_of(module) == "assay.connectors.dspy:of_module"
    assert [hit.text in TEXTS.values() for hit in search(module, "card")["final"]] == [True, True]
