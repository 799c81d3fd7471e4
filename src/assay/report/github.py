"""Gates for GitHub Actions: annotations beside the change, and the summary of the step."""

from __future__ import annotations

from assay.model.comparison import Comparison
from assay.model.gates import GateReport
from assay.report.markdown import comparison_markdown, gate_markdown
from assay.report.words import result_lines


def gate_annotations(report: GateReport, *, file: str | None = "assay.toml") -> str:
    """Return one workflow command a gate that fell, and one a remark; empty when there is nothing to say.

    Printed to standard output, they become red marks on the run and, beside ``file``, on the change.
    """
    place = {} if file is None else {"file": file}
    lines = [
        _command(
            "error", "\n".join(result_lines(result)), {**place, "title": f"assay gate: {result.gate.name}"}
        )
        for result in report.failed
    ]
    lines += [_command("warning", notice.text, {"title": "assay gate"}) for notice in report.notices]
    return "".join(f"{line}\n" for line in lines)


def step_summary(report: GateReport, comparison: Comparison | None = None) -> str:
    """Return the Markdown for the file that ``GITHUB_STEP_SUMMARY`` names."""
    parts = [gate_markdown(report)]
    if comparison is not None:
        parts.append(comparison_markdown(comparison))
    return "\n".join(parts)


def _command(name: str, message: str, properties: dict[str, str]) -> str:
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {written}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
