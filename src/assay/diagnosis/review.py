"""Reviewing findings one by one: what an answer does, apart from any screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from assay.model.errors import nearest
from assay.model.findings import UNEXPLAINED, Decision, Finding

HELP = (
    "y: the kind is right   n: it is not (unexplained)   a kind: it is that one   s: skip   u: undo   q: quit"
)


def utc_now() -> str:
    """Return the time as decisions write it: ISO, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@dataclass(slots=True)
class Review:
    """A walk through findings that nobody has looked at, and those whose trace has changed since.

    Args:
        findings: all of them; what is decided and not stale is left out.
        kinds: the kinds that a person may name.
        by: who reviews.
        clock: gives the time of a decision.
    """

    findings: Sequence[Finding]
    kinds: Sequence[str]
    by: str
    clock: Callable[[], str] = utc_now
    place: int = 0
    made: list[Decision | None] = field(default_factory=list[Decision | None])
    """One a finding that was passed; None where it was skipped."""
    done: bool = False

    def __post_init__(self) -> None:
        self.findings = [one for one in self.findings if one.status == "proposed" or one.stale]

    @property
    def current(self) -> Finding | None:
        """The finding that is asked about; None at the end."""
        return None if self.done or self.place >= len(self.findings) else self.findings[self.place]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(decision for decision in self.made if decision is not None)

    def answer(self, text: str) -> str | None:
        """Take one answer; return what is wrong with it, or None when it was understood.

        ``y`` confirms, ``n`` says that the proposed kind is wrong and gives none, the name of a kind (or its
        beginning) gives that one, ``s`` skips, ``u`` goes back and takes the last answer away, ``q`` ends.
        Words after a colon are kept as a note.
        """
        finding = self.current
        if finding is None:
            return "there is nothing left to review"
        word, _, note = text.strip().partition(":")
        word = word.strip().casefold()
        match word:
            case "q" | "quit":
                self.done = True
            case "u" | "undo":
                if not self.made:
                    return "there is nothing to undo"
                self.made.pop()
                self.place -= 1
            case "s" | "skip" | "":
                self._pass(None)
            case "y" | "yes":
                self._pass(self._decision(finding, finding.proposed, note))
            case "n" | "no":
                if finding.proposed is None:
                    return "no kind is proposed: y leaves it unexplained, or name a kind"
                self._pass(self._decision(finding, None, note))
            case _:
                kind = self._kind(word)
                if kind is None:
                    close = nearest(word, [*self.kinds, UNEXPLAINED])
                    return f"{word!r} is no kind{f'; did you mean {close!r}?' if close else ''}"
                self._pass(self._decision(finding, None if kind == UNEXPLAINED else kind, note))
        return None

    def _pass(self, decision: Decision | None) -> None:
        self.made.append(decision)
        self.place += 1

    def _kind(self, word: str) -> str | None:
        known = [*self.kinds, UNEXPLAINED]
        if word in known:
            return word
        begun = [kind for kind in known if kind.startswith(word)]
        return begun[0] if len(begun) == 1 else None

    def _decision(self, finding: Finding, kind: str | None, note: str) -> Decision:
        return Decision(
            query_id=finding.query_id,
            item=finding.item,
            lost_at=finding.lost_at,
            kind=kind,
            proposed=finding.proposed,
            by=self.by,
            when=self.clock(),
            trace=finding.trace,
            note=note.strip() or None,
        )
