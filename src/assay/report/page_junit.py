"""The report of a run as JUnit XML: one test case a query, so that CI systems show which ones are missed."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from assay.model.report import MissedQuery, ReportPage
from assay.report.junit import clean


def page_junit(page: ReportPage) -> str:
    """Return a JUnit XML document: a suite a kind, a case a query with misses or a failure.

    A query that lacks something is a ``failure`` whose text says where it was lost and why; one whose
    retriever failed is an ``error``. Queries that lack nothing have no case: the property ``queries`` of each
    suite says how many were asked.
    """
    by_kind: dict[str, list[MissedQuery]] = {row.kind: [] for row in page.kinds}
    for miss in page.misses:
        by_kind[miss.kind].append(miss)
    asked = {row.kind: row.queries for row in page.kinds}
    root = ET.Element("testsuites", _counts(page.misses) | {"name": "assay"})
    for kind, misses in by_kind.items():
        suite = ET.SubElement(root, "testsuite", _counts(misses) | {"name": clean(kind)})
        properties = ET.SubElement(suite, "properties")
        ET.SubElement(properties, "property", {"name": "run", "value": page.summary.run_id})
        ET.SubElement(properties, "property", {"name": "queries", "value": str(asked[kind])})
        for miss in misses:
            _add_case(suite, miss)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(misses: Sequence[MissedQuery]) -> dict[str, str]:
    errors = sum(miss.error is not None for miss in misses)
    return {
        "tests": str(len(misses)),
        "failures": str(len(misses) - errors),
        "errors": str(errors),
        "skipped": "0",
        "time": "0",
    }


def _add_case(suite: ET.Element, miss: MissedQuery) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        {"classname": clean(f"assay.{miss.kind}"), "name": clean(miss.query_id), "time": "0"},
    )
    first = miss.items[0]
    told = miss.error or f"lost at {first.lost_at}: {first.detail}"
    tag = "failure" if miss.error is None else "error"
    failure = ET.SubElement(case, tag, {"message": clean(told), "type": first.lost_at})
    lines = [miss.text]
    for item in miss.items:
        finding = item.finding
        why = f" ({finding.kind or 'unexplained'}: {finding.evidence.sentence})" if finding else ""
        lines.append(f"{item.item} lost at {item.lost_at}: {item.detail}{why}")
    failure.text = clean("\n".join(lines))
