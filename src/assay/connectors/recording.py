"""Replies kept in a file, so that a test or a colleague needs no server.

One JSON object a line, sorted when a run ends: ``{"asked": {...}, "answered": ...}``, one line a question.
Secrets are not in it: what was asked is kept as the settings write it, before ``${NAME}`` is replaced.
"""

from __future__ import annotations

import inspect
import json
import os
import threading
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from assay.connectors.hits import HitForm, RawHit, read_reply
from assay.connectors.protocol import Search
from assay.model.errors import InputError

Mode = Literal["new", "all", "none"]
"""``new``: ask for what the file lacks; ``all``: ask for everything again; ``none``: ask for nothing."""


class NotRecordedError(LookupError):
    """A question that the file has no answer to, where nothing may be asked."""


class Recording:
    """Questions and answers in a file.

    Args:
        path: the file; it is made when the first answer is kept.
        mode: what happens to a question that stands in it, or does not.

    Raises:
        InputError: the file has lines that are not a recording; or nothing may be asked and there is no file.
    """

    def __init__(self, path: Path, mode: Mode = "new") -> None:
        self.path = path
        self.mode: Mode = mode
        self._lock = threading.Lock()
        self._answers: dict[str, Any] = {}
        self._fresh: set[str] = set()
        if path.is_file():
            self._answers = _read(path)
        elif mode == "none":
            raise InputError(
                f"{path}: there is no recording, and nothing may be asked", fix='record = "new" makes one'
            )

    def answer(self, asked: Mapping[str, Any]) -> tuple[bool, Any]:
        """Return whether the answer to a question is to be had from here, and the answer.

        Raises:
            NotRecordedError: it is not, and nothing may be asked.
        """
        key = _key(asked)
        with self._lock:
            if key in self._answers and (self.mode != "all" or key in self._fresh):
                return True, self._answers[key]
        if self.mode == "none":
            raise NotRecordedError(f"not in {self.path.name}: {key[:120]}")
        return False, None

    def keep(self, asked: Mapping[str, Any], answered: object) -> None:
        """Keep an answer; it is on disk when this returns, whatever happens next."""
        key = _key(asked)
        with self._lock:
            self._answers[key] = answered
            self._fresh.add(key)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(key, answered))

    def settle(self) -> None:
        """Put the file in order, one line a question, so that it does not depend on who came first."""
        with self._lock:
            if not self._fresh:
                return
            lines = [_line(key, answered) for key, answered in sorted(self._answers.items())]
            beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
            beside.write_text("".join(lines), encoding="utf-8")
            beside.replace(self.path)
            self._fresh.clear()


class RecordedSearch:
    """A retriever whose replies are kept, and answered from what was kept.

    Args:
        search: the retriever.
        recording: where.
        form: how its hits are read; what is kept has been read.
    """

    def __init__(self, search: Search, recording: Recording, form: HitForm) -> None:
        self.search, self.recording, self.form = search, recording, form

    def __call__(self, query: str, k: int, /) -> object | Awaitable[object]:
        """Return the reply, from the file or from the retriever."""
        asked = {"query": query, "k": k}
        known, answered = self.recording.answer(asked)
        if known:
            return {
                stage: [RawHit(**hit) for hit in hits]
                for stage, hits in cast("dict[str, list[dict[str, Any]]]", answered).items()
            }
        reply = self.search(query, k)
        return self._later(asked, reply) if inspect.isawaitable(reply) else self._kept(asked, reply)

    async def _later(self, asked: dict[str, Any], reply: Awaitable[object]) -> object:
        return self._kept(asked, await reply)

    def _kept(self, asked: dict[str, Any], reply: object) -> object:
        read = read_reply(reply, self.form)
        self.recording.keep(asked, {stage: [_fields(hit) for hit in hits] for stage, hits in read.items()})
        return read


def _fields(hit: RawHit) -> dict[str, Any]:
    names = ("id", "doc_id", "start", "end", "score", "text")
    return {name: value for name in names if (value := getattr(hit, name)) is not None}


def _key(asked: Mapping[str, Any]) -> str:
    return json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _line(key: str, answered: object) -> str:
    return f'{{"asked":{key},"answered":{json.dumps(answered, ensure_ascii=False, separators=(",", ":"))}}}\n'


def _read(path: Path) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            answers[_key(row["asked"])] = row["answered"]
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):  # a run was stopped while it wrote the last line: it is asked for again
                break
            raise InputError(
                f"{path}:{number}: this is not a line of a recording", fix="delete the line"
            ) from error
    return answers
