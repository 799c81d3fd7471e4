// What every page has: the theme, the list of keys, going from page to page, and talking to the server.

export const $ = (selector, inside = document) => inside.querySelector(selector);
export const $$ = (selector, inside = document) => [...inside.querySelectorAll(selector)];

/** An id for a row, made here so that a row sent twice is kept once. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Refused extends Error {
  constructor(text, status, body) {
    super(text);
    this.status = status;
    this.body = body;
  }
}

const mark = $('meta[name="assay-token"]');

async function send(url, body, signal) {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-assay-token": mark.content },
    body: JSON.stringify(body),
    credentials: "same-origin",
    keepalive: true,
    signal,
  });
}

/** Send a row and return what the server says; a Refused error where it says no. */
export async function post(url, body, signal) {
  let answer = await send(url, body, signal);
  if (answer.status === 403) {
    const said = await answer.clone().json().catch(() => ({}));
    if (said.code === "token") {
      // The server was started again while this page was open.
      mark.content = (await get("/session")).token;
      answer = await send(url, body, signal);
    }
  }
  return read(answer);
}

export async function get(url) {
  return read(await fetch(url, { headers: { accept: "application/json" }, credentials: "same-origin" }));
}

async function read(answer) {
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(said.error ?? `the server said ${answer.status}`, answer.status, said);
  return said;
}

/** Whether a key belongs to what has the focus. */
export function typing(event) {
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if ($("dialog[open]")) return true;
  return at instanceof HTMLElement && (at.isContentEditable || at.matches("textarea, select, input:not([type=checkbox], [type=radio])"));
}

/** Call a function for a key; the first handler that returns true has it. */
const handlers = [];
export function onKey(handler) {
  handlers.unshift(handler);
}

/** Go to another page; keys that are pressed on the way belong to that page. */
let leaving = null;
export function leave(url) {
  leaving = { at: Date.now(), keys: [] };
  location.assign(url);
}
addEventListener("pageshow", () => { leaving = null; });

function holdForNext(event) {
  if (leaving === null) return false;
  event.preventDefault();
  leaving.keys.push({ key: event.key, shiftKey: event.shiftKey });
  try {
    sessionStorage.setItem("assay-typed", JSON.stringify(leaving));
  } catch { /* then they are lost */ }
  return true;
}

const PAGES = { o: "/", l: "/label", d: "/drafts", m: "/misses", c: "/compare", j: "/judges" };
let going = 0;

document.addEventListener("keydown", (event) => {
  if (typing(event) || holdForNext(event)) return;
  if (Date.now() - going < 1200) {
    going = 0;
    if (event.key in PAGES) {
      event.preventDefault();
      leave(PAGES[event.key]);
      return;
    }
  }
  for (const handler of handlers) {
    if (handler(event) === true) {
      event.preventDefault();
      return;
    }
  }
  if (event.key === "?") {
    event.preventDefault();
    $("#keys").showModal();
  } else if (event.key === "g") {
    going = Date.now();
  }
});

$("#help").addEventListener("click", () => $("#keys").showModal());

const theme = $("#theme");
function paintTheme() {
  theme.textContent = `Theme: ${document.documentElement.dataset.theme ?? "auto"}`;
}
theme.addEventListener("click", () => {
  const order = [undefined, "light", "dark"];
  const next = order[(order.indexOf(document.documentElement.dataset.theme) + 1) % order.length];
  if (next === undefined) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    if (next === undefined) localStorage.removeItem("assay-theme");
    else localStorage.setItem("assay-theme", next);
  } catch { /* storage may be forbidden: the theme then lasts as long as the page */ }
  paintTheme();
});
paintTheme();

for (const one of $$(".rail [aria-current], .bar-top [aria-current]")) {
  const list = one.closest("ol, nav");
  if (list && list.scrollWidth + list.scrollHeight > list.clientWidth + list.clientHeight) {
    const box = list.getBoundingClientRect(), mine = one.getBoundingClientRect();
    list.scrollTop += mine.top - box.top - box.height / 2;
    list.scrollLeft += mine.left - box.left - box.width / 2;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  for (const { key, shiftKey } of window.assayTyped()) {
    (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
  }
});
