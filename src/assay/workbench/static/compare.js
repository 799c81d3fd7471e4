// Moves over the queries that moved.

import { $$, onKey } from "./shared.js";

const rows = $$("#moved summary");
onKey((event) => {
  const at = rows.indexOf(document.activeElement);
  if (event.key === "j" || event.key === "k") rows.at(Math.max(0, Math.min(rows.length - 1, at + (event.key === "j" ? 1 : -1))))?.focus();
  else if (event.key === "o" && at >= 0) rows[at].parentElement.open = !rows[at].parentElement.open;
  else return false;
  return true;
});
