"""Gates as JUnit XML: what CI systems read (GitLab, Jenkins, Azure, GitHub's reporters)."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from assay.model.gates import GateReport, GateResult
from assay.report.words import result_lines

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold in any way."""


def gate_junit(report: GateReport) -> str:
    """Return a JUnit XML document with one test case a gate, ending with a line end.

    A gate that fell is a ``failure`` whose text names the queries; where nothing was measured it is an
    ``error``, so that both are red and can be told apart.
    """
    unmeasured = sum(not result.passed and result.value is None for result in report.results)
    counts = {
        "tests": str(len(report.results)),
        "failures": str(len(report.failed) - unmeasured),
        "errors": str(unmeasured),
        "skipped": "0",
        "time": "0",
    }
    root = ET.Element("testsuites", {"name": "assay", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": "assay gate", **counts})
    known = {"run": report.run, "baseline": report.baseline}
    named = {name: value for name, value in known.items() if value is not None}
    if named:
        properties = ET.SubElement(suite, "properties")
        for name, value in named.items():
            ET.SubElement(properties, "property", {"name": name, "value": clean(value)})
    for result in report.results:
        _add_case(suite, result)
    if report.notices:
        ET.SubElement(suite, "system-out").text = clean("\n".join(x.text for x in report.notices))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_case(suite: ET.Element, result: GateResult) -> None:
    gate = result.gate
    case = ET.SubElement(
        suite,
        "testcase",
        {"classname": clean(f"assay.gate.{gate.stage or 'final'}"), "name": clean(gate.name), "time": "0"},
    )
    if result.passed:
        ET.SubElement(case, "system-out").text = clean(result.shown)
        return
    tag = "error" if result.value is None else "failure"
    failure = ET.SubElement(case, tag, {"message": clean(result.reason or result.shown), "type": gate.rule})
    failure.text = clean("\n".join(result_lines(result)))


def clean(text: str) -> str:
    """Replace what XML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)
