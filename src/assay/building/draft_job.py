"""The drafting job: asks a model for questions, keeps every reply, and loses nothing when it is killed.

A job is made again from its replies: the same settings ask the same questions in the same order, and a reply
that is stored already is taken instead of asking. Results do not depend on how many questions are asked at a
time.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.building.budget import Budget, BudgetSpentError
from assay.building.chat import Answer, Chat, ChatError, Message
from assay.building.draft_checks import DraftChecker, Offered, Refusal
from assay.building.draft_prompts import VERSION, TwoPassageProposal, form_of, messages_of, schema_of
from assay.building.draft_tasks import DraftTask
from assay.building.questions import question_key
from assay.building.replies import parse_reply
from assay.model.golden import Provenance, Query
from assay.model.labels import Draft, Reply, ReplyStatus

_MOST_TASKS = 4
"""Tasks that are tried for each question that is wanted: a model that cannot do it ends the job."""
_FAILURES_IN_A_ROW = 5
Progress = Callable[[str, int, int], None]


class Keeper(Protocol):
    """Where replies and drafts are kept: the label store."""

    def add_reply(self, reply: Reply) -> Reply: ...

    def replies(self, *, job: str | None = None, status: ReplyStatus | None = None) -> tuple[Reply, ...]: ...

    def add_drafts(self, drafts: Sequence[Draft]) -> tuple[Draft, ...]: ...

    def drafts(self, *, job: str | None = None) -> tuple[Draft, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftReport:
    """What a job made, and what became of every reply."""

    job: str
    drafts: tuple[Draft, ...]
    wanted: Mapping[str, int]
    """Kind -> how many were asked for."""
    asked: int = 0
    """Replies asked for now; those of an earlier start of the job are not among them."""
    replayed: int = 0
    """Replies that were stored already."""
    refused: Mapping[str, int] = field(default_factory=dict[str, int])
    """Why replies were refused -> how many: ``not the JSON asked for``, ``anchor``, ``leaks``, ..."""
    failed: int = 0
    """Questions to which no answer came."""
    calls: int = 0
    """Requests of the job, over all its starts."""
    tokens: int = 0
    """Tokens of the job, over all its starts."""
    stopped: str | None = None
    """Why it ended early: the budget, an endpoint that fails; None when it did what it could."""

    @property
    def missing(self) -> Mapping[str, int]:
        """Kind -> how many fewer than wanted there are; kinds in full are left out."""
        made = Counter(draft.query.kind for draft in self.drafts)
        return {kind: count - made[kind] for kind, count in self.wanted.items() if made[kind] < count}


@dataclass(kw_only=True)
class DraftJob:
    """One job.

    Args:
        name: the job's; the same name with the same settings goes on where it was stopped.
        chat: the model.
        checker: checks what it replies.
        keeper: keeps replies and drafts.
        budget: what it may spend, over all starts.
        attempts: how often one task is asked; from the second time on the model is told what was wrong.
        workers: how many tasks are asked at a time.
    """

    name: str
    chat: Chat
    checker: DraftChecker
    keeper: Keeper
    budget: Budget
    attempts: int = 2
    workers: int = 1
    _stored: dict[str, Reply] = field(init=False, default_factory=dict[str, Reply])
    _counts: Counter[str] = field(init=False, default_factory=Counter[str])

    def run(
        self,
        wanted: Mapping[str, int],
        next_task: Callable[[str], DraftTask | None],
        *,
        taken: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> DraftReport:
        """Draft so many questions of each kind.

        Args:
            wanted: kind -> how many.
            next_task: gives the next task of a kind, the same in every start of the job.
            taken: questions that exist already.
            progress: told how many are done.
        """
        self._recall()
        own = {question_key(draft.query.text) for draft in self.keeper.drafts(job=self.name)}
        keys = {question_key(text) for text in taken} - own
        made: dict[str, list[Draft]] = {kind: [] for kind in wanted}
        tried: Counter[str] = Counter()
        stopped: str | None = None
        while stopped is None:
            tasks = self._round(wanted, made, tried, next_task)
            if not tasks:
                break
            for outcome in self._pursued(tasks, frozenset(keys)):
                self._counts.update(outcome.counts)
                stopped = stopped or outcome.stopped
                if outcome.offered is not None:
                    draft = self._kept(outcome, keys)
                    made[outcome.task.kind] += [] if draft is None else [draft]
                if progress is not None:
                    progress("drafting", sum(map(len, made.values())), sum(wanted.values()))
        told = {"asked", "replayed", "failed"}
        return DraftReport(
            job=self.name,
            drafts=tuple(draft for drafts in made.values() for draft in drafts),
            wanted=dict(wanted),
            asked=self._counts["asked"],
            replayed=self._counts["replayed"],
            refused={name: count for name, count in sorted(self._counts.items()) if name not in told},
            failed=self._counts["failed"],
            calls=self.budget.calls,
            tokens=self.budget.tokens,
            stopped=stopped,
        )

    def _recall(self) -> None:
        """Read what earlier starts of the job were told, and what they spent."""
        for reply in self.keeper.replies(job=self.name):
            self.budget.spent(calls=1, tokens=reply.prompt_tokens + reply.completion_tokens)
            if reply.status != "failed":
                self._stored[reply.task] = reply

    def _round(
        self,
        wanted: Mapping[str, int],
        made: Mapping[str, Sequence[Draft]],
        tried: Counter[str],
        next_task: Callable[[str], DraftTask | None],
    ) -> list[DraftTask]:
        """Return as many tasks as drafts are missing, the kinds in turn."""
        tasks: list[DraftTask] = []
        for kind, count in wanted.items():
            for _ in range(min(count - len(made[kind]), _MOST_TASKS * count - tried[kind])):
                task = next_task(kind)
                if task is None:
                    tried[kind] = _MOST_TASKS * count
                    break
                tried[kind] += 1
                tasks.append(task)
        return tasks

    def _pursued(self, tasks: Sequence[DraftTask], taken: frozenset[str]) -> Iterator[_Outcome]:
        """Yield the outcome of each task, in their order, whatever the number of workers."""
        pursuit = _Pursuit(self, taken)
        if self.workers == 1:
            yield from map(pursuit, tasks)
            return
        with ThreadPoolExecutor(self.workers) as pool:
            yield from pool.map(pursuit, tasks)

    def _kept(self, outcome: _Outcome, keys: set[str]) -> Draft | None:
        """Append the draft of an outcome, unless another of the same round asks the same."""
        offered, reply = outcome.offered, outcome.reply
        assert offered is not None
        assert reply is not None
        key = question_key(offered.question)
        if key in keys:
            self._counts["duplicate"] += 1
            return None
        keys.add(key)
        draft = draft_of(self.name, outcome.task, offered, by=self.chat.name, reply_id=reply.id)
        return self.keeper.add_drafts([draft])[0]

    def replied(self, messages: Sequence[Message], task: DraftTask, attempt: int) -> _Said:
        """Return the reply to a question: the stored one, or one that is asked for within the budget.

        Raises:
            BudgetSpentError: there is nothing left to ask with.
            ChatError: no answer came; that is stored too.
        """
        schema = schema_of(task)
        digest = task_digest(self.chat.name, messages, schema)
        known = self._stored.get(digest)
        if known is not None:
            return _Said(reply=known, new=False)
        estimate = self.chat.most_tokens(messages, schema=schema)
        requests = 0

        def permit() -> None:
            nonlocal requests
            if requests:  # the one before was answered by an error: it counts, and is kept
                self._store_failure(digest, attempt, "asked again")
            self.budget.take(estimate if not requests else 0)
            requests += 1

        try:
            answer = self.chat.ask(messages, schema=schema, permit=permit)
        except ChatError as error:
            self._store_failure(digest, attempt, error.reason, request=error.request)
            self.budget.settle(estimate, 0)
            raise
        except BudgetSpentError:
            if requests:
                self.budget.settle(estimate, 0)
            raise
        self.budget.settle(estimate, answer.prompt_tokens + answer.completion_tokens)
        return _Said(reply=self._reply(digest, attempt, answer), new=True)

    def _reply(self, digest: str, attempt: int, answer: Answer) -> Reply:
        return Reply(
            job=self.name,
            task=digest,
            attempt=attempt,
            model=self.chat.name,
            request=answer.request,
            text=answer.text,
            status="refused",
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            elapsed_ms=answer.elapsed_ms,
        )

    def _store_failure(self, digest: str, attempt: int, reason: str, *, request: str = "") -> None:
        self.keeper.add_reply(
            Reply(
                job=self.name,
                task=digest,
                attempt=attempt,
                model=self.chat.name,
                request=request,
                status="failed",
                reason=reason,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A reply, and whether it has yet to be stored."""

    reply: Reply
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What became of one task."""

    task: DraftTask
    offered: Offered | None = None
    reply: Reply | None = None
    counts: Counter[str] = field(default_factory=Counter[str])
    stopped: str | None = None


class _Pursuit:
    """Asks until a proposal can be used, the attempts are used up, or nothing more can be asked."""

    def __init__(self, job: DraftJob, taken: frozenset[str]) -> None:
        self._job = job
        self._taken = taken
        self._stopped: str | None = None
        self._failures = 0

    def __call__(self, task: DraftTask) -> _Outcome:
        counts: Counter[str] = Counter()
        refused: list[tuple[str, str]] = []
        for attempt in range(1, self._job.attempts + 1):
            if self._stopped is not None:
                return _Outcome(task=task, counts=counts, stopped=self._stopped)
            try:
                said = self._job.replied(messages_of(task, refused), task, attempt)
            except BudgetSpentError as spent:
                self._stopped = str(spent)
                return _Outcome(task=task, counts=counts, stopped=self._stopped)
            except ChatError as error:
                counts["failed"] += 1
                self._failures += 1
                if error.final or self._failures >= _FAILURES_IN_A_ROW:
                    self._stopped = error.reason
                return _Outcome(task=task, counts=counts, stopped=self._stopped)
            self._failures = 0
            counts["asked" if said.new else "replayed"] += 1
            offered, wrong = self._read(task, said.reply.text, last=attempt == self._job.attempts)
            reply = self._stored(said, wrong)
            if not wrong:
                return _Outcome(task=task, offered=offered, reply=reply, counts=counts)
            counts.update({refusal.code for refusal in wrong})
            refused.append((said.reply.text, "; ".join(refusal.why for refusal in wrong)))
        return _Outcome(task=task, counts=counts)

    def _read(self, task: DraftTask, text: str, *, last: bool) -> tuple[Offered | None, Sequence[Refusal]]:
        parsed = parse_reply(text, form_of(task))
        proposal = parsed.value
        if proposal is None:
            return None, [Refusal(code="not the JSON asked for", why=parsed.why)]
        quotes = [proposal.anchor]
        if isinstance(proposal, TwoPassageProposal):
            quotes.append(proposal.second_anchor)
        offered = self._job.checker.check(
            task, proposal.question, quotes, facts=proposal.facts, taken=self._taken, last=last
        )
        return offered, offered.refusals

    def _stored(self, said: _Said, wrong: Sequence[Refusal]) -> Reply:
        if not said.new:
            return said.reply
        why = "; ".join(f"{refusal.code}: {refusal.why}" for refusal in wrong)
        return self._job.keeper.add_reply(
            replace(said.reply, status="refused" if wrong else "accepted", reason=why)
        )


def task_digest(model: str, messages: Sequence[Message], schema: Mapping[str, object]) -> str:
    """Return what stands for a question in the store: 32 hex digits over model, words and form."""
    asked = json.dumps([VERSION, model, list(map(dict, messages)), dict(schema)], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:32]


def draft_of(job: str, task: DraftTask, offered: Offered, *, by: str, reply_id: str | None = None) -> Draft:
    """Return the draft of a checked proposal; the same proposal of the same job has the same id."""
    made = json.dumps([job, task.key, offered.question, [anchor.quote for anchor in offered.anchors]])
    digest = hashlib.sha256(made.encode()).hexdigest()[:32]
    query = Query(
        id=f"{task.kind}-{digest[:8]}",
        text=offered.question,
        kind=task.kind,
        anchors=offered.anchors,
        provenance=Provenance(origin="generated", source=by),
    )
    return Draft(
        id=digest,
        job=job,
        query=query,
        evidence={passage.place: passage.text for passage in task.passages},
        notes=offered.notes,
        reply_id=reply_id,
        by=by,
    )
