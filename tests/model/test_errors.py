"""The error tree: one text for people, its faults for programs, the same in another process."""

from __future__ import annotations

import pickle

import pytest

from assay.building.chat import ChatError
from assay.model.errors import AssayError, ConfigError, Fault, InputError, MissingExtraError, reason_of
from assay.retrieval.models.client import EndpointError
from assay.retrieval.workers import WorkerError


@pytest.mark.parametrize(
    "error",
    [
        ConfigError([Fault(where="a", what="b", fix="c"), Fault(where="d", what="e")]),
        MissingExtraError("embedder 'minilm'", package="onnxruntime", extra="minilm"),
        EndpointError("answered 401", status=401),
        ChatError("no answer", request="{}", final=True),
        WorkerError("ended", fix="start again"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_another_process_is_the_same_here(error: AssayError):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.faults, vars(again)) == (str(error), error.faults, vars(error))


def test_the_reason_leaves_places_in_and_fixes_out():
    error = InputError([Fault(where="a:1", what="b", fix="c"), Fault(where="", what="d", fix="e")])
    assert str(error) == "a:1: b\n  fix: c\nd\n  fix: e"
    assert reason_of(error) == "a:1: b; d"
