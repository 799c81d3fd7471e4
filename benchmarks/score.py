"""Scoring runs: Assay against pytrec_eval, ir-measures, ranx, and against only reading the columns.

    python benchmarks/score.py --peer-python PEERS/bin/python --work FOLDER

makes seeded data once, runs everything in turn in one go (so that a busy machine is busy for all), checks
that all say the same, and writes the table with medians and ratios to ``benchmarks/RESULTS-score.md``. The
peers' environment needs ``pytrec-eval-terrier``, ``ir-measures``, ``ranx`` and ``polars``; what is absent is
left out. ``--rows 200`` adds the Parquet run of 200 million rows, ``--quick`` makes small files to try it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
MEASURES = ("nDCG@10", "recall@10", "recall@100", "RR", "AP")
JUDGED = 20
UNIVERSE = 8_841_823  # as many passages as MS MARCO has

IN_MEMORY = "in memory (ids coded, lists sorted: their order is the ranking; judgements kept), best of 7"

READ = """
import sys, polars as pl
names = ["q", "z", "d", "r", "s", "t"]
schema = dict.fromkeys(names, pl.String) | {"r": pl.Int64, "s": pl.Float64}
wanted = {"separator": " ", "has_header": False, "quote_char": None, "schema": schema, "columns": [0, 2, 4]}
assert pl.read_csv(sys.argv[1], **wanted).height
wanted |= {"schema": {"q": pl.String, "z": pl.String, "d": pl.String, "g": pl.Float64}, "columns": [0, 2, 3]}
assert pl.read_csv(sys.argv[2], **wanted).height
"""

PYTREC = """
import sys, json, pytrec_eval
qrels, run = {}, {}
with open(sys.argv[2]) as file:
    for line in file:
        query, _, doc, grade = line.split()
        qrels.setdefault(query, {})[doc] = int(grade)
with open(sys.argv[1]) as file:
    for line in file:
        query, _, doc, _, score, _ = line.split()
        run.setdefault(query, {})[doc] = float(score)
names = {"ndcg_cut.10", "recall.10", "recall.100", "recip_rank", "map"}
evaluator = pytrec_eval.RelevanceEvaluator(qrels, names)
import time
spent = []
for _ in range(7):
    start = time.perf_counter()
    values = evaluator.evaluate(run)
    spent.append(time.perf_counter() - start)
keys = ["ndcg_cut_10", "recall_10", "recall_100", "recip_rank", "map"]
means = [sum(one[key] for one in values.values()) / len(values) for key in keys]
print(json.dumps({"means": means, "memory_s": min(spent)}))
"""

IR_MEASURES = """
import sys, json, ir_measures
from ir_measures import nDCG, R, RR, AP
measures = [nDCG @ 10, R @ 10, R @ 100, RR, AP]
means = ir_measures.calc_aggregate(
    measures, ir_measures.read_trec_qrels(sys.argv[2]), ir_measures.read_trec_run(sys.argv[1])
)
print(json.dumps({"means": [means[measure] for measure in measures]}))
"""

RANX = """
import sys, json, time
from ranx import Qrels, Run, evaluate
qrels = Qrels.from_file(sys.argv[2], kind="trec")
run = Run.from_file(sys.argv[1], kind="trec")
names = ["ndcg@10", "recall@10", "recall@100", "mrr", "map"]
means = evaluate(qrels, run, names, make_comparable=True)
spent = []
for _ in range(7):
    start = time.perf_counter()
    evaluate(qrels, run, names)
    spent.append(time.perf_counter() - start)
print(json.dumps({"means": [float(means[name]) for name in names], "memory_s": min(spent)}))
"""

ASSAY_IN_MEMORY = """
import sys, json, time
import numpy as np
from pathlib import Path
from assay.measures.batch import score
from assay.measures.spec import parse_measures
from assay.store.rankings.batch import Batch
from assay.store.rankings.ids import CodeDocs
from assay.store.rankings.judgements import Judgements
from assay.store.rankings.meet import Meet, Rules
data = dict(np.load(sys.argv[3]))
n = len(data["lengths"])
measures = parse_measures(["nDCG@10", "recall@10", "recall@100", "RR", "AP"])
spent = []
judgements = Judgements(
    name="made", query_ids=tuple(map(str, range(n))), query=data["judged_query"],
    docs=CodeDocs(data["judged_doc"]), grades=data["grade"],
)
batch = Batch(
    queries=list(judgements.query_ids), lengths=data["lengths"], docs=CodeDocs(data["doc"]),
    scores=None, proven=True,  # the lists are sorted: their order is the ranking
)
for _ in range(7):
    start = time.perf_counter()
    values = score(Meet(judgements, Rules(ties="given")).take([batch]).judged, measures)
    spent.append(time.perf_counter() - start)
