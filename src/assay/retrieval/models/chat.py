"""A language model as reranker, behind ``/v1/chat/completions``: it grades each passage from 0 to 10.

The reply must be exactly the JSON that was asked for. One that is not (other text around it, a passage that
was not shown, a grade beyond 10) is counted, and nothing is read out of it: its passages have no score and
stand last. Good replies are kept by the content of the question. Equal grades stand in their incoming order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models.client import EndpointError
from assay.retrieval.models.cross_encoder import passages_of
from assay.retrieval.models.protocols import Candidates, ModelReport, Reply, Surroundings
from assay.retrieval.models.served import Served, ServedReranker
from assay.retrieval.models.settings import ChatSettings

_FILE = "graded.sqlite"
_FEATURE = "reranker 'chat'"
_BEST = 10
_TASK = f"""You grade how well passages answer a question, from 0 (says nothing of it) to {_BEST} (answers
it in full). Judge only what a passage says. Reply with JSON alone, one grade for each passage:
{{"grades": [{{"passage": 1, "grade": 7}}, ...]}}"""


class _Grade(msgspec.Struct, forbid_unknown_fields=True):
    passage: Annotated[int, msgspec.Meta(ge=1)]
    grade: Annotated[int, msgspec.Meta(ge=0, le=_BEST)]


class _Grades(msgspec.Struct, forbid_unknown_fields=True):
    grades: list[_Grade]


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Usage(msgspec.Struct):
    total_tokens: int = 0


class _Completion(msgspec.Struct):
    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    usage: _Usage | None = None


class ChatReranker(ServedReranker):
    """See the page's head.

    Args:
        settings: which server and model.
        where: the surroundings; replies are kept in their cache.
    """

    def __init__(self, settings: ChatSettings, where: Surroundings) -> None:
        super().__init__(Served(settings, where, file=_FILE, feature=_FEATURE))
        self.settings = settings

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:
        """Grade every candidate, some at a time; NaN for those of a reply that could not be read."""
        own = self.settings
        passages = passages_of(positions, candidates)
        rows: list[tuple[int, float]] = []
        for start in range(0, len(passages), own.passages):
            batch = passages[start : start + own.passages]
            grades = self._grade(query, [passage[: own.max_chars] for passage in batch])
            if grades is None:
                rows += [(start + place, float("nan")) for place in range(len(batch))]
            else:
                rows += [(start + place, float(grade)) for place, grade in grades]
        read = {place: own.max_chars for place, text in enumerate(passages) if len(text) > own.max_chars}
        return Reply(
            places=np.array([place for place, _ in rows], np.int64),
            scores=np.array([grade for _, grade in rows], np.float64),
            read=read,
        )

    def _grade(self, query: str, passages: Sequence[str]) -> list[tuple[int, int]] | None:
        """Return (place, grade) pairs; None when the reply is not what was asked for."""
        body = self._body(query, passages)
        key, held = self._served.held("chat", body, texts=len(passages))
        if held is not None:
            return read_grades(held.decode(), len(passages))
        reply = self._ask(body)
        grades = read_grades(reply, len(passages))
        self._served.account.add(ModelReport(texts=len(passages), malformed=int(grades is None)))
        if grades is not None:
            self._served.kept.put({key: reply.encode()})
        return grades

    def _ask(self, body: dict[str, Any]) -> str:
        said = self._served.post("/chat/completions", body)
        try:
            answer = msgspec.convert(said, _Completion)
        except msgspec.ValidationError as error:
            raise EndpointError(
                f"{_FEATURE}: the server's answer has not the form of /v1/chat/completions: {error}"
            ) from None
        self._served.paid((answer.usage or _Usage()).total_tokens)
        return answer.choices[0].message.content or ""

    def _body(self, query: str, passages: Sequence[str]) -> dict[str, Any]:
        shown = "\n\n".join(f"Passage {number}:\n{text}" for number, text in enumerate(passages, 1))
        body: dict[str, Any] = {
            "model": self.settings.model,
            "messages": [
                {"role": "system", "content": _TASK},
                {"role": "user", "content": f"Question: {query}\n\n{shown}"},
            ],
            "temperature": 0,
        }
        if self.settings.structured:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "grades", "strict": True, "schema": _schema()},
            }
        return body


def read_grades(reply: str, n_passages: int) -> list[tuple[int, int]] | None:
    """Return (place from 0, grade) pairs of a reply; None when it is not what was asked for.

    >>> read_grades('{"grades": [{"passage": 2, "grade": 7}]}', 2)
    [(1, 7)]
    >>> read_grades('Sure! {"grades": []}', 2) is None
    True
    """
    try:
        grades = msgspec.json.decode(reply, type=_Grades).grades
    except msgspec.DecodeError:
        return None
    numbers = [one.passage for one in grades]
    if len(set(numbers)) < len(numbers) or any(number > n_passages for number in numbers):
        return None
    return [(one.passage - 1, one.grade) for one in grades]


def _schema() -> dict[str, Any]:
    """Return the JSON schema of a reply, in the strict form that servers take: every key required."""
    number = {"type": "integer"}
    grade = {
        "type": "object",
        "properties": {"passage": number, "grade": number},
        "required": ["passage", "grade"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"grades": {"type": "array", "items": grade}},
        "required": ["grades"],
        "additionalProperties": False,
    }
