// From query to query of the run.

import { $, leave, onKey } from "./shared.js";

const { before, after } = $("#desk").dataset;
onKey((event) => {
  if (event.key === "n" && after) leave(after);
  else if (event.key === "p" && before) leave(before);
  else return false;
  return true;
});
