"""What ``assay score`` does once its options are known; nothing here loads the reader of options.

The plainest calls (files, measures, ``--json``, ``--per-query``, ``--compat``, ``--cache``) are read here: a
small run is scored in less time than a reader of options takes to load. All else goes its usual way, and
both ways end in ``show``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import InputError

if TYPE_CHECKING:
    from assay.flows.score import Scoring


def plain_call(arguments: Sequence[str]) -> bool:
    """Answer a plain call; return False, having done nothing, when there is more to read than that.

    Raises:
        InputError: a file or a measure is wrong.
    """
    files: list[Path] = []
    measures: list[str] = []
    flags: set[str] = set()
    values: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in {"--measures", "-m"}:
            while rest and not rest[0].startswith("-"):
                measures.append(rest.pop(0))
        elif word in {"--json", "--per-query", "-q"}:
            flags.add(word)
        elif word in {"--compat", "--cache"} and rest and not rest[0].startswith("-"):
            values[word] = rest.pop(0)
        elif word.startswith("-"):
            return False
        else:
            files.append(Path(word))
    if len(files) < 2:
        return False
    from assay.flows.score import Scoring  # noqa: PLC0415 - a call that is not plain needs none of this

    cache = Path(values["--cache"]) if "--cache" in values else None
    scoring = Scoring(measures=measures_of(measures), compat=values.get("--compat"), cache=cache)
    show(files, scoring, per_query=bool(flags & {"--per-query", "-q"}), json="--json" in flags, spark=False)
    return True


def show(files: Sequence[Path], scoring: Scoring, *, per_query: bool, json: bool, spark: bool) -> None:
    """Score the files (the judgements stand last) and print the result, and beside it what is to be said.

    Raises:
        InputError: a file or a measure is wrong.
    """
    from assay.flows.score import score_runs  # noqa: PLC0415 - the help needs none of this
    from assay.report.scorecard import (  # noqa: PLC0415
        notice_lines,
        scorecard_json,
        scorecard_text,
        tool_text,
    )

    if len(files) < 2:
        raise InputError("a run and judgements are needed", fix="assay score RUN [RUN ...] QRELS")
    if spark:
        from assay.flows.spark import score_files  # noqa: PLC0415

        card = score_files(files[:-1], files[-1], scoring)
    else:
        card = score_runs(files[:-1], files[-1], scoring)
    if json:
        text = scorecard_json(card, per_query=per_query)
    elif scoring.compat is not None:
        from assay.flows.compat import find_tool  # noqa: PLC0415

        text = tool_text(card, decimals=find_tool(scoring.compat).decimals, per_query=per_query)
    else:
        text = scorecard_text(card, per_query=per_query)
    sys.stdout.write(text)
    if not json:
        for line in notice_lines(card):
            sys.stderr.write(f"note: {line}\n")


def measures_of(texts: Sequence[str]) -> Sequence[str]:
    """Return the measures of the arguments, or the usual ones; ``"nDCG@10,RR"`` and ``"nDCG@10 RR"`` are two.

    >>> measures_of(["nDCG(gain=exp,rel=1)@10, RR", "AP"])
    ['nDCG(gain=exp,rel=1)@10', 'RR', 'AP']
    """
    from assay.flows.score import MEASURES  # noqa: PLC0415 - the help needs none of this

    return [name for text in texts for name in _split(text)] or MEASURES


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and (letter == "," or letter.isspace()):
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]
