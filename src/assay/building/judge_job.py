"""The judging job: grades every candidate of its pools, keeps every reply, loses nothing when it is killed.

A reply is stored before its grade is; a job that is started again takes what was replied from the store, and
asks only for the rest. A reply that is not what was asked for is asked for once more, counted, and never
guessed at.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from assay.building.budget import Budget, BudgetSpentError
from assay.building.chat import Answer, Chat, ChatError
from assay.building.judge_prompt import JudgeAnswer, JudgePrompt, schema
from assay.building.replies import parse_reply
from assay.model.labels import Candidate, Judgement, Pool, Reply, ReplyStatus

_FAILURES_IN_A_ROW = 5
Progress = Callable[[str, int, int], None]


class Keeper(Protocol):
    """Where replies and judgements are kept: the label store."""

    def add_reply(self, reply: Reply) -> Reply: ...

    def replies(self, *, job: str | None = None, status: ReplyStatus | None = None) -> tuple[Reply, ...]: ...

    def add_judgements(self, rows: Sequence[Judgement]) -> tuple[Judgement, ...]: ...

    def judgements(self, *, by: str | None = None) -> tuple[Judgement, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTask:
    """One candidate of one query."""

    pool_id: str
    query_id: str
    query: str
    candidate: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOutcome:
    """What a job did, and what became of every reply."""

    judge: str
    job: str
    places: int
    """Candidates that the job has to grade."""
    graded: int
    """Of these, how many have a grade now."""
    asked: int
    """Replies asked for now."""
    replayed: int
    """Places whose reply was stored already."""
    refused: Mapping[str, int]
    """Why replies were refused -> how many, over all starts of the job."""
    unreadable: int
    """Places without a grade, because no reply could be read in as many attempts as are allowed."""
    failed: int
    """Requests now to which no answer came."""
    calls: int
    """Requests of the job, over all its starts."""
    tokens: int
    stopped: str | None = None
    """Why it ended early: the budget, an endpoint that fails; None when it did what it could."""


def tasks_of(pools: Iterable[Pool]) -> tuple[JudgeTask, ...]:
    """Return each place of each query once, in the order of the pools."""
    tasks: dict[tuple[str, str], JudgeTask] = {}
    for pool in pools:
        for candidate in pool.candidates:
            task = JudgeTask(pool_id=pool.id, query_id=pool.query_id, query=pool.query, candidate=candidate)
            tasks.setdefault((pool.query_id, candidate.place), task)
    return tuple(tasks.values())


@dataclass(kw_only=True)
class JudgeJob:
    """One judge at work.

    Args:
        chat: the model.
        prompt: what it is told.
        keeper: keeps replies and judgements.
        budget: what it may spend, over all starts.
        attempts: how often one place is asked for, over all starts.
        workers: how many places are asked for at a time.
    """

    chat: Chat
    prompt: JudgePrompt
    keeper: Keeper
    budget: Budget
    attempts: int = 2
    workers: int = 1
    graded: set[str] = field(init=False, default_factory=set[str])
    """Tasks whose grade is in the store."""
    _stored: dict[str, list[Reply]] = field(init=False, default_factory=lambda: defaultdict(list))

    @property
    def judge(self) -> str:
        return self.prompt.name(self.chat.name)

    @property
    def name(self) -> str:
        """The job's name in the store."""
        return f"judge {self.judge}"

    def run(self, tasks: Sequence[JudgeTask], *, progress: Progress | None = None) -> JudgeOutcome:
        """Grade the places; what was graded before is not asked for again."""
        self._recall()
        pursuit = _Pursuit(self)
        counts: Counter[str] = Counter()
        for done, outcome in enumerate(self._pursued(pursuit, tasks), start=1):
            counts[outcome] += 1
            if progress is not None:
                progress("judging", done, len(tasks))
        return JudgeOutcome(
            judge=self.judge,
            job=self.name,
            places=len(tasks),
            graded=counts["graded"] + counts["replayed"],
            asked=pursuit.asked,
            replayed=counts["replayed"],
            refused=self._refused(),
            unreadable=counts["unreadable"],
            failed=pursuit.failed,
            calls=self.budget.calls,
            tokens=self.budget.tokens,
            stopped=pursuit.stopped,
        )

    def _recall(self) -> None:
        """Read what earlier starts of the job were told, and what they spent."""
        for reply in self.keeper.replies(job=self.name):
            self.budget.spent(calls=1, tokens=reply.prompt_tokens + reply.completion_tokens)
            if reply.status != "failed":
                self._stored[reply.task].append(reply)
        self.graded |= {row.id for row in self.keeper.judgements(by=self.judge)}

    def _pursued(self, pursuit: _Pursuit, tasks: Sequence[JudgeTask]) -> Iterator[str]:
        if self.workers == 1:
            yield from map(pursuit, tasks)
            return
        with ThreadPoolExecutor(self.workers) as pool:
            yield from pool.map(pursuit, tasks)

    def _refused(self) -> dict[str, int]:
        refused = self.keeper.replies(job=self.name, status="refused")
        return dict(sorted(Counter(reply.reason for reply in refused).items()))

    def stored(self, task: str) -> list[Reply]:
        """Return the replies to a task that are there already, in their order."""
        return list(self._stored.get(task, ()))

    def answered(self, task: JudgeTask, digest: str, refused: Sequence[tuple[str, str]]) -> Answer:
        """Ask, within the budget; every request that gets no answer is counted and stored.

        Raises:
            BudgetSpentError: there is nothing left to ask with.
            ChatError: no answer came.
        """
        messages = self.prompt.messages(task.query, task.candidate.text, refused)
        aside = self.chat.most_tokens(messages, schema=schema())
        requests = 0

        def permit() -> None:
            nonlocal requests
            if requests:  # the one before was answered by an error: it counts, and is kept
                self._store_failure(digest, "asked again")
            self.budget.take(0 if requests else aside)
            requests += 1

        used = 0
        try:
            answer = self.chat.ask(messages, schema=schema(), permit=permit)
            used = answer.prompt_tokens + answer.completion_tokens
        except ChatError as error:
            self._store_failure(digest, error.reason, request=error.request)
            raise
        finally:
            if requests:
                self.budget.settle(aside, used)
        return answer

    def _store_failure(self, task: str, reason: str, *, request: str = "") -> None:
        self.keeper.add_reply(
            Reply(
                job=self.name,
                task=task,
                model=self.chat.name,
                request=request,
                status="failed",
                reason=reason,
            )
        )


