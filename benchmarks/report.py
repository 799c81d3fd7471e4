"""How long the report of 10,000 queries takes to write, how large it is, and how fast it opens.

    python benchmarks/report.py [QUERIES] [HITS] [--keep FILE]

The run is the planted one of ``diagnose.py``: about half of the queries miss. The page is opened in the
``chromium`` of the path, three times, each in a fresh profile. ``opens`` is from the request to the load
event with the first misses drawn; ``filter`` from a click on a kind to the new list.
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from diagnose import plant

from assay.corpus import make_chunker
from assay.corpus.corpora import corpus_of
from assay.flows.diagnose import diagnose_evaluation
from assay.flows.evaluate import evaluation_of
from assay.flows.prepare import Prepared
from assay.flows.project import project_of
from assay.flows.report import report_page
from assay.report.html.page import report_html

DRAWN = "document.querySelectorAll('#misses > li').length"
FILTER = """(() => {
  const before = performance.now();
  const box = document.querySelector('input[name=kind]');
  box.checked = true;
  box.dispatchEvent(new Event('change', { bubbles: true }));
  document.body.offsetHeight;
  return performance.now() - before;
})()"""


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:3] if word.isdigit()]
    queries, hits = [*numbers, 10_000, 200][:2] if len(numbers) != 1 else [numbers[0], 200]
    with tempfile.TemporaryDirectory() as folder:
        keep = Path(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else None
        path = keep or Path(folder) / "report.html"
        write(path, queries, hits)
        opened(path.resolve())


def write(path: Path, queries: int, hits: int) -> None:
    documents, golden, run = plant(queries, hits)
    corpus = corpus_of(documents)
    project = project_of({"name": "planted", "corpus": {"path": "pages"}}, folder=path.parent)
    prepared = Prepared(
        project=project,
        corpus=corpus,
        golden=golden,
        lines={},
        chunker=make_chunker("paragraphs", {}),
        chunks=(),
    )
    marks = [time.perf_counter()]
    evaluation = evaluation_of(prepared, run)
    _ = evaluation.summary
    marks.append(time.perf_counter())
    diagnosed = diagnose_evaluation(evaluation)
    marks.append(time.perf_counter())
    page = report_page(diagnosed)
    marks.append(time.perf_counter())
    path.write_text(report_html(page), encoding="utf-8")
    marks.append(time.perf_counter())
    measured, diagnosis, composed, written = (after - before for before, after in pairwise(marks))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{queries:,} queries, {len(page.misses):,} misses, {page.shown:,} with their passages")
    print(
        f"measured {measured:.1f} s, diagnosed {diagnosis:.1f} s; "
        f"page composed {composed:.1f} s, written {written:.1f} s"
    )
    print(f"{path.stat().st_size / 1e6:.1f} MB; peak memory of the process {peak:,.0f} MiB")


def opened(path: Path) -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the page is written without a browser

    chromium = shutil.which("chromium")
    if chromium is None:
        print("there is no chromium: the page was not opened")
        return
    with sync_playwright() as driver:
        for _ in range(3):
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page()
            started = time.perf_counter()
            page.goto(path.as_uri())
            drawn = page.evaluate(DRAWN)
            took = time.perf_counter() - started
            loaded = page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart")
            filtered = page.evaluate(FILTER)
            print(
                f"opens {took:.2f} s (load event {loaded} ms), {drawn} misses drawn; filter {filtered:.0f} ms"
            )
            browser.close()


if __name__ == "__main__":
    main()
