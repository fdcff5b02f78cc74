// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Filters the matrix and shows one cell's evidence; the address has both, so that a link leads back here.
(() => {
  "use strict";
  const { by } = page;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const fields = { vendor: by("vendor"), peer: by("peer"), scenario: by("scenario"), verdict: by("verdict") };
  let chosen = "";

  // ---------------------------------------------------------------- the matrix, of which a large event has tens of thousands of squares

  const heads = all(".scenarios thead th[data-scenario]").map((element) => ({ element, scenario: element.dataset.scenario }));
  const verdictOf = (link) => (link ? link.classList[0].slice(2).replace("-", "_") : "");
  const rows = all(".scenarios tbody tr").map((element) => ({ element, parties: element.dataset.parties.split("\n"),
    squares: [...element.cells].slice(1).map((td) => ({ td, link: td.firstElementChild, verdict: verdictOf(td.firstElementChild) })) }));

  const hide = (element, hidden) => { if (element.hidden !== hidden) element.hidden = hidden; };
  const filter = () => {
    const words = fields.scenario.value.trim();
    const fits = heads.map(({ scenario }) => scenario.includes(words));
    heads.forEach(({ element }, column) => hide(element, !fits[column]));
    for (const { element, parties, squares } of rows) {
      const mine = [fields.vendor.value, fields.peer.value].every((name) => !name || parties.includes(name));
      let any = false;
      squares.forEach(({ td, link, verdict }, column) => {
        hide(td, !fits[column]);
        if (!link) return;
        const wanted = !fields.verdict.value || verdict === fields.verdict.value;
        const visibility = wanted ? "" : "hidden";
        if (link.style.visibility !== visibility) link.style.visibility = visibility;
        any ||= wanted && fits[column];
      });
      hide(element, !mine || !any);
    }
  };

  // ---------------------------------------------------------------- one cell

  const blocks = all(".block").map((element) => ({ from: Number(element.dataset.block), element }));
  const view = cellView(JSON.parse(by("cell").dataset.signs), JSON.parse(by("cell").dataset.words));
  const valuesOf = async (number) => {
    const block = blocks.findLast((each) => each.from <= number);
    block.values ??= page.unpack(block.element);
    return (await block.values)[number - block.from];
  };

  let marked = null;
  const mark = (link) => {
    if (marked) marked.removeAttribute("aria-current");
    marked = link;
    if (marked) marked.setAttribute("aria-current", "true");
  };

  // Shows the chosen cell, or what the page has under that name; the last choice counts if two are under way.
  const show = async (scroll) => {
    const asked = chosen;
    for (const section of all("section.cell")) section.hidden = section.id !== asked;
    mark(asked ? document.querySelector(`.scenarios a[href="#${CSS.escape(asked)}"]`) : null);
    const number = /^cell-\d+$/.test(asked) ? Number(asked.slice(5)) : -1;
    if (number >= 0 && marked && !by(asked)) {
      try {
        const values = await valuesOf(number);
        if (asked === chosen) by("cell").replaceChildren(view(values, asked));
      } catch (error) {
        by("cell").replaceChildren(page.el("p", { class: "trouble" }, `This browser cannot show the cell (${error}); results.json and the capture have it all.`));
      }
    }
    if (scroll && asked === chosen && by(asked)) by(asked).scrollIntoView();
  };

  // ---------------------------------------------------------------- the address

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
    filter();
    show(true);
  };

  for (const field of Object.values(fields)) field.addEventListener("input", () => { filter(); remember(); });
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
    show(true);
    remember();
  });
  addEventListener("hashchange", () => recall(location.hash));
  recall(location.hash);
})();
