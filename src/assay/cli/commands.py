"""The list of commands: what ``assay --help`` shows without loading any of them."""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """One verb of a group of commands."""

    module: str
    """Its file under ``assay.cli``; it defines ``command``."""
    summary: str
    """One line for the group's help."""


class Command(NamedTuple):
    """One verb of the command line."""

    module: str
    """Its file under ``assay.cli``; it defines ``command`` (a function) or ``VERBS`` (a group)."""
    summary: str
    """One line for ``assay --help``."""
    chapter: str
    """The heading that it stands under."""


START = "Start"
MEASURE = "Measure"
BUILD = "Build a golden set"
FILES = "Runs and judgements from anywhere"

COMMANDS: dict[str, Command] = {
    "demo": Command("demo", "copy the bundled project into a folder and measure it", START),
    "init": Command("init", "write an assay.toml for a folder of documents", START),
    "import": Command("importing", "turn a known golden set into a project folder", START),
    "check": Command("check", "prove the golden set before it is used", START),
    "run": Command("running", "measure the retriever: overall, by kind, stage by stage", MEASURE),
    "index": Command("index", "put the chunks into an engine, to measure it beside others", MEASURE),
    "runs": Command("runs", "list the stored runs", MEASURE),
    "show": Command("show", "print a stored run again", MEASURE),
    "explain": Command(
        "explain", "one query: its anchors, its ranks at every stage, its arithmetic", MEASURE
    ),
    "compare": Command(
        "compare", "runs side by side: what changed, whether it is proven, what moved", MEASURE
    ),
    "diagnose": Command("diagnose", "where each miss was lost, why, and which fix brings it back", MEASURE),
    "report": Command(
        "report", "one HTML file of a run: figures, losses, misses with their evidence", MEASURE
    ),
    "sweep": Command(
        "sweep", "turn every knob: what each setting is worth, costs, and owes to chance", MEASURE
    ),
    "gate": Command("gate", "compare with floors, pins and a baseline; exit 1 when one falls", MEASURE),
    "golden": Command("golden", "draft, pool, split, export, drift: build a set and keep it true", BUILD),
    "judge": Command("judge", "run, report: automatic judges, validated before believed", BUILD),
    "ui": Command("ui", "open the workbench in the browser: label, review, compare", BUILD),
    "score": Command("score", "score runs against judgements, from files of any usual form", FILES),
    "convert": Command("convert", "write a run or judgements in another form", FILES),
    "fuse": Command("fuse", "fuse runs into one: reciprocal ranks or scaled scores, with weights", FILES),
}
"""Verb -> command, in the order of display."""
