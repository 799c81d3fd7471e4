// Labelling: a key a grade, an anchor by dragging, and everything is kept before the next thing is asked.

import { $, $$, get, newId, leave, onKey, post } from "./shared.js";
import { Queue } from "./queue.js";
import { choose, chosen, draw, WordCursor } from "./passage.js";

const desk = $("#desk");
const pool = desk.dataset.pool;
const cards = $$(".card");
const states = cards.map((card) => JSON.parse(card.dataset.state ?? "{}"));
const undone = `assay-undo ${pool}`;
const EVERY_MS = 2500;
let current = -1, since = Date.now(), anchoring = false, cursor = null, offer = null;

const queue = new Queue("label", {
  kept(said, row) {
    if (row.body.pool !== pool) return;
    if (said.number !== undefined) {
      const at = said.number - 1;
      // A later row of the same place may wait still: then this answer is old already.
      const later = queue.rows.some((one) => one.body.pool === pool && one.body.number === said.number);
      if (said.state !== undefined && !later) take(at, said.state);
      if (said.pieces !== undefined) draw($(".reading", cards[at]), said.pieces);
    }
    if (said.anchors !== undefined) paintAnchors(said.anchors);
    if (said.answerless !== undefined) paintAnswerless(said.answerless);
  },
  refused() {
    refresh();
  },
});

// What is said

function stack() {
  try {
    return JSON.parse(sessionStorage.getItem(undone)) ?? [];
  } catch {
    return [];
  }
}

function push(entry) {
  try {
    sessionStorage.setItem(undone, JSON.stringify([...stack(), entry].slice(-200)));
  } catch { /* without storage nothing can be taken back by key */ }
}

function grade(at, value) {
  if (states[at].mine !== value) {
    const id = newId();
    push({ what: "grade", number: at + 1, id, before: states[at] });
    take(at, { ...states[at], mine: value, id });
    queue.add("/label/judge", { id, pool, number: at + 1, grade: value, elapsed_ms: Math.min(Date.now() - since, 3600000) });
  }
  const next = [...cards.keys()].find((one) => one > at && states[one].mine === undefined);
  if (next !== undefined) go(next);
  else if (at + 1 < cards.length && states.some((one) => one.mine === undefined)) go(at + 1);
}

function undo() {
  const held = stack();
  const last = held.pop();
  if (last === undefined) return;
  sessionStorage.setItem(undone, JSON.stringify(held));
  go(last.number - 1);
  if (last.what === "grade") {
    take(last.number - 1, last.before);
    queue.add("/label/undo", { id: newId(), undoes: last.id, pool, number: last.number });
  } else {
    queue.add("/label/anchor/undo", { id: newId(), undoes: last.id, pool, number: last.number });
  }
}

function settle(at, value) {
  queue.add("/label/settle", { id: newId(), pool, number: at + 1, grade: value });
}

function answerless(value) {
  paintAnswerless(value);
  queue.add("/label/answerless", { id: newId(), pool, value });
}

// What is shown

function take(at, state) {
  states[at] = state;
  paint(at);
}

function paint(at) {
  const card = cards[at], state = states[at];
  card.classList.toggle("graded", state.mine !== undefined);
  card.classList.toggle("conflict", state.conflict === true);
  for (const button of $$(".grades [data-grade]", card)) {
    const value = button.dataset.grade === "skip" ? null : Number(button.dataset.grade);
    button.setAttribute("aria-pressed", String(state.mine === value));
  }
  said(at, $(".said", card), state);
  const graded = states.filter((one) => one.mine !== undefined).length;
  const text = `${graded} of ${cards.length} graded${graded === cards.length && desk.dataset.after ? ", n for the next query" : ""}`;
  if ($("#tally").textContent !== text) $("#tally").textContent = text;
  const row = $(".rail [aria-current]");
  if (desk.dataset.answerless !== "yes") $(".tally", row).textContent = `${graded}/${cards.length}`;
  $(".dot", row).className = `dot ${graded === cards.length || desk.dataset.answerless === "yes" ? "full" : graded ? "half" : "none"}`;
}

