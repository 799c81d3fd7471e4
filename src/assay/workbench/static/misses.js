// Misses: a key says whether the proposed kind is right; the next one comes when the server has kept it.

import { $, $$, leave, onKey } from "./shared.js";
import { Queue } from "./queue.js";

const desk = $("#desk");
const { run, miss, seen } = desk.dataset;
const buttons = $$("#choices button");

const queue = new Queue("misses", {
  kept(said) {
    if (said.next !== undefined && queue.empty) leave(said.next);
  },
  refused(error, row) {
    if (row.body.miss !== miss) return;
    $("#verdict").textContent = error.message;
    $("#verdict").classList.add("conflict");
  },
});

function decide(kind) {
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
  queue.add("/misses/decide", { run, miss, seen, kind: kind === "" ? null : kind, note: $("#note").value });
}

onKey((event) => {
  const key = event.key;
  const proposed = buttons.find((button) => button.querySelector(".soft-in"));
  if (key === "y" && proposed) decide(proposed.dataset.kind);
  else if (key === "0") decide("");
  else if (/^[1-9]$/.test(key) && Number(key) < buttons.length) decide(buttons[Number(key) - 1].dataset.kind);
  else if (key === "c") $("#note").focus();
  else if (key === "u") queue.add("/misses/undo", { run, miss, seen });
  else if (key === "j" && desk.dataset.after) leave(desk.dataset.after);
  else if (key === "k" && desk.dataset.before) leave(desk.dataset.before);
  else return false;
  return true;
});
for (const button of buttons) button.addEventListener("click", () => decide(button.dataset.kind));
$("#undo").addEventListener("click", () => queue.add("/misses/undo", { run, miss, seen }));
$("#note").addEventListener("keydown", (event) => {
  if (event.key === "Escape") $("#main").focus();
});
queue.paint();
queue.work();