print(json.dumps({"means": [float(np.nansum(v) / n) for v in values.values()], "memory_s": min(spent)}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One made run."""

    name: str
    queries: int
    depth: int
    seed: int


SIZES = (
    Size(name="7,000 x 1,000", queries=7_000, depth=1_000, seed=0),
    Size(name="100,000 x 100", queries=100_000, depth=100, seed=1),
    Size(name="1,000 x 100", queries=1_000, depth=100, seed=2),
)
QUICK = (Size(name="200 x 100", queries=200, depth=100, seed=3),)


@dataclass(slots=True, kw_only=True)
class Times:
    """What was measured of one contender on one size."""

    wall_s: list[float] = field(default_factory=list[float])
    cpu_s: list[float] = field(default_factory=list[float])
    memory_s: list[float] = field(default_factory=list[float])
    peak_mb: float = 0.0
    means: list[float] | None = None


def make(size: Size, folder: Path) -> Path:
    """Write run, qrels and the coded arrays of one size; return the stem of their names."""
    stem = folder / f"{size.queries}x{size.depth}-{size.seed}"
    if stem.with_suffix(".npz").exists():
        return stem
    rng = np.random.default_rng(size.seed)
    docs, scores, judged, grades = [], [], [], []
    with stem.with_suffix(".run").open("w") as run, stem.with_suffix(".qrels").open("w") as qrels:
        for place in range(size.queries):
            query = 1_000_000 + place * 7
            drawn = np.unique(rng.integers(0, UNIVERSE, size.depth + 2 * JUDGED))
            rng.shuffle(drawn)
            listed, others = drawn[: size.depth], drawn[size.depth : size.depth + JUDGED // 2]
            score = np.sort(rng.gamma(8.0, 2.0, size.depth))[::-1].round(4)
            known = np.concatenate([rng.choice(listed, JUDGED // 2, replace=False), others])
            grade = rng.choice(4, len(known), p=[0.5, 0.25, 0.15, 0.1])
            grade[0] = max(1, grade[0])
            rows = zip(listed.tolist(), score.tolist(), strict=True)
            run.writelines(
                f"{query} Q0 {doc} {rank} {s:.4f} made\n" for rank, (doc, s) in enumerate(rows, start=1)
            )
            qrels.writelines(
                f"{query} 0 {doc} {g}\n" for doc, g in zip(known.tolist(), grade.tolist(), strict=True)
            )
            docs.append(listed), scores.append(score), judged.append(known), grades.append(grade)
    np.savez(
        stem.with_suffix(".npz"),
        doc=np.concatenate(docs).astype(np.int64),
        score=np.concatenate(scores),
        lengths=np.array([len(one) for one in docs], np.int64),
        judged_doc=np.concatenate(judged).astype(np.int64),
        judged_query=np.repeat(np.arange(size.queries, dtype=np.int32), [len(one) for one in judged]),
        grade=np.concatenate(grades).astype(np.float64),
    )
    return stem


def contenders(peer: str, stem: Path, cache: Path) -> dict[str, list[str]]:
    """Return the command line of each contender."""
    files = [str(stem.with_suffix(".run")), str(stem.with_suffix(".qrels"))]
    assay = [sys.executable, "-m", "assay", "score", *files, "--json", "--measures", *MEASURES]
    return {
        "polars, only reading the columns of both files": [peer, "-c", READ, *files],
        "Assay": assay,
        "Assay, coded before": [*assay, "--cache", str(cache)],
        "pytrec_eval": [peer, "-c", PYTREC, *files],
        "ir-measures": [peer, "-c", IR_MEASURES, *files],
        "ranx": [peer, "-c", RANX, *files],
        "Assay, in memory": [sys.executable, "-c", ASSAY_IN_MEMORY, *files, str(stem.with_suffix(".npz"))],
    }


def measured(command: Sequence[str]) -> tuple[float, float, float, str]:
    """Run a whole process; return seconds, seconds of processor, peak megabytes and what it printed."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        spent = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        out.seek(0)
        return spent, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read().decode()


def compete(size: Size, folder: Path, peer: str, repeat: int) -> dict[str, Times]:
    """Run all contenders in turn, several rounds."""
    stem = make(size, folder)
    commands = contenders(peer, stem, folder / "coded")
    results: dict[str, Times] = {name: Times() for name in commands}
    subprocess.run(
        commands["Assay, coded before"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for turn in range(repeat):
        for name, command in commands.items():
            if name not in results:
                continue
            try:
                wall, cpu, peak, text = measured(command)
            except subprocess.CalledProcessError:
                print(f"  {name}: does not run here, left out")
                del results[name]
                continue
            times = results[name]
            times.wall_s.append(wall)
            times.cpu_s.append(cpu)
            times.peak_mb = max(times.peak_mb, peak)
            if text:
                said = json.loads(text)
                times.means = list(said["measures"].values()) if "measures" in said else said["means"]
                if "memory_s" in said:
                    times.memory_s.append(said["memory_s"])
            print(
                f"  {size.name} round {turn + 1} {name}: {wall:.2f} s, {cpu:.2f} of processor, {peak:.0f} MB",
                flush=True,
            )
    agree(results)
    return results


def agree(results: dict[str, Times]) -> None:
    """Refuse a race where somebody computed something else."""
    said = {name: times.means for name, times in results.items() if times.means is not None}
    first = said["Assay"]
    for name, means in said.items():
        # ranx and the rest order equal scores otherwise, so that few values differ in the last digits shown
        if not np.allclose(first, means, rtol=2e-3, atol=1e-5):
            raise SystemExit(f"{name} says {means}, Assay {first}")


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def table(size: Size, results: dict[str, Times]) -> str:
    """Return the table of one size."""
    whole = {name: times for name, times in results.items() if name != "Assay, in memory"}
    ours, spent_by_us = median(whole["Assay"].wall_s), median(whole["Assay"].cpu_s)
    lines = [
        f"### {size.name} ({size.queries * size.depth:,} rows)",
        "",
        "| whole process | seconds | times Assay's | seconds of processor | times Assay's | peak MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, times in whole.items():
        wall, cpu = median(times.wall_s), median(times.cpu_s)
        shown = f"{wall:.2f} | {wall / ours:.2f} | {cpu:.2f} | {cpu / spent_by_us:.2f} | {times.peak_mb:.0f}"
        lines.append(f"| {name} | {shown} |")
    memory = {name: median(times.memory_s) for name, times in results.items() if times.memory_s}
    mine = memory["Assay, in memory"]
    lines += [
        "",
        f"| {IN_MEMORY} | seconds | times Assay's |",
        "|---|---:|---:|",
    ]
    lines += [f"| {name} | {spent:.3f} | {spent / mine:.1f} |" for name, spent in memory.items()]
    peers = [
        median(times.wall_s)
        for name, times in whole.items()
        if name in {"pytrec_eval", "ir-measures", "ranx"}
    ]
    read = (
        median(whole["polars, only reading the columns of both files"].wall_s)
        if "polars, only reading the columns of both files" in whole
        else None
    )
    if peers:
        lines += ["", f"Fastest peer / Assay: {min(peers) / ours:.1f}."]
    if read:
        lines += [f"Assay / only reading the columns: {ours / read:.2f}."]
    return "\n".join(lines)


def make_parquet(folder: Path, millions: int) -> tuple[Path, Path]:
    """Write a Parquet run of so many million rows, sorted by query, a file a million; and its qrels."""
    import polars as pl  # noqa: PLC0415 - only the long run needs it

    run, qrels = folder / f"{millions}m", folder / f"{millions}m.qrels"
    if qrels.exists():
        return run, qrels
    run.mkdir(exist_ok=True)
    rng = np.random.default_rng(9)
    with qrels.open("w") as file:
        for part in range(millions):
            first = rng.integers(0, 8_000_000, 1_000)
            docs = (np.repeat(first, 1_000) + np.tile(np.arange(1_000) * 7_919, 1_000)) % UNIVERSE
            scores = np.sort(rng.gamma(8.0, 2.0, (1_000, 1_000)), axis=1)[:, ::-1].ravel()
            query = np.repeat(np.arange(1_000) + part * 1_000, 1_000)
            pl.DataFrame({"query": query, "doc": docs, "score": scores}).with_columns(
                ("q" + pl.col("query").cast(pl.String).str.zfill(9)).alias("query"),
                ("d" + pl.col("doc").cast(pl.String)).alias("doc"),
            ).write_parquet(run / f"{part:05}.parquet")
            file.writelines(
                f"q{part * 1_000 + place:09} 0 d{(int(start) + rank * 7_919) % UNIVERSE} 1\n"
                for place, start in enumerate(first)
                for rank in (3, 17, 200)
            )
    return run, qrels


def bounded(folder: Path, millions: int) -> str:
    """Score the long Parquet run and say what it took."""
    run, qrels = make_parquet(folder, millions)
    command = [
        sys.executable,
        "-m",
        "assay",
        "score",
        str(run),
        str(qrels),
        "--json",
        "--measures",
        *MEASURES,
    ]
    wall, cpu, peak, text = measured(command)
    means = json.loads(text)["measures"]
    # by construction the relevant documents stand at ranks 4, 18 and 201 of each list
    assert means["RR"] == 0.25, means
    assert abs(means["recall@10"] - 1 / 3) < 1e-12, means
    return (
        f"### {millions} million rows of Parquet, sorted by query\n\n"
        f"`assay score` (one process, streaming): {wall:.0f} s, {cpu:.0f} s of processor "
        f"({1000 * cpu / millions:.0f} ns a row), peak {peak:.0f} MB."
    )


def profile(folder: Path) -> str:
    """Say where the time goes on the first size."""
    stem = make(SIZES[0], folder)
    script = (
        "import cProfile, pstats, sys\n"
        "from assay.store.rankings import ahead\n"
        "ahead.ahead = ahead.begun = iter\n"
        "ahead.made_ahead = lambda work, items, threads=1: map(work, items)\n"
        "ahead.meanwhile = lambda work: [work()].pop\n"
        "from assay.flows.score import Scoring, score_runs\n"
        "profile = cProfile.Profile()\n"
        "profile.runcall(score_runs, [sys.argv[1]], sys.argv[2])\n"
        "stats = pstats.Stats(profile)\n"
        "total = stats.total_tt\n"
        "rows = sorted(((v[2], k) for k, v in stats.stats.items()), reverse=True)[:12]\n"
        "for spent, (file, line, name) in rows:\n"
        "    place = file.rpartition('assay/')[2] if 'assay/' in file else ''\n"
        "    name = name.replace('builtins.PyLazyFrame', 'polars').replace('builtins.PySeries', 'polars')\n"
        "    print(f'| {name} {place} | {spent:.3f} | {100 * spent / total:.0f} % |')\n"
    )
    files = [str(stem.with_suffix(".run")), str(stem.with_suffix(".qrels"))]
    shown = subprocess.run([sys.executable, "-c", script, *files], check=True, capture_output=True, text=True)
    head = "### Where the time goes (first size, one thread)"
    return f"{head}\n\n| function | seconds | share |\n|---|---:|---:|\n{shown.stdout}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "assay-benchmark")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--rows", type=int, default=0, help="millions of rows of the Parquet run; 200 for the record"
    )
    parser.add_argument("--quick", action="store_true", help="small files, to try the script out")
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS-score.md")
    parser.add_argument("--make", action="store_true", help="only make the data")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    sizes = QUICK if options.quick else SIZES
    if options.make:
        for size in sizes:
            make(size, options.work)
        if options.rows:
            make_parquet(options.work, options.rows)
        return
    # in a process of its own: what a process has once held counts as the peak of all that it starts
    subprocess.run([sys.executable, *sys.argv, "--make"], check=True)
    head = (
        "# Scoring runs: measured\n\n"
        "Made by `benchmarks/score.py` in one go, contenders in turn, medians of "
        f"{options.repeat} rounds; {', '.join(MEASURES)} from TREC files on disk, start-up included. "
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}. "
        "Ratios travel between machines; seconds do not. A busy machine leaves the seconds of processor true."
    )
    parts = [head]
    parts += [table(size, compete(size, options.work, options.peer_python, options.repeat)) for size in sizes]
    if options.rows:
        parts.append(bounded(options.work, options.rows))
    if not options.quick:
        parts.append(profile(options.work))
    options.out.write_text("\n\n".join(parts).rstrip() + "\n", encoding="utf-8")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
