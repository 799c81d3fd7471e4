"""Texts a second: Assay's embedders against the same models called directly; at most 10 % slower is the aim.

    python benchmarks/embedding.py [FILE]

Needs ``retrieval-assay[minilm,static]``. FILE is any long text; by default the demo's handbook is repeated.
Passages have about 218 word pieces, queries about 12. Each pair of runs is repeated in turn and the best of
each counts, since other work on the machine slows whichever it meets.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np

from assay.demo import project_files
from assay.retrieval.models import minilm
from assay.retrieval.models.registry import make_embedder, resolve_embedder
from assay.retrieval.models.settings import MiniLMSettings, WordLlamaSettings
from assay.store.atomic import write_text

RESULTS = Path(__file__).parent / "RESULTS.md"
BEGIN, END = "<!-- embedding: begin -->", "<!-- embedding: end -->"
ROUNDS = {"MiniLM, 8 bit": 4, "wordllama, static": 25}
PASSAGE, QUERY = 1010, 48
"""Characters of a passage and of a query."""
Embed = Callable[[Sequence[str]], Any]


def main(arguments: Sequence[str]) -> int:
    text = read(arguments)
    rows: list[str] = []
    for name, own, direct, n_passages, n_queries in (
        ("MiniLM, 8 bit", our_minilm(), onnxruntime_directly(), 32, 128),
        ("wordllama, static", our_wordllama(), wordllama_directly(), 2_000, 8_000),
    ):
        for kind, size, count in (("passages", PASSAGE, n_passages), ("queries", QUERY, n_queries)):
            texts = pieces(text, size, count)
            ours, theirs = race(own, direct, texts, ROUNDS[name])
            rows.append(f"| {name} | {kind} | {theirs:,.0f} | {ours:,.0f} | {ours / theirs:.2f} |")
            print(rows[-1], flush=True)
    keep("\n".join([OPENING, *rows]))
    return 0


def read(arguments: Sequence[str]) -> str:
    if arguments:
        return Path(arguments[0]).read_text(encoding="utf-8")
    return "\n".join(content.decode() for name, content in project_files().items() if name.endswith(".md"))


def pieces(text: str, size: int, count: int) -> list[str]:
    starts = np.linspace(0, max(len(text) - size, 0), count).astype(int).tolist()
    return [text[start : start + size] for start in starts]


def race(ours: Embed, theirs: Embed, texts: Sequence[str], rounds: int) -> tuple[float, float]:
    """Return texts a second of both: the best of several rounds, in turn."""
    best = [0.0, 0.0]
    for embed in (ours, theirs):
        embed(texts[:4])
    for _ in range(rounds):
        for place, embed in enumerate((ours, theirs)):
            began = time.perf_counter()
            embed(texts)
            best[place] = max(best[place], len(texts) / (time.perf_counter() - began))
    return best[0], best[1]


def our_minilm() -> Embed:
    embedder = make_embedder(resolve_embedder(MiniLMSettings()))
    return lambda texts: embedder.embed_passages(texts, {})


def our_wordllama() -> Embed:
    embedder = make_embedder(resolve_embedder(WordLlamaSettings()))
    return lambda texts: embedder.embed_passages(texts, {})


def onnxruntime_directly() -> Embed:
    """MiniLM as its users write it: batches of 32 as they come, padded to the longest, mean, length 1."""
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 2
    session = runtime.InferenceSession(str(minilm.weights()), options, providers=["CPUExecutionProvider"])
    tokenizer = minilm.tokenizer()
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()

    def embed(texts: Sequence[str]) -> np.ndarray:
        rows: list[np.ndarray] = []
        for start in range(0, len(texts), 32):
            encoded = tokenizer.encode_batch(list(texts[start : start + 32]))
            ids = np.array([one.ids for one in encoded], np.int64)
            mask = np.array([one.attention_mask for one in encoded], np.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (hidden,) = session.run(None, given)
            found = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
            rows.append(found / np.linalg.norm(found, axis=1, keepdims=True))
        return np.concatenate(rows)

    return embed


def wordllama_directly() -> Embed:
    """The package's own ``embed``; its tokenizer is put where it looks for it."""
    package = import_module("wordllama")
    logging.getLogger().handlers.clear()  # importing it sets up logging
    folder = Path(tempfile.mkdtemp(prefix="wordllama-"))
    source = Path(str(package.__file__)).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    for name in ("tokenizer", "tokenizers"):
        (folder / name).mkdir()
        copy(source, folder / name / source.name)
    model = package.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: model.embed(list(texts), norm=True)


OPENING = """\
## Embedding: texts a second

Made by `python benchmarks/embedding.py`: Assay's embedder against the model's library called directly, on
two shared cores (the ratio is what counts). Directly, MiniLM is called in padded batches of 32 as they come.

| model | texts | directly | Assay | ratio |
|---|---|---:|---:|---:|"""


def keep(text: str) -> None:
    """Put the text between its marks in RESULTS.md, at the end when the marks are not there."""
    before = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else "# Results\n"
    block = f"{BEGIN}\n{text}\n{END}"
    if BEGIN in before and END in before:
        head, rest = before.split(BEGIN, 1)
        whole = head + block + rest.split(END, 1)[1]
    else:
        whole = f"{before.rstrip()}\n\n{block}\n"
    write_text(RESULTS, whole)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
