"""A log of queries as a documentation search has them, made by a seed: for benchmarks of the import.

A few questions are asked very often and most of them once (Zipf); the same question comes in several
wordings, letter cases and with typing mistakes; some rows hold addresses, keys and numbers of people.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

_THINGS = re.split(
    r",\s+",
    """access token, api key, audit log, backup, billing plan, build cache, certificate, cluster,
    connection pool, container, cron job, custom domain, dashboard, data export, database, dead letter
    queue, deployment, email template, environment variable, event stream, feature flag, firewall rule,
    health check, identity provider, index, ingress, invoice, load balancer, log retention, maintenance
    window, message queue, metric, migration, node pool, notification, object store, password,
    permission, pipeline, private network, quota, rate limit, read replica, release channel, role,
    rollback, schedule, schema, search index, secret, session, shard, single sign-on, snapshot, ssh key,
    staging environment, storage class, subscription, team member, tenant, time zone, timeout, trace,
    usage report, user account, volume, webhook, worker,""",
)
_ACTIONS = re.split(
    r",\s+",
    """add, archive, change, configure, copy, create, debug, delete, disable, enable, export, import,
    limit, list, migrate, monitor, move, pause, rename, renew, replicate, reset, resize, restart,
    restore, revoke, rotate, scale, share, test, transfer, update,""",
)
_PLACES = re.split(
    r",\s+",
    """in production, in staging, on kubernetes, for a team, for one tenant, with terraform, from the cli,
    in the console, without downtime, across regions, for guests, in europe, behind a proxy, with single
    sign-on, on the free plan,""",
)
_ASPECTS = ("limit", "default", "maximum size", "retention period", "price", "owner", "format", "lifetime")
_OPENINGS = (
    "How do I {q}?",
    "how to {q}",
    "{q}",
    "{q} please",
    "How can I {q}",
    "Hi, how do I {q}? thanks",
    "{Q}",
)
_PEOPLE = (
    "ada.lovelace@example.org",
    "grace@example.com",
    "10.20.30.40",
    "+44 20 7946 0958",
    "4111 1111 1111 1111",
)
_KEYS = ("sk-proj-a8F3kLm29XcQ71bZp0R4tYw6", "ghp_16C7e42F292c6912E7710c838347Ae178B4a")


def make_log(rows: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the rows of a log: query, session, clicked."""
    rng = np.random.default_rng(seed)
    questions = _questions(rng, max(50, rows // 3))
    order = np.arange(1, len(questions) + 1, dtype=np.float64)
    chances = order**-0.9
    drawn = rng.choice(len(questions), rows, p=chances / chances.sum())
    for at in map(int, drawn):
        kind, question = questions[at]
        yield {
            "query": _worded(kind, question, rng),
            "session": f"s{int(rng.integers(rows // 2 + 1))}",
            "clicked": f"docs/page-{at % 97}.md" if rng.random() < 0.4 else "",
        }


def _questions(rng: np.random.Generator, count: int) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    while len(found) < count:
        thing, other = rng.choice(_THINGS, 2, replace=False).tolist()
        action = str(rng.choice(_ACTIONS))
        place = str(rng.choice(_PLACES))
        match int(rng.choice(5, p=[0.42, 0.2, 0.22, 0.08, 0.08])):
            case 0:
                found[f"{action} a {thing} {place}"] = "how-to"
            case 1:
                code = f"E{int(rng.integers(1000, 9999))}"
                found[
                    f"error {code} {action} {thing}"
                    if rng.random() < 0.5
                    else f"{thing.replace(' ', '_')}_max"
                ] = "lexical"
            case 2:
                found[f"what is the {rng.choice(_ASPECTS)} of a {thing} {place}?"] = "factual"
            case 3:
                found[f"difference between {thing} and {other} {place}"] = "multi-hop"
            case _:
                found[f"{thing} {other}"] = "keywords"
    return [(kind, question) for question, kind in found.items()]


def _worded(kind: str, question: str, rng: np.random.Generator) -> str:
    text = question
    if kind == "how-to":
        opening = _OPENINGS[int(rng.integers(len(_OPENINGS)))]
        text = opening.format(q=question, Q=question.capitalize())
    elif rng.random() < 0.3:
        text = text.capitalize() if kind != "lexical" else f"{text} "
    chance = rng.random()
    if chance < 0.04:
        text = _mistyped(text, rng)
    elif chance < 0.05:
        text = f"{text} for {_PEOPLE[int(rng.integers(len(_PEOPLE)))]}"
    elif chance < 0.055:
        text = f"{text} {_KEYS[int(rng.integers(len(_KEYS)))]}"
    return text


def _mistyped(text: str, rng: np.random.Generator) -> str:
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word) > 6 and word.isalpha()]
    if not long:
        return text
    at = long[int(rng.integers(len(long)))]
    word = words[at]
    place = int(rng.integers(1, len(word) - 1))
    words[at] = word[:place] + word[place + 1 :]
    return " ".join(words)


def write_log(path: Path, rows: int, seed: int = 0) -> None:
    """Write a log as CSV, JSON lines or Parquet, by the ending."""
    made = list(make_log(rows, seed))
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in made), encoding="utf-8")
    elif path.suffix == ".parquet":
        import polars as pl  # noqa: PLC0415 - only for Parquet

        pl.DataFrame(made).write_parquet(path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["query", "session", "clicked"])
            writer.writeheader()
            writer.writerows(made)


if __name__ == "__main__":
    write_log(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
