"""Small models that tests make and save: folders as the hub has them, with weights that a hand can follow.

The cross-encoder counts: its vocabulary has one number a word; a pair's score is the sum of the numbers of
the words that the passage (token type 1) holds, within the window. The embedder gives each token the row
``[number, 1, 0, 0]``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS = {
    "[PAD]": 0.0,
    "[UNK]": 0.0,
    "[CLS]": 0.0,
    "[SEP]": 0.0,
    "pump": 1.0,
    "valve": 2.0,
    "door": -1.0,
    "red": 0.5,
}
"""Word -> its number."""


def save_tokenizer(folder: Path) -> None:
    """Write ``tokenizer.json``: words between blanks, with BERT's signs around one text or two."""
    made = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    # As some models on the hub are saved: cut and padded to what their training used.
    made.enable_truncation(8)
    made.enable_padding(length=8)
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))


def save_cross_encoder(folder: Path, *, columns: int = 1, max_length: int = 16) -> Path:
    """Write a cross-encoder; with two columns it gives the score as [0, score]."""
    save_tokenizer(folder)
    weights = np.zeros((len(WORDS), columns), np.float32)
    weights[:, -1] = list(WORDS.values())
    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["each"]),
        helper.make_node("Mul", ["attention_mask", "token_type_ids"], ["of_passage"]),
        helper.make_node("Cast", ["of_passage"], ["as_number"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["as_number", "last"], ["mask"]),
        helper.make_node("Mul", ["each", "mask"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "tokens"], ["logits"], keepdims=0),
    ]
    constants = [
        numpy_helper.from_array(weights, "weights"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "tokens"),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", columns])
    graph = helper.make_graph(nodes, "counts", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (folder / "onnx").mkdir(exist_ok=True)
    (folder / "onnx" / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": max_length}))
    return folder


def save_embedder(folder: Path, *, pooled: bool = False, pooling: str | None = "cls") -> Path:
    """Write an embedder; a pooled one gives one row a text by itself, that of its first token."""
    save_tokenizer(folder)
    weights = np.zeros((len(WORDS), 4), np.float32)
    weights[:, 0], weights[:, 1] = list(WORDS.values()), 1.0
    constants = [numpy_helper.from_array(weights, "weights")]
    nodes = [helper.make_node("Gather", ["weights", "input_ids"], ["last_hidden_state"])]
    shape: list[str | int] = ["batch", "sequence", 4]
    name = "last_hidden_state"
    if pooled:
        name, shape = "sentence_embedding", ["batch", 4]
        constants.append(numpy_helper.from_array(np.array(0, np.int64), "first"))
        nodes.append(helper.make_node("Gather", ["last_hidden_state", "first"], [name], axis=1))
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])]
    output = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "looks up", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 6}))
    if pooling is not None:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        modes = {
            f"pooling_mode_{mode}_token{'s' * (mode != 'cls')}": mode == pooling for mode in ("cls", "mean")
        }
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    return folder
