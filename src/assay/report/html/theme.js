// The theme that the reader chose last, before anything is painted. Storage may be forbidden: then it is "auto".
"use strict";
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("assay-theme"); } catch { /* not here */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
