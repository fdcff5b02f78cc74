// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Filters the cases, makes what is in one, and in a section of the rules, when it is opened, keeps both in the address, opens what a link leads to, copies,
// and moves by keyboard.
(() => {
  "use strict";
  const PREPARED = 60; // new failures that are made at once, so that they can be printed
  const { by } = page;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const cases = all(".case").map((element) => ({ element, ...element.dataset }));
  const caseOf = new Map(cases.map((one) => [one.element, one]));
  const files = all(".file").map((element) => ({ element, members: all(".case", element).map((each) => caseOf.get(each)) }));
  const chips = all(".chip");
  const text = by("text");
  let opened = ""; // anchor of the case opened last

  // ---------------------------------------------------------------- what is in a case

  const blocks = all(".block").map((element) => ({ name: element.dataset.block, from: Number(element.dataset.block), element }));
  const unpacked = (block) => {
    block.values ??= page.unpack(block.element);
    return block.values;
  };

  // The sections of the rule coverage, in the order of their values.
  const sections = new Map(all(".sec").map((element, number) => [element, { number }]));
  let rules = null;
  const rulesOf = async () => {
    rules ??= Promise.all([unpacked(blocks.find((each) => each.name === "shared")),
      Promise.all(blocks.filter((each) => each.name === "rules").map(unpacked))]);
    const [[shared], values] = await rules;
    return { shared, values: values.flat() };
  };

  const fillSection = (element) => {
    const one = sections.get(element);
    one.filled ??= (async () => {
      const { shared, values } = await rulesOf();
      element.append(ruleView(shared.words.states, shared.rules)(values[one.number]));
    })();
    return one.filled;
  };

  // The section of a rule, of which the page has no element yet.
  const sectionOf = async (rule) => {
    const { values } = await rulesOf();
    const number = values.findIndex((section) => section.some((each) => each.id === rule));
    return [...sections.keys()][number];
  };

  const fill = (element) => {
    const one = caseOf.get(element);
    one.filled ??= (async () => {
      try {
        const block = blocks.findLast((each) => each.from <= Number(one.n));
        const [[shared], values] = await Promise.all([unpacked(blocks.find((each) => each.name === "shared")), unpacked(block)]);
        element.append(caseView(shared.rules, shared.words)(values[Number(one.n) - block.from], element.id));
      } catch (error) {
        const said = document.createElement("p");
        said.className = "body trouble";
        said.textContent = `This browser cannot show the case (${error}); results.json and the pcap have it all.`;
        element.append(said);
      }
    })();
    return one.filled;
  };

  document.addEventListener("toggle", (event) => {
    const element = event.target;
    if (sections.has(element) && element.open) fillSection(element);
    if (!caseOf.has(element)) return;
    if (element.open) {
      fill(element);
      opened = element.id;
    } else if (opened === element.id) opened = "";
    remember();
  }, true);

  // ---------------------------------------------------------------- the filter

  const searched = (one) => {
    one.words ??= `${one.element.firstElementChild.textContent} ${one.k}`.toLowerCase();
    return one.words;
  };

  const filter = () => {
    const wanted = { v: new Set(), l: new Set(), g: new Set(), a: new Set() };
    for (const chip of chips) if (chip.getAttribute("aria-pressed") === "true") wanted[chip.dataset.key].add(chip.dataset.value);
    return { wanted, words: text.value.toLowerCase().split(/\s+/).filter(Boolean) };
  };

  const show = () => {
    const { wanted, words } = filter();
    const chosen = Object.entries(wanted).filter(([, values]) => values.size);
    let shown = 0;
    for (const one of cases) {
      one.fits = chosen.every(([key, values]) => values.has(one[key])) && words.every((word) => searched(one).includes(word));
      if (one.element.hidden === one.fits) one.element.hidden = !one.fits;
      if (one.fits) shown += 1;
    }
    for (const file of files) file.element.hidden = !file.members.some((one) => one.fits);
    const filtered = words.length > 0 || chosen.length > 0;
    by("shown").textContent = filtered ? `${shown} of ${cases.length}` : `${cases.length}`;
    by("nothing").hidden = shown > 0 || cases.length === 0;
    by("clear").disabled = !filtered;
  };

  const remember = () => {
    const parts = Object.entries(filter().wanted).filter(([, values]) => values.size).map(([key, values]) => `${key}=${[...values].map(encodeURIComponent).join(",")}`);
    if (text.value) parts.push(`q=${encodeURIComponent(text.value)}`);
    if (opened) parts.push(`c=${encodeURIComponent(opened)}`);
    try { history.replaceState(null, "", parts.length ? `#?${parts.join("&")}` : location.pathname + location.search); } catch { /* some viewers forbid it */ }
  };

  // Filters as the query says, and opens the case that it names.
  const set = async (query) => {
    const wanted = new Map(query.split("&").map((part) => part.split("=")));
    const values = (key) => (wanted.get(key) || "").split(",").filter(Boolean).map(decodeURIComponent);
    for (const chip of chips) chip.setAttribute("aria-pressed", String(values(chip.dataset.key).includes(chip.dataset.value)));
    text.value = values("q").join(",");
    show();
    if (values("c").length) await reveal(values("c")[0]);
  };

  // ---------------------------------------------------------------- links

  // The element of that id. What is in a case has the id of the case, a dot, and a name: it is made first.
  const target = async (id) => {
    if (id.startsWith("rule-") && !by(id)) {
      const section = await sectionOf(id.slice("rule-".length));
      if (section) await fillSection(section);
    }
    for (let name = id; name && !by(id); name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
      if (caseOf.has(by(name))) await fill(by(name));
    }
    return by(id);
  };

  // Opens every fold around the target of a link, and the target itself where it is one.
  const reveal = async (id) => {
    const found = id && await target(id);
    if (!found) return;
    const fold = found.closest(".case");
    if (fold && fold.hidden) await set("");
    if (fold) await fill(fold);
    for (let at = found; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    found.scrollIntoView();
    for (const before of all(".pointed-at")) before.classList.remove("pointed-at");
    found.classList.add("pointed-at");
  };

  const follow = async () => {
    let fragment = "";
    try { fragment = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    if (!fragment.startsWith("?")) return reveal(fragment);
    by("cases").scrollIntoView();
    await set(location.hash.slice(2));
  };

  document.addEventListener("click", (event) => {
    const leads = event.target.closest("[data-filter]");
    if (leads) {
      event.preventDefault();
      set(leads.dataset.filter);
      remember();
      by("cases").scrollIntoView();
      return;
    }
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) reveal(decodeURIComponent(link.hash.slice(1)));
    const copy = event.target.closest(".copy");
    if (copy) copied(copy);
  });

  const copied = async (button) => {
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {  // a page opened as a file may not use the clipboard
      const area = document.createElement("textarea");
      area.value = button.dataset.copy;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1200);
  };

  // ---------------------------------------------------------------- controls and keys

  // What a link leads to must not end up under the toolbar, which stays in sight.
  const makeRoom = () => {
    const sticky = getComputedStyle(by("tools")).position === "sticky";
    document.documentElement.style.scrollPaddingTop = `${sticky ? by("tools").offsetHeight + 12 : 12}px`;
  };

  for (const chip of chips) chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    show();
    remember();
  });
  let pending = 0;
  text.addEventListener("input", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(() => { show(); remember(); }); });
  by("clear").addEventListener("click", () => { set(""); remember(); });
  by("open").addEventListener("click", () => { for (const one of cases) if (one.fits) one.element.open = true; });
  by("close").addEventListener("click", () => { for (const one of cases) one.element.open = false; });

  // To the next or previous case that is shown, counted from the one that has the focus.
  const step = (by_how_many) => {
    const shown = cases.filter((one) => one.fits);
    const here = shown.findIndex((one) => one.element.contains(document.activeElement));
    const next = shown[here < 0 ? (by_how_many > 0 ? 0 : shown.length - 1) : here + by_how_many];
    if (!next) return;
    next.element.firstElementChild.focus();
    next.element.firstElementChild.scrollIntoView({ block: "center" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const typing = event.target.matches("input, textarea, select");
    if (event.key === "Escape" && event.target === text) { text.value = ""; show(); remember(); text.blur(); return; }
    if (typing || !["/", "n", "p"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "/") { by("cases").scrollIntoView(); text.focus(); } else step(event.key === "n" ? 1 : -1);
  });

  addEventListener("beforeprint", () => { for (const one of cases) if (one.fits && one.g === "new_failure" && one.filled) one.element.open = true; });
  addEventListener("hashchange", follow);
  for (const hidden of [by("tools"), ...all(".copy")]) hidden.hidden = false;
  page.chooseTheme();
  makeRoom();
  addEventListener("resize", makeRoom);
  show();
  follow();
  for (const one of cases.filter((each) => each.g === "new_failure").slice(0, PREPARED)) fill(one.element);
})();
