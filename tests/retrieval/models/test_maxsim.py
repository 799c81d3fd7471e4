from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.retrieval.models.encoder import Encoder
from assay.retrieval.models.maxsim import MaxSimReranker
from assay.retrieval.models.protocols import Surroundings, Window
from assay.retrieval.models.registry import make_reranker, resolve_reranker
from assay.retrieval.models.settings import MaxSimSettings
from retrieval.models import bert_by_hand
from retrieval.models.candidates import candidates_of

QUERY = "When do refunds reach the card?"
PASSAGES = (
    "Parcels leave the warehouse every weekday at six.",
    "Money that is given back arrives on the card within 14 days.",
    "Opened software cannot be returned at all.",
)


def maxsim(cache: Path | None = None, **settings: Any) -> MaxSimReranker:
    where = Surroundings(cache=cache)
    made = make_reranker(resolve_reranker(MaxSimSettings(**settings), where), where)
    assert isinstance(made, MaxSimReranker)
    return made


def by_hand(query: str, passage: str) -> float:
    """Each token of the query, the two signs left out, and its best in the passage: the mean cosine."""
    rows: list[np.ndarray] = []
    for text in (query, passage):
        found = bert_by_hand.hidden(bert_by_hand.tokenizer().encode(text).ids)[1:-1]
        rows.append(found / np.linalg.norm(found, axis=1, keepdims=True))
    return float((rows[0] @ rows[1].T).max(axis=1).mean())


def test_the_score_is_the_mean_of_the_best_cosines():
    scores = maxsim().rerank(QUERY, *candidates_of(*PASSAGES)).scores
    # 8-bit weights and 16-bit vectors here, full precision there.
    assert scores == pytest.approx([by_hand(QUERY, passage) for passage in PASSAGES], abs=0.02)
    assert scores.argmax() == 1


def test_a_passage_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = maxsim(tmp_path).rerank(QUERY, *candidates_of(*PASSAGES)).scores
    computed: list[int] = []
    run = Encoder.run

    def counted(self: Encoder, tokens: list[object], *, rank: int) -> object:
        computed.append(len(tokens))
        return run(self, tokens, rank=rank)  # type: ignore[arg-type] # what it was given

    monkeypatch.setattr(Encoder, "run", counted)
    again = maxsim(tmp_path)
    assert again.rerank(QUERY, *candidates_of(*PASSAGES)).scores.tobytes() == first.tobytes()
    assert computed == [1, 0]  # the query, and no passage
    again.rerank(QUERY, *candidates_of("something new", PASSAGES[0]))
    assert computed == [1, 0, 1, 1]


def test_another_window_computes_again(tmp_path: Path):
    whole = maxsim(tmp_path).rerank(QUERY, *candidates_of(PASSAGES[1])).scores
    assert maxsim(tmp_path, max_length=4).rerank(QUERY, *candidates_of(PASSAGES[1])).scores != whole


def test_company_changes_no_score():
    made = maxsim()
    together = made.rerank(QUERY, *candidates_of(*PASSAGES)).scores
    alone = [made.rerank(QUERY, *candidates_of(passage)).scores[0] for passage in PASSAGES]
    assert together.tolist() == alone


def test_nothing_to_compare_scores_0():
    made = maxsim()
    assert made.rerank(QUERY, *candidates_of(" ", PASSAGES[1])).scores[0] == 0
    assert made.rerank("", *candidates_of(*PASSAGES)).scores.tolist() == [0, 0, 0]
    assert made.rerank(QUERY, *candidates_of()).scores.tolist() == []


def test_what_its_window_cuts_is_on_record():
    made = maxsim(max_length=8)
    assert made.window == Window(max_length=8, special_tokens=2, holds_query=False)
    reply = made.rerank("parcels", *candidates_of("short", PASSAGES[0]))
    # [CLS] parcels leave the warehouse every week ##day [SEP] and more: 6 pieces are read.
    assert reply.read == {1: len("Parcels leave the warehouse every weekday")} or reply.read == {
        1: len("Parcels leave the warehouse every")
    }
    assert made.take_report().cut == (1,)
