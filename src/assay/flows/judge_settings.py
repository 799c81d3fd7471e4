"""``[judge]`` of ``assay.toml``: the model, its prompt, what it may spend, and the bar for its licence."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.building.chat import ModelTable
from assay.flows.judge_licence import BAR, bar_of
from assay.flows.project import FILE, Project
from assay.model.errors import ConfigError, Fault
from assay.model.settings import read_settings


class JudgeTable(msgspec.Struct, frozen=True, kw_only=True):
    """``[judge]``: an automatic judge, and when its labels count."""

    bar: float = BAR
    """What the lower bounds of both rates must reach; aim at 0.9."""
    relevant_from: float = 1.0
    """The lowest grade that is called relevant."""
    instructions: str = ""
    """What the judge is told besides its rules: the team's own words. Another wording is another judge."""
    instructions_file: str | None = None
    """The same in a file, relative to ``assay.toml``."""
    examples: int = 0
    """How many graded places of the train part stand in the prompt, half of them relevant."""
    train: float = 0.2
    """The share of queries whose labels may stand in the prompt."""
    dev: float = 0.4
    """The share to look at while the prompt is written; the rest is the test part."""
    attempts: int = 2
    """How often one place is asked for: the second time the model is told what was wrong."""
    workers: int = 1
    """How many places are asked for at a time."""
    budget_calls: int | None = None
    """The most requests of one judge, over all its starts; None: no bound."""
    budget_tokens: int | None = None
    """The most tokens, prompt and answer together."""
    model: ModelTable | None = None
    """``[judge.model]``: the endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeWishes:
    """What the command line asks for; None: what ``[judge]`` says."""

    base_url: str | None = None
    model: str | None = None
    calls: int | None = None
    tokens: int | None = None
    workers: int | None = None


def judge_table(project: Project, wishes: JudgeWishes | None = None) -> JudgeTable:
    """Return what ``[judge]`` says, with what the command line says in its place.

    Raises:
        ConfigError: a setting is wrong; all faults are listed.
    """
    where = f"{FILE} [judge]"
    wishes = wishes or JudgeWishes()
    values = dict(project.raw.get("judge", {}))
    said = {"budget_calls": wishes.calls, "budget_tokens": wishes.tokens, "workers": wishes.workers}
    values.update({key: value for key, value in said.items() if value is not None})
    reached = dict(values.get("model", {}))
    if wishes.model is not None:
        reached["model"] = wishes.model
    address = wishes.base_url or reached.get("base_url") or os.environ.get("OPENAI_BASE_URL")
    if address and (reached or wishes.base_url):
        reached["base_url"] = address
    if reached:
        values["model"] = reached
    table, faults = read_settings(JudgeTable, values, where)
    if table is None:
        raise ConfigError(faults)
    bar_of(project)
    for name in ("attempts", "workers"):
        if getattr(table, name) < 1:
            what = f"should be at least 1, not {getattr(table, name)}"
            faults.append(Fault(where=f"{where} {name}", what=what))
    if table.examples < 0:
        faults.append(Fault(where=f"{where} examples", what=f"should be 0 or more, not {table.examples}"))
    if not (table.train >= 0.0 and table.dev >= 0.0 and table.train + table.dev < 1.0):
        what = f"train {table.train:g} and dev {table.dev:g} leave nothing to test by"
        faults.append(Fault(where=where, what=what, fix="train = 0.2 and dev = 0.4"))
    if table.examples and not table.train:
        what = "examples come from the train part, which is empty"
        faults.append(Fault(where=f"{where} train", what=what, fix="train = 0.2, or examples = 0"))
    if faults:
        raise ConfigError(faults)
    return table


def instructions_of(project: Project, table: JudgeTable) -> str:
    """Return what the team adds to the judge's rules.

    Raises:
        ConfigError: the file is not there, or is not text.
    """
    if table.instructions_file is None:
        return table.instructions
    path = Path(project.folder) / table.instructions_file
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            Fault(
                where=f"{FILE} [judge] instructions_file",
                what=f"{path} cannot be read ({error})",
                fix="name a text file in UTF-8, beside assay.toml or by its whole path",
            )
        ) from error
    return "\n\n".join(filter(str.strip, (table.instructions, text)))