function said(at, place, state) {
  const others = Object.entries(state.others ?? {}).map(([name, value]) => `${name}: ${value}`);
  const parts = [];
  if (state.settled) parts.push(`settled as ${state.settled.grade ?? "open"} by ${state.settled.by}`);
  if (others.length) parts.push(others.join(", "));
  const text = parts.join(" · ");
  if (place.dataset.text === text + state.conflict) return;
  place.dataset.text = text + state.conflict;
  place.replaceChildren(text);
  if (state.conflict !== true) return;
  const group = document.createElement("span");
  group.className = "settle";
  group.append("disagree; settle as ");
  for (const value of [0, 1, 2, 3]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = String(value);
    button.setAttribute("aria-label", `Settle as ${value}`);
    button.addEventListener("click", () => settle(at, value));
    group.append(button);
  }
  place.prepend(group, " ");
}

function paintAnchors(anchors) {
  const list = $("#anchors");
  const text = JSON.stringify(anchors);
  if (list.dataset.text === text) return;
  list.dataset.text = text;
  list.replaceChildren(
    ...anchors.map((one) => {
      const item = document.createElement("li");
      const mark = document.createElement("mark");
      const where = document.createElement("span");
      mark.dir = "auto";
      mark.textContent = one.quote;
      where.className = "where";
      where.textContent = one.doc;
      item.append(mark, " ", where);
      return item;
    }),
  );
}

function paintAnswerless(value) {
  desk.dataset.answerless = value ? "yes" : "no";
  $("#answerless").setAttribute("aria-pressed", String(value));
}

function go(at, { focus = true } = {}) {
  if (at < 0 || at >= cards.length) return;
  if (at !== current) {
    if (cards[current]) {
      cards[current].classList.remove("current");
      cards[current].removeAttribute("aria-current");
    }
    current = at;
    since = Date.now();
    cards[at].classList.add("current");
    cards[at].setAttribute("aria-current", "true");
    try {
      sessionStorage.setItem(`assay-at ${pool}`, String(at));
    } catch { /* then a reload begins at the first open candidate */ }
    if (anchoring) cursor = new WordCursor($(".reading", cards[at]));
  }
  if (!focus) return;
  if (!cards[at].contains(document.activeElement)) cards[at].focus({ preventScroll: true });
  show(cards[at]);
}

/** Scroll no further than needed; of a card that is higher than the screen its beginning is shown. */
function show(card) {
  const narrow = getComputedStyle($(".asked")).display === "contents";
  const top = narrow ? $(".asked h1").offsetHeight + 8 : $(".bar-top").offsetHeight + $(".asked").offsetHeight + 8;
  const bottom = innerHeight - $(".status").offsetHeight - 8;
  const box = card.getBoundingClientRect();
  if (box.top < top || box.height > bottom - top) scrollBy({ top: box.top - top, behavior: "instant" });
  else if (box.bottom > bottom) scrollBy({ top: box.bottom - bottom, behavior: "instant" });
}

// Anchors

function anchorMode(on) {
  anchoring = on && cards.length > 0;
  document.body.classList.toggle("anchoring", anchoring);
  $("#offer").hidden = !anchoring;
  $("#hints").hidden = anchoring;
  offer = null;
  if (anchoring) {
    if (current < 0) go(0);
    cursor = new WordCursor($(".reading", cards[current]));
    paintOffer("Drag over the words that answer. Arrows move by word, Shift widens.");
    if (chosen()) ask();
  } else {
    getSelection().removeAllRanges();
    cards[current]?.focus({ preventScroll: true });
  }
}

function paintOffer(told) {
  const line = $("#facts");
  $("#keep").disabled = !(offer && offer.holds);
  $("#widen").disabled = !(offer && offer.better);
  if (told !== undefined) {
    line.textContent = told;
    return;
  }
  line.replaceChildren(
    ...offer.facts.map((fact) => {
      const one = document.createElement("span");
      one.className = fact.holds ? "fact holds" : "fact fails";
      one.textContent = `${fact.holds ? "✓" : "✕"} ${fact.text}`;
      return one;
    }),
  );
}

let asking = null, timer = 0;
document.addEventListener("selectionchange", () => {
  if (!anchoring) return;
  offer = null;
  $("#keep").disabled = $("#widen").disabled = true;
  clearTimeout(timer);
  timer = setTimeout(ask, 90);
});

