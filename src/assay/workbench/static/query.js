// From query to query of the run.

import { $, onKey } from "./shared.js";

const { before, after } = $("#desk").dataset;
onKey((event) => {
  if (event.key === "n" && after) location.assign(after);
  else if (event.key === "p" && before) location.assign(before);
  else return false;
  return true;
});
