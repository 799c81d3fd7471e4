"""A labeller at work, as a function for a process of its own, which may be killed at any moment."""

from __future__ import annotations

from pathlib import Path

from assay.model.labels import Judgement
from assay.store.labels import open_labels


def judgement_of(name: str, number: int) -> Judgement:
    """Return the labeller's judgement of that number: known before it is given."""
    return Judgement(
        id=f"{name}-{number}",
        query_id=f"q{number % 50}",
        doc_id="guide.md",
        start=10 * number,
        end=10 * number + 9,
        grade=float(number % 3),
        shown=f"passage {number}, as it was shown",
        why="it says so",
        by=name,
    )


def acknowledged(diary: Path) -> int:
    """Return how many judgements the labeller knows to be kept."""
    lines = diary.read_text(encoding="utf-8").split("\n")[:-1] if diary.is_file() else []
    return int(lines[-1]) if lines else 0


def label(url: str, name: str, diary: str, total: int) -> None:
    """Give judgements up to ``total``, from where the diary ends; write down what was acknowledged."""
    path = Path(diary)
    with open_labels(url) as store, path.open("a", encoding="utf-8") as lines:
        done = acknowledged(path)
        while done < total:
            size = 1 + (done * 7) % 19  # from 1 to 19 at once
            rows = [judgement_of(name, number) for number in range(done, min(done + size, total))]
            store.add_judgements(rows)
            done += len(rows)
            lines.write(f"{done}\n")
            lines.flush()


def label_in_threes(url: str, name: str, rounds: int) -> None:
    """Give judgements of three places at once, always together."""
    with open_labels(url) as store:
        for number in range(rounds):
            rows = [
                Judgement(
                    query_id=f"{name} {number}", doc_id="d.md", start=at, end=at + 1, grade=1.0, by=name
                )
                for at in range(3)
            ]
            store.add_judgements(rows)
