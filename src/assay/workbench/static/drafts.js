// Drafts: yes, no, or yes with changes; the next one comes when the server has kept this one's answer.

import { $, $$, newId, leave, onKey, post } from "./shared.js";
import { Queue } from "./queue.js";
import { chosen } from "./passage.js";

const desk = $("#desk");
const draft = desk.dataset.draft;
const UNDO = "assay-undo drafts";
let lastQuote = $(".quote");

const queue = new Queue("drafts", {
  kept(said) {
    if (said.next !== undefined && queue.empty) leave(said.next);
  },
  refused(error, row) {
    if (row.body.draft !== draft) return;
    $("#verdict").textContent = error.message;
    $("#verdict").classList.add("conflict");
    if (error.status === 409) drop(row.body.id);
    for (const button of $$("#accept, #refuse")) button.disabled = error.status === 409;
  },
});

function held() {
  try {
    return JSON.parse(sessionStorage.getItem(UNDO)) ?? [];
  } catch {
    return [];
  }
}

function drop(id) {
  sessionStorage.setItem(UNDO, JSON.stringify(held().filter((one) => one.id !== id)));
}

function decide(verdict) {
  if ($("#accept").disabled) return;
  for (const button of $$("#accept, #refuse")) button.disabled = true;
  const id = newId(), edit = newId();
  try {
    sessionStorage.setItem(UNDO, JSON.stringify([...held(), { id, edit, draft }].slice(-200)));
  } catch { /* without storage nothing can be taken back by key */ }
  queue.add("/drafts/decide", {
    id, edit, draft, verdict,
    text: $("#text").value,
    kind: $("#kind").value,
    quotes: $$(".quote").map((one) => one.value),
    why: $("#why").value,
  });
}

function undo() {
  const all = held();
  const last = all.pop();
  if (last === undefined) return;
  sessionStorage.setItem(UNDO, JSON.stringify(all));
  queue.add("/drafts/undo", { id: newId(), edit_undo: newId(), undoes: last.id, edit: last.edit, draft: last.draft });
}

function leaveField(event) {
  if (event.key === "Escape") {
    event.target.blur();
    $("#main").focus();
  }
}

// A phrase is checked while it is written.
$$(".quote").forEach((field, number) => {
  let timer = 0, asking = null;
  const told = $(`#check${number}`);
  field.addEventListener("focus", () => { lastQuote = field; });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      asking?.abort();
      asking = new AbortController();
      try {
        const said = await post("/drafts/check", { draft, number, quote: field.value }, asking.signal);
        told.className = said.holds ? "check holds" : "check fails";
        told.textContent = said.holds ? `✓ ${said.told || "verbatim, 6 to 20 words, once"}${said.quote !== field.value ? `; enters as “${said.quote}”` : ""}` : `✕ ${said.told}`;
      } catch (error) {
        if (error.name !== "AbortError") told.textContent = error.message;
      }
    }, 250);
  });
});
for (const field of $$("#fields textarea, #fields input")) field.addEventListener("keydown", leaveField);

onKey((event) => {
  switch (event.key) {
    case "y": decide("accepted"); break;
    case "x": decide("refused"); break;
    case "e": $("#text").focus(); break;
    case "a": {
      const at = chosen();
      if (at === null || lastQuote === null) return false;
      lastQuote.value = at.passage.textContent.slice(at.start, at.end).trim();
      lastQuote.dispatchEvent(new Event("input"));
      break;
    }
    case "j": if (desk.dataset.after) leave(desk.dataset.after); break;
    case "k": if (desk.dataset.before) leave(desk.dataset.before); break;
    case "u": undo(); break;
    default: return false;
  }
  return true;
});
$("#accept").addEventListener("click", () => decide("accepted"));
$("#refuse").addEventListener("click", () => decide("refused"));
$("#undo").addEventListener("click", undo);
queue.paint();
queue.work();
