// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Filters the matrix and shows one cell's evidence; the address has both, so that a link leads back here.
(() => {
  "use strict";
  const by = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const fields = { vendor: by("vendor"), scenario: by("scenario"), verdict: by("verdict") };
  let chosen = "";

  const show = () => {
    const columns = new Set();
    all("thead th[data-scenario]").forEach((th) => {
      const fit = th.dataset.scenario.includes(fields.scenario.value.trim());
      th.hidden = !fit;
      if (fit) columns.add(th.dataset.scenario);
    });
    for (const row of all("tbody tr[data-parties]")) {
      const mine = !fields.vendor.value || row.dataset.parties.split("\n").includes(fields.vendor.value);
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
    for (const link of all(".matrix a")) {
      if (link.hash === `#${chosen}`) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
  };

  const remember = () => {
    const words = new URLSearchParams();
    for (const [key, field] of Object.entries(fields)) if (field.value) words.set(key, field.value);
    if (chosen) words.set("cell", chosen);
    try { history.replaceState(null, "", `#?${words}`); } catch { /* some viewers forbid it */ }
  };

  const recall = () => {
    const said = location.hash.startsWith("#?") ? new URLSearchParams(location.hash.slice(2)) : new URLSearchParams({ cell: location.hash.slice(1) });
    for (const [key, field] of Object.entries(fields)) if (said.has(key)) field.value = said.get(key);
    chosen = said.get("cell") || "";
    show();
    if (chosen && by(chosen)) by(chosen).scrollIntoView();
  };

  for (const field of Object.values(fields)) field.addEventListener("input", () => { show(); remember(); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".matrix a, a.leads");
    if (!link) return;
    event.preventDefault();
    chosen = link.hash.slice(1);
    show();
    remember();
    by(chosen).scrollIntoView();
  });
  addEventListener("hashchange", recall);
  recall();
})();
