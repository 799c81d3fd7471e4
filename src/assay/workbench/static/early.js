// Keys that are pressed while a page loads are held, and given to it when it is ready: nobody waits for a page.
"use strict";
(() => {
  const typed = [];
  const hold = (event) => {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (!ctrlKey && !metaKey && !altKey && (key.length === 1 || key === "Enter" || key.startsWith("Arrow"))) typed.push({ key, shiftKey });
  };
  try {
    const left = JSON.parse(sessionStorage.getItem("assay-typed"));
    sessionStorage.removeItem("assay-typed");
    if (left !== null && Date.now() - left.at < 5000) typed.push(...left.keys);
  } catch { /* no storage, nothing held */ }
  addEventListener("keydown", hold);
  window.assayTyped = () => {
    removeEventListener("keydown", hold);
    return typed;
  };
})();
