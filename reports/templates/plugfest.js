// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Filters the matrix and shows one cell's evidence; the address has both, so that a link leads back here.
(() => {
  "use strict";
  const by = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const fields = { vendor: by("vendor"), peer: by("peer"), scenario: by("scenario"), verdict: by("verdict") };
  let chosen = "";

  const show = () => {
    const columns = new Set();
    all("thead th[data-scenario]").forEach((th) => {
      const fit = th.dataset.scenario.includes(fields.scenario.value.trim());
      th.hidden = !fit;
      if (fit) columns.add(th.dataset.scenario);
    });
    for (const row of all("tbody tr[data-parties]")) {
      const parties = row.dataset.parties.split("\n");
      const mine = [fields.vendor.value, fields.peer.value].every((name) => !name || parties.includes(name));
      let any = false;
      for (const td of row.querySelectorAll("td")) {
        td.hidden = !columns.has(td.dataset.scenario);
        const wanted = !fields.verdict.value || td.dataset.verdict === fields.verdict.value;
        const link = td.querySelector("a");
        if (link) link.style.visibility = wanted ? "" : "hidden";
        any ||= wanted && !td.hidden && link !== null;
      }
      row.hidden = !mine || !any;
    }
    for (const section of all("section.cell")) section.hidden = section.id !== chosen;
    for (const link of all(".scenarios a")) {
      if (link.hash === `#${chosen}`) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
  };

  const remember = () => {
    const words = new URLSearchParams();
    for (const [key, field] of Object.entries(fields)) if (field.value) words.set(key, field.value);
    if (chosen) words.set("cell", chosen);
    try { history.replaceState(null, "", `#?${words}`); } catch { /* some viewers forbid it */ }
  };

  const recall = (hash) => {
    const said = hash.startsWith("#?") ? new URLSearchParams(hash.slice(2)) : new URLSearchParams({ cell: hash.slice(1) });
    for (const [key, field] of Object.entries(fields)) field.value = said.get(key) || "";
    chosen = said.get("cell") || "";
    show();
    if (chosen && by(chosen)) by(chosen).scrollIntoView();
  };

  for (const field of Object.values(fields)) field.addEventListener("input", () => { show(); remember(); });
  // The words of a rule below the row that names it, and away again.
  const toggleWords = (link) => {
    const row = link.closest("tr");
    const below = row.nextElementSibling;
    if (below && below.matches(".words-row")) return below.remove();
    const made = row.parentElement.insertRow(row.sectionRowIndex + 1);
    made.className = "words-row";
    const cell = made.insertCell();
    cell.colSpan = row.cells.length;
    cell.append(by(link.hash.slice(1)).querySelector(".words").cloneNode(true));
  };

  document.addEventListener("click", (event) => {
    const rule = event.target.closest("a.says-what");
    if (rule) {
      event.preventDefault();
      toggleWords(rule);
      return;
    }
    const link = event.target.closest(".scenarios a, a.leads");
    if (!link) return;
    event.preventDefault();
    if (link.hash.startsWith("#?")) {  // a participant, or a pair
      try { history.replaceState(null, "", link.hash); } catch { location.hash = link.hash; }
      recall(link.hash);
      by("cells").scrollIntoView();
      return;
    }
    chosen = link.hash.slice(1);
    show();
    remember();
    by(chosen).scrollIntoView();
  });
  addEventListener("hashchange", () => recall(location.hash));
  recall(location.hash);
})();