async function ask() {
  const at = chosen();
  if (!anchoring || at === null) return;
  const card = at.passage.closest(".card");
  if (card === null) return;  // what was found is no candidate before it is added
  go(cards.indexOf(card), { focus: false });
  asking?.abort();
  asking = new AbortController();
  try {
    const said = await post("/label/anchor/check", { pool, number: Number(card.dataset.number), start: at.start, end: at.end }, asking.signal);
    offer = { ...said, number: Number(card.dataset.number), passage: at.passage };
    paintOffer();
  } catch (error) {
    if (error.name !== "AbortError") paintOffer(error.message);
  }
}

function keep() {
  if (!offer || !offer.holds) return;
  const id = newId(), [start, end] = offer.span;
  push({ what: "anchor", number: offer.number, id });
  queue.add("/label/anchor", { id, pool, number: offer.number, start, end });
  anchorMode(false);
}

function fit() {
  if (offer && offer.better) choose(offer.passage, offer.better[0], offer.better[1]);
}

// Keys and buttons

onKey((event) => {
  const key = event.key;
  if (anchoring) {
    if (key.startsWith("Arrow")) cursor.key(key, event.shiftKey);
    else if (key === "Enter" && !(event.target instanceof HTMLButtonElement)) keep();
    else if (key === "f") fit();
    else if (key === "Escape" || key === "a") anchorMode(false);
    else if (key === "j" || key === "k") go(current + (key === "j" ? 1 : -1));
    else return false;
    return true;
  }
  // Who reads what was found does not mean the candidate that was read before.
  if ($("#find").contains(document.activeElement) && /^[0-3s]$/.test(key)) return false;
  if (key === "j") go(current + 1);
  else if (key === "k") go(current - 1);
  else if (key === "/") $("#words").select();
  else if (/^[0-3]$/.test(key) && current >= 0) grade(current, Number(key));
  else if (key === "s" && current >= 0) grade(current, null);
  else if (key === "u") undo();
  else if (key === "a") anchorMode(true);
  else if (key === "w") answerless(desk.dataset.answerless !== "yes");
  else if (key === "n" && desk.dataset.after) leave(desk.dataset.after);
  else if (key === "p" && desk.dataset.before) leave(desk.dataset.before);
  else return false;
  return true;
});

cards.forEach((card, at) => {
  card.addEventListener("focusin", () => go(at, { focus: false }));
  card.addEventListener("pointerdown", () => go(at, { focus: false }));
  for (const button of $$(".grades [data-grade]", card)) {
    button.addEventListener("click", () => grade(at, button.dataset.grade === "skip" ? null : Number(button.dataset.grade)));
  }
  paint(at);
});
$("#answerless").addEventListener("click", () => answerless(desk.dataset.answerless !== "yes"));
$("#anchor").addEventListener("click", () => anchorMode(true));
$("#undo").addEventListener("click", undo);
$("#leave").addEventListener("click", () => anchorMode(false));
$("#keep").addEventListener("click", keep);
$("#widen").addEventListener("click", fit);
// A click on a button would take the selection away.
for (const button of $$("#offer button")) button.addEventListener("pointerdown", (event) => event.preventDefault());

// What others, and other tabs, say meanwhile

async function refresh() {
  if (!queue.empty || document.hidden) return;
  try {
    const said = await get(`/label/state?${new URLSearchParams({ pool })}`);
    if (!queue.empty) return;
    said.states.forEach((state, at) => {
      if (JSON.stringify(state) !== JSON.stringify(states[at])) take(at, state);
    });
    paintAnchors(said.anchors);
    paintAnswerless(said.answerless);
  } catch { /* the next look will tell */ }
}
setInterval(refresh, EVERY_MS);
document.addEventListener("visibilitychange", refresh);

// Rows that a reload has left waiting: they are shown as said, and sent again.
for (const { url, body } of queue.rows) {
  if (body.pool === pool && url === "/label/judge") take(body.number - 1, { ...states[body.number - 1], mine: body.grade, id: body.id });
}
queue.paint();
queue.work();
const left = Number(sessionStorage.getItem(`assay-at ${pool}`) ?? -1);
const open = states.findIndex((one) => one.mine === undefined);
const aimed = Number(/^#c(\d+)$/.exec(location.hash)?.[1] ?? 0) - 1;
const searched = $("#find").dataset.searched === "yes";
go([aimed, left].find((at) => at >= 0 && at < cards.length) ?? Math.max(open, 0), { focus: !searched });
if (searched) {
  $("#find").scrollIntoView();
  ($(".found button, .found a") ?? $("#words")).focus({ preventScroll: true });
}