class _Pursuit:
    """Asks for a place until a reply can be read, the attempts are used up, or nothing more can be asked."""

    def __init__(self, job: JudgeJob) -> None:
        self._job = job
        self.stopped: str | None = None
        self.asked = 0
        self.failed = 0
        self._failures = 0

    def __call__(self, task: JudgeTask) -> str:
        job = self._job
        digest = task_digest(job.judge, task)
        if digest in job.graded:
            return "replayed"
        refused: list[tuple[str, str]] = []
        for reply in job.stored(digest):
            if self._graded(task, digest, reply, refused):
                return "replayed"
        while len(refused) < job.attempts:
            answer = self._answer(task, digest, refused)
            if answer is None:
                return "left"
            why = parse_reply(answer.text, JudgeAnswer).why
            reply = job.keeper.add_reply(self._reply(digest, answer, len(refused) + 1, why))
            if self._graded(task, digest, reply, refused):
                return "graded"
        return "unreadable"

    def _graded(self, task: JudgeTask, digest: str, reply: Reply, refused: list[tuple[str, str]]) -> bool:
        """Keep the grade of a reply that can be read; else remember why it cannot."""
        read = parse_reply(reply.text, JudgeAnswer)
        if read.value is None:
            refused.append((reply.text, read.why))
            return False
        self._job.keeper.add_judgements([self._judgement(task, digest, read.value, reply)])
        return True

    def _answer(self, task: JudgeTask, digest: str, refused: Sequence[tuple[str, str]]) -> Answer | None:
        """Ask for one reply; None when none came, or nothing more can be asked."""
        if self.stopped is not None:
            return None
        try:
            answer = self._job.answered(task, digest, refused)
        except BudgetSpentError as spent:
            self.stopped = str(spent)
            return None
        except ChatError as error:
            self.failed += 1
            self._failures += 1
            if error.final or self._failures >= _FAILURES_IN_A_ROW:
                self.stopped = error.reason
            return None
        self._failures = 0
        self.asked += 1
        return answer

    def _reply(self, digest: str, answer: Answer, attempt: int, why: str) -> Reply:
        return Reply(
            job=self._job.name,
            task=digest,
            attempt=attempt,
            model=self._job.chat.name,
            request=answer.request,
            text=answer.text,
            status="refused" if why else "accepted",
            reason=why,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            elapsed_ms=answer.elapsed_ms,
        )

    def _judgement(self, task: JudgeTask, digest: str, answer: JudgeAnswer, reply: Reply) -> Judgement:
        """Return the judgement of a reply; made twice, it is the same row."""
        return Judgement(
            id=digest,
            query_id=task.query_id,
            doc_id=task.candidate.doc_id,
            start=task.candidate.start,
            end=task.candidate.end,
            grade=float(answer.grade),
            shown=task.candidate.text,
            why=answer.why,
            by=self._job.judge,
            origin="judge",
            model=self._job.chat.name,
            pool_id=task.pool_id,
            margin=answer.confidence,
            elapsed_ms=reply.elapsed_ms,
        )


def task_digest(judge: str, task: JudgeTask) -> str:
    """Return what stands for a question in the store: 32 hex digits over judge, words and place."""
    asked = [judge, task.query_id, task.query, task.candidate.place, task.candidate.text]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
