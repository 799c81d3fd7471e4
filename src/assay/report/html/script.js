// Filters and draws the misses from the data in the page. Text only ever becomes text, never markup.
"use strict";
(() => {
  const BATCH = 50;
  const find = (id) => document.getElementById(id);

  // Theme: auto, light, dark, and round again.
  const root = document.documentElement;
  const button = find("theme");
  const order = ["auto", "light", "dark"];
  const current = () => root.dataset.theme || "auto";
  const name = () => { button.textContent = `Theme: ${current()}`; };
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(current()) + 1) % order.length];
    if (next === "auto") delete root.dataset.theme; else root.dataset.theme = next;
    try { localStorage.setItem("assay-theme", next); } catch { /* kept for this page alone */ }
    name();
  });

  const source = find("data");
  const list = find("misses");
  if (!source || !list) return;
  const data = JSON.parse(source.textContent);

  /** Make an element: attributes (null is left out), then children, of which strings become text. */
  function make(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return made;
  }
  const hidden = (text) => make("span", { class: "vh" }, text);

  function marked(text, marks) {
    const parts = [];
    let at = 0;
    for (const [start, end] of marks) {
      parts.push(text.slice(at, start), make("mark", null, text.slice(start, end)));
      at = end;
    }
    parts.push(text.slice(at));
    return parts;
  }

  function ladder(item, k) {
    return make("ol", { class: "ladder", "aria-label": `Rank of ${item.id} at every stage` },
      data.stages.map((stage, at) => {
        const rank = item.ranks[at];
        const here = item.stage === at;
        const look = here ? "here" : rank !== null && rank <= k ? "in" : null;
        return make("li", { class: look },
          make("span", { class: "stage" }, stage),
          make("span", { class: "rank" }, rank === null ? "–" : rank.toLocaleString("en")),
          rank === null ? hidden(" absent") : null,
          here ? hidden(" lost here") : null);
      }));
  }

  function why(item) {
    const parts = [make("p", null,
      make("strong", null, item.why || "unexplained"), item.status ? ` (${item.status})` : "",
      item.fix ? [" · fix: ", make("strong", null, item.fix)] : "")];
    if (item.evidence) parts.push(make("p", null, item.evidence));
    parts.push(make("p", { class: "facts" }, `${item.lost}: ${item.detail}`));
    if (item.note) parts.push(make("p", { class: "facts" }, item.note));
    if (item.back) parts.push(make("p", { class: "back" }, `✓ ${item.back}`));
    if (item.back === "") parts.push(make("p", { class: "facts" }, "none of the fixes tried brings it back"));
    return make("div", { class: "why" }, parts);
  }

  function needed(item, of) {
    const parts = [make("h3", null, of > 1 ? `What it lacks: ${item.id}` : "What it lacks")];
    if (item.passage) {
      const [name, text, marks] = item.passage;
      parts.push(make("p", { class: "where" }, item.whole ? name : `no chunk holds it whole; around it in ${name}`),
        make("p", { class: "passage anchor", dir: "auto" }, marked(data.texts[text], marks)));
    } else {
      for (const quote of item.quotes) parts.push(make("p", { class: "passage anchor", dir: "auto" }, make("mark", null, quote)));
    }
    for (const place of item.places) parts.push(make("p", { class: "where" }, place));
    if (item.twins.length) parts.push(make("p", { class: "where" }, `the same words stand in ${item.twins.join(", ")}`));
    return parts;
  }

  function hit([rank, chunk, score, text, marks, earns]) {
    const body = data.texts[text];
    return make("li", null, make("details", null,
      make("summary", null,
        make("span", { class: "n" }, String(rank)),
        make("span", { class: earns.length ? "name earns" : "name", title: chunk },
          earns.length ? `✓ ${chunk}` : chunk, earns.length ? hidden(` holds ${earns.join(", ")}`) : null),
        make("span", { class: "soft" }, score),
        body ? make("span", { class: "head", dir: "auto" }, body.slice(0, 160)) : null),
      make("p", { class: "passage", dir: "auto" }, body ? marked(body, marks) : "no text is known")));
  }

  function body(miss) {
    const parts = [];
    if (miss.error) parts.push(make("p", { class: "why" }, `the retriever failed: ${miss.error}`));
    for (const item of miss.items) {
      if (miss.items.length > 1) parts.push(make("h3", null, item.id));
      parts.push(ladder(item, miss.k), why(item));
    }
    if (miss.hits) {
      parts.push(make("div", { class: "sides" },
        make("div", null, miss.items.map((item) => needed(item, miss.of))),
        make("div", null, make("h3", null, `What the prompt got (k = ${miss.k})`),
          miss.hits.length ? make("ol", { class: "hits" }, miss.hits.map(hit)) : make("p", { class: "note" }, "nothing"))));
    } else {
      parts.push(make("p", { class: "note" }, "The passages of this miss were left out to keep the file small; the command below shows them."));
    }
    parts.push(make("p", { class: "where" }, `${miss.values} · `, make("code", null, miss.command)));
    return make("div", { class: "body" }, parts);
  }

  function card(miss) {
    const first = miss.items[0];
    const details = make("details", { class: "miss", id: `miss-${miss.at}` },
      make("summary", null,
        make("span", { class: "id" }, miss.id),
        make("span", { class: "query", dir: "auto" }, miss.text),
        make("span", { class: "tags" },
          make("span", { class: "tag" }, hidden("kind "), miss.kind),
          make("span", { class: "tag lost" }, hidden("lost at "), first.lost),
          make("span", { class: "tag" }, hidden("why: "), first.why || "unexplained"))));
    // Bodies are made when they are first opened: ten thousand of them would be slow.
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(body(miss));
    });
    return make("li", null, details);
  }

  const misses = data.misses.map((miss, at) => ({ ...miss, at,
    lost: new Set(miss.items.map((item) => item.lost)),
    why: new Set(miss.items.map((item) => item.why || "unexplained")),
    sought: [miss.id, miss.text, ...miss.items.flatMap((item) => item.quotes)].join("\n").toLocaleLowerCase() }));

  const filters = find("filters");
  const search = find("search");
  const count = find("count");
  const more = find("more");
  let fitting = misses;
  let drawn = 0;

  const checked = (group) => new Set(
    [...filters.querySelectorAll(`input[name="${group}"]:checked`)].map((box) => box.value));
  const meets = (chosen, values) => chosen.size === 0 || values.some((value) => chosen.has(value));

  function draw() {
    const next = fitting.slice(drawn, drawn + BATCH);
    const cards = next.map(card);
    list.append(...cards);
    drawn += next.length;
    const left = fitting.length - drawn;
    more.hidden = left === 0;
    more.textContent = `Show ${Math.min(BATCH, left)} more of ${left.toLocaleString("en")}`;
    return cards;
  }

  function filter() {
    const kinds = checked("kind"), places = checked("lost"), reasons = checked("why");
    const sought = search.value.trim().toLocaleLowerCase();
    fitting = misses.filter((miss) => meets(kinds, [miss.kind]) && meets(places, [...miss.lost])
      && meets(reasons, [...miss.why]) && (!sought || miss.sought.includes(sought)));
    list.replaceChildren();
    drawn = 0;
    draw();
    const all = misses.length.toLocaleString("en");
    count.textContent = fitting.length === misses.length ? `${all} misses` : `${fitting.length.toLocaleString("en")} of ${all} misses`;
    find("none").hidden = fitting.length > 0;
  }

  filters.hidden = false;
  filters.addEventListener("change", filter);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(filter));
  search.addEventListener("input", filter);
  more.addEventListener("click", () => {
    const cards = draw();
    if (cards.length) cards[0].querySelector("summary").focus();
  });
  find("static-note").hidden = true;
  filter();

  // Paper has no clicks: what is drawn is opened for print, and closed again.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.miss:not([open]), details.numbers:not([open])")];
    for (const one of opened) {
      if (one.classList.contains("miss") && one.children.length === 1) one.append(body(misses[Number(one.id.slice(5))]));
      one.open = true;
    }
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
