// The progress of long work, as it happens.

import { $ } from "./shared.js";

const work = $("#work");
// A short job may be over before its page is drawn: then the page came with the result, and no event follows.
if (work.dataset.state === "done") $("#link").focus();
if (work.dataset.state === "running") {
  const events = new EventSource(work.dataset.events);
  events.addEventListener("message", (event) => {
    const job = JSON.parse(event.data);
    const bar = $("#progress");
    work.dataset.state = job.state;
    $("#step").textContent = job.error || (job.state === "done" ? "Done" : job.total > 1 ? `${job.what}: ${job.done} of ${job.total}` : job.what || "starting");
    if (job.total > 0) {
      bar.max = job.total;
      bar.value = job.done;
    }
    if (job.state === "running") return;
    events.close();
    bar.max = bar.value = 1;
    if (job.state === "done") {
      $("#link").href = job.link || "/";
      $("#result").hidden = false;
      $("#link").focus();
    }
  });
}
