"""``assay judge run``: a language model grades the candidates of pools.

Rooms: store (labels), building (the prompt, the job, the budget, the client of the endpoint).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.building.budget import Budget
from assay.building.chat import Chat
from assay.building.judge_job import JudgeJob, JudgeOutcome, Progress, tasks_of
from assay.building.judge_parts import part_of
from assay.building.judge_prompt import GRADES, Example, JudgePrompt
from assay.building.standing import standings
from assay.flows.golden_labels import project_labels
from assay.flows.judge_settings import JudgeTable, JudgeWishes, instructions_of, judge_table
from assay.flows.project import FILE, Project
from assay.model.errors import ConfigError, Fault, InputError
from assay.model.judges import Part
from assay.model.labels import Decision, Judgement, Pool


def judge_pools(
    project: Project,
    *,
    pool: str | None = None,
    limit: int | None = None,
    wishes: JudgeWishes | None = None,
    progress: Progress | None = None,
) -> JudgeOutcome:
    """Let the project's judge grade candidates; the same call goes on where an earlier one was stopped.

    Args:
        project: the project; ``[judge]`` says which model, and what it is told.
        pool: the pooling; None: all there are.
        limit: grade at most so many places.
        wishes: what the command line says in place of the settings.
        progress: told how many are done.

    Raises:
        ConfigError: a setting is wrong, or no model is named.
        InputError: there is no such pool.
        StoreError: the label store cannot be read or written.
    """
    table = judge_table(project, wishes)
    if table.model is None:
        fix = 'write base_url = "..." and model = "..." there, or give --base-url and --model'
        raise ConfigError(Fault(where=f"{FILE} [judge.model]", what="no model is named", fix=fix))
    with project_labels(project) as store:
        held = store.snapshot()
        pools = [one for one in held.pools if pool is None or one.name == pool]
        if not pools:
            known = ", ".join(sorted({one.name for one in held.pools}))
            told = f"there is no pool {pool!r}" if pool else "there is no pool yet"
            raise InputError(told, fix=f"known are {known}" if known else "assay golden pool")
        prompt = JudgePrompt(
            instructions=instructions_of(project, table),
            examples=examples_of(project, table, held.pools, held.judgements, held.decisions),
        )
        job = JudgeJob(
            chat=Chat(table=table.model),
            prompt=prompt,
            keeper=store,
            budget=Budget(most_calls=table.budget_calls, most_tokens=table.budget_tokens),
            attempts=table.attempts,
            workers=table.workers,
        )
        return job.run(tasks_of(pools)[:limit], progress=progress)


def examples_of(
    project: Project,
    table: JudgeTable,
    pools: Iterable[Pool],
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
) -> tuple[Example, ...]:
    """Return the graded places that stand in the prompt: of the train part, the first that people agreed on.

    Half of them are relevant, where there are as many; the rest is not.
    """
    if not table.examples:
        return ()
    words = {pool.query_id: pool.query for pool in pools}
    people = [row for row in judgements if row.origin == "person"]
    first: Mapping[tuple[str, str], Judgement] = {
        (row.query_id, row.place): row for row in reversed(people) if row.shown
    }
    known = {(one.query_id, one.place): one.grade for one in standings(people, decisions)}
    rows = [
        (row, grade)
        for key, row in sorted(first.items(), key=lambda item: item[1].seq)
        if part_of_query(project, table, row.query_id) == "train"
        and row.query_id in words
        and (grade := known[key]) is not None
    ]
    relevant = [one for one in rows if one[1] >= table.relevant_from]
    other = [one for one in rows if one[1] < table.relevant_from]
    half = min(len(relevant), max(table.examples - table.examples // 2, table.examples - len(other)))
    chosen = [*relevant[:half], *other[: table.examples - half]]
    return tuple(
        Example(
            query=words[row.query_id],
            passage=row.shown,
            grade=round(min(max(grade, min(GRADES)), max(GRADES))),
            why=row.why,
        )
        for row, grade in sorted(chosen, key=lambda one: one[0].seq)
    )


def part_of_query(project: Project, table: JudgeTable, query_id: str) -> Part:
    """Return the part of the labels that a query belongs to."""
    return part_of(query_id, seed=project.seed, train=table.train, dev=table.dev)
