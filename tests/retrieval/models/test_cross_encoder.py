from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import load_model_from_string

from assay.model.errors import ConfigError
from assay.retrieval.models.protocols import Reporting, Reranker, Window
from assay.retrieval.models.registry import make_reranker, resolve_reranker
from assay.retrieval.models.settings import CrossEncoderSettings
from retrieval.models.candidates import candidates_of
from retrieval.models.tiny_models import save_cross_encoder

PASSAGES = ("pump valve", "door", "red pump pump", "nothing known", "valve " * 20)


def reranker(folder: Path, **settings: Any) -> Reranker:
    made = make_reranker(resolve_reranker(CrossEncoderSettings(model=str(folder), **settings)))
    assert made is not None
    return made


def test_scores_are_the_model_s_numbers(tmp_path: Path):
    made = reranker(save_cross_encoder(tmp_path / "counts"))
    reply = made.rerank("pump", *candidates_of(*PASSAGES))
    assert reply.places.tolist() == [0, 1, 2, 3, 4]
    # The words' numbers summed; the last is cut: 16 tokens less [CLS] pump [SEP] and [SEP] leave 12 valves.
    assert reply.scores.tolist() == [3.0, -1.0, 2.5, 0.0, 24.0]


def test_what_the_window_cut_is_on_record(tmp_path: Path):
    made = reranker(save_cross_encoder(tmp_path / "counts"))
    assert made.window == Window(max_length=16, special_tokens=3)
    reply = made.rerank("pump", *candidates_of(*PASSAGES))
    assert reply.read == {4: len("valve " * 12) - 1}
    assert isinstance(made, Reporting)
    report = made.take_report()
    assert (report.texts, report.cut, report.cut_tokens) == (5, (4,), 8)


def test_the_context_is_read_first_and_takes_its_part_of_the_window(tmp_path: Path):
    made = reranker(save_cross_encoder(tmp_path / "counts"), max_length=8)
    # [CLS] pump [SEP] red red red door [SEP]: of the chunk's own text, 'door' alone is read.
    reply = made.rerank("pump", *candidates_of("door valve", context="red red red"))
    assert reply.scores.tolist() == [1.5 - 1.0]
    assert reply.read == {0: len("red red red\ndoor")}


def test_of_two_columns_the_second_less_the_first_counts(tmp_path: Path):
    made = reranker(save_cross_encoder(tmp_path / "two", columns=2))
    assert made.rerank("pump", *candidates_of("pump valve", "door")).scores.tolist() == [3.0, -1.0]


def test_three_columns_are_no_reranker(tmp_path: Path):
    made = reranker(save_cross_encoder(tmp_path / "three", columns=3))
    with pytest.raises(ConfigError, match="3 numbers a pair"):
        made.rerank("pump", *candidates_of("pump"))


def test_company_and_batches_change_no_score(tmp_path: Path):
    folder = save_cross_encoder(tmp_path / "counts")
    whole = reranker(folder).rerank("pump", *candidates_of(*PASSAGES)).scores
    one_by_one = reranker(folder, batch_tokens=1).rerank("pump", *candidates_of(*PASSAGES)).scores
    assert whole.tobytes() == one_by_one.tobytes()


def test_no_candidates_give_no_rows(tmp_path: Path):
    reply = reranker(save_cross_encoder(tmp_path / "counts")).rerank("pump", *candidates_of())
    assert reply.places.tolist() == []
    assert reply.scores.dtype == np.float64


def test_a_missing_folder_is_named_by_its_setting(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"\[pipeline\.reranker\] model: there is no folder"):
        resolve_reranker(CrossEncoderSettings(model=str(tmp_path / "absent")))


def test_a_model_that_is_no_encoder_of_texts_is_refused(tmp_path: Path):
    folder = save_cross_encoder(tmp_path / "counts")
    path = folder / "onnx" / "model.onnx"
    model = load_model_from_string(path.read_bytes())
    for node in model.graph.node:
        node.input[:] = ["pixels" if name == "token_type_ids" else name for name in node.input]
    next(one for one in model.graph.input if one.name == "token_type_ids").name = "pixels"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ConfigError, match="asks for pixels"):
        reranker(folder)
