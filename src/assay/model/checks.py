"""What `assay check` has to say of a golden set before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.model.errors import Fault

Severity = Literal["error", "warning", "note"]
"""``error``: a number would be wrong. ``warning``: a number would be flattered or hard to read.
``note``: worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """One remark of the check."""

    severity: Severity
    code: str
    """A stable short name for scripts: ``not-verbatim``, ``not-whole``, ``duplicate``."""
    text: str
    """The sentence for people, with the value."""
    fix: str | None = None
    """What mends it; None when the sentence says it already."""
    query_id: str | None = None
    """None: it is about the whole set."""
    anchor_id: str | None = None
    line: int | None = None
    """Line of the query in the golden file, from 1, where it is known."""

    def fault(self, file: str = "golden set") -> Fault:
        """Return it as a fault of the file: ``golden.jsonl:14: query 'q-017': ...``.

        >>> text = "asks the same as q1"
        >>> found = CheckFinding(severity="error", code="duplicate", text=text, line=7, query_id="q2")
        >>> print(found.fault("golden.jsonl"))
        golden.jsonl:7: query 'q2': asks the same as q1
        """
        where = file if self.line is None else f"{file}:{self.line}"
        if self.query_id is None:
            return Fault(where=where, what=self.text, fix=self.fix)
        anchor = "" if self.anchor_id is None else f"anchor {self.anchor_id}: "
        return Fault(where=where, what=f"query {self.query_id!r}: {anchor}{self.text}", fix=self.fix)
