"""Every quickstart of a connector runs, on the real engine or, where none can be had, on a stand-in."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from assay.connectors.frameworks import KINDS
from assay.connectors.registry import TYPES
from conformance import stand_ins
from conformance.postgresql_server import own_database
from conformance.redis_server import redis_url
from conformance.stand_in import StandIn, serving
from connectors.search_server import running
from docs.sessions import run_page

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "connectors"
PAGES = sorted(FOLDER.glob("*.md"))
STAND_INS: dict[str, type[StandIn]] = {
    "opensearch": stand_ins.OpenSearch,
    "elasticsearch": stand_ins.Elasticsearch,
    "weaviate": stand_ins.Weaviate,
    "vespa": stand_ins.Vespa,
    "typesense": stand_ins.Typesense,
    "meilisearch": stand_ins.Meilisearch,
}


@contextmanager
def redis_host() -> Generator[str]:
    yield redis_url("pages").removeprefix("redis://").removesuffix("/0")


@contextmanager
def http_host() -> Generator[str]:
    with running() as server:
        yield server.url.removeprefix("http://")


@contextmanager
def served(name: str, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Start what a page's examples need, and say where it is in the environment."""
    others: dict[str, Callable[[], AbstractContextManager[str]]] = {"redis": redis_host, "http": http_host}
    if name == "postgresql":
        monkeypatch.setenv("SHOP_DATABASE", own_database("pages").removeprefix("postgresql://"))
        yield
    elif name in STAND_INS or name in others:
        host = serving(STAND_INS[name]()) if name in STAND_INS else others[name]()
        with host as address:
            monkeypatch.setenv("SEARCH_HOST", address)
            yield
    else:
        yield


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_of_the_page_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if page.stem == "dspy":
        pytest.importorskip("dspy")
    monkeypatch.syspath_prepend(tmp_path)
    with served(page.stem, monkeypatch):
        failures = run_page(page, tmp_path)
    sys.modules.pop("my_app", None)  # the next page has its own
    if failures:
        pytest.fail("\n\n".join(failures), pytrace=False)


def test_every_connector_and_framework_has_a_page_and_a_line_in_the_overview():
    frameworks = {place.split(":")[0].rsplit(".", 1)[1] for _, _, place in KINDS}
    wanted = {*TYPES, *frameworks}
    assert {page.stem for page in PAGES} == wanted
    overview = (FOLDER.parent / "connectors.md").read_text(encoding="utf-8")
    assert all(f"(connectors/{name}.md)" in overview for name in wanted)
