// The list of all stories, only those with the reader's words. Without this script all of them are there.
import { inLanguage } from "./site.js";

function setUpFilter() {
  const box = document.getElementById("filter-box");
  const input = /** @type {HTMLInputElement | null} */ (document.getElementById("filter"));
  const count = document.getElementById("filter-count");
  const rows = [...document.querySelectorAll("#stories-list tbody tr")];
  if (!box || !input || !count) return;
  box.hidden = false;
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word);
    let shown = 0;
    for (const row of rows) {
      const text = (row.textContent ?? "").toLowerCase();
      const is_shown = words.every((word) => text.includes(word));
      /** @type {HTMLElement} */ (row).hidden = !is_shown;
      if (is_shown) shown += 1;
    }
    count.textContent = inLanguage(`${shown} of ${rows.length}`, `${rows.length} 个中的 ${shown} 个`);
  };
  input.addEventListener("input", filter);
  document.addEventListener("language", filter);
  filter();
}

setUpFilter();
