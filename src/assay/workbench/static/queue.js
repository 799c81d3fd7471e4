// Every key press is a row that is sent, and sent again until the server has said that it is kept.
// What waits stays in this tab's own storage, so that a reload in mid-work loses nothing.

import { $, post, Refused } from "./shared.js";

const FIRST_MS = 400, LAST_MS = 8000;

export class Queue {
  /**
   * @param {string} name where the rows that wait are kept
   * @param {{kept: Function, refused: Function}} told called with the answer and the row
   */
  constructor(name, told) {
    this.key = `assay-queue ${name}`;
    this.told = told;
    this.wait = FIRST_MS;
    this.busy = false;
    this.failed = false;
    try {
      this.rows = JSON.parse(sessionStorage.getItem(this.key)) ?? [];
    } catch {
      this.rows = [];
    }
    addEventListener("online", () => this.work());
    addEventListener("beforeunload", (event) => {
      if (this.rows.length && this.failed) event.preventDefault();
    });
  }

  get empty() {
    return this.rows.length === 0;
  }

  add(url, body) {
    this.rows.push({ url, body });
    this.remember();
    this.work();
  }

  remember() {
    try {
      sessionStorage.setItem(this.key, JSON.stringify(this.rows));
    } catch { /* full or forbidden: the rows still wait in this page */ }
    this.paint();
  }

  paint() {
    const at = $("#saved");
    const n = this.rows.length;
    const state = n === 0 ? "saved" : this.failed ? "waiting" : "saving";
    if (at.dataset.state === "refused" && n === 0) return;
    at.dataset.state = state;
    at.textContent = n === 0 ? "Saved" : this.failed ? `Not saved: ${n} waiting, trying again` : n > 1 ? `Saving ${n}` : "Saving";
  }

  async work() {
    if (this.busy) return;
    clearTimeout(this.timer);
    this.busy = true;
    while (this.rows.length) {
      const row = this.rows[0];
      try {
        const said = await post(row.url, row.body);
        this.done(row);
        delete $("#saved").dataset.state;
        this.paint();
        this.told.kept(said, row);
      } catch (error) {
        if (error instanceof Refused && error.status < 500 && ![401, 408, 421, 429].includes(error.status)) {
          this.done(row);
          const at = $("#saved");
          at.dataset.state = "refused";
          at.textContent = `Not kept: ${error.message}`;
          this.told.refused(error, row);
          continue;
        }
        this.failed = true;
        this.paint();
        this.timer = setTimeout(() => this.work(), this.wait);
        this.wait = Math.min(2 * this.wait, LAST_MS);
        break;
      }
    }
    this.busy = false;
  }

  done(row) {
    this.rows = this.rows.filter((one) => one !== row);
    this.failed = false;
    this.wait = FIRST_MS;
    this.remember();
  }
}
