// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Comfort only: filter the cases, keep the filter in the address, open what a link leads to, copy, choose light or dark.
(() => {
  "use strict";
  const by = (id) => document.getElementById(id);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const cases = all(".case").map((element) => ({ element, ...element.dataset }));
  const files = all(".file").map((element) => ({ element, members: new Set(all(".case", element)) }));
  const chips = all(".chip");
  const text = by("text");

  const show = () => {
    const wanted = { v: new Set(), l: new Set(), g: new Set(), a: new Set() };
    for (const chip of chips) if (chip.getAttribute("aria-pressed") === "true") wanted[chip.dataset.key].add(chip.dataset.value);
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (one) => Object.entries(wanted).every(([key, values]) => !values.size || values.has(one[key])) &&
      words.every((word) => one.k.includes(word));
    let shown = 0;
    const visible = new Set();
    for (const one of cases) {
      const fit = fits(one);
      one.element.hidden = !fit;
      if (fit) { shown += 1; visible.add(one.element); }
    }
    for (const file of files) file.element.hidden = ![...file.members].some((member) => visible.has(member));
    const filtered = words.length > 0 || Object.values(wanted).some((values) => values.size);
    by("shown").textContent = filtered ? `${shown} of ${cases.length}` : `${cases.length}`;
    by("nothing").hidden = shown > 0 || cases.length === 0;
    by("clear").disabled = !filtered;
    return wanted;
  };

  const remember = (wanted) => {
    const parts = Object.entries(wanted).filter(([, values]) => values.size).map(([key, values]) => `${key}=${[...values].map(encodeURIComponent).join(",")}`);
    if (text.value) parts.push(`q=${encodeURIComponent(text.value)}`);
    try { history.replaceState(null, "", parts.length ? `#?${parts.join("&")}` : location.pathname + location.search); } catch { /* some viewers forbid it */ }
  };

  const set = (query) => {
    const wanted = new Map(query.split("&").map((part) => part.split("=")));
    const values = (key) => (wanted.get(key) || "").split(",").filter(Boolean).map(decodeURIComponent);
    for (const chip of chips) chip.setAttribute("aria-pressed", String(values(chip.dataset.key).includes(chip.dataset.value)));
    text.value = values("q").join(",");
    return show();
  };

  // Opens every fold around the target of a link, and the target itself where it is one.
  const reveal = (id) => {
    const target = id && by(id);
    if (!target) return;
    const fold = target.closest(".case");
    if (fold && fold.hidden) set("");
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };

  const follow = () => {
    let fragment = "";
    try { fragment = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    if (fragment.startsWith("?")) { set(location.hash.slice(2)); by("cases").scrollIntoView(); } else reveal(fragment);
  };

  document.addEventListener("click", (event) => {
    const filter = event.target.closest("[data-filter]");
    if (filter) {
      event.preventDefault();
      remember(set(filter.dataset.filter));
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

  for (const chip of chips) chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    remember(show());
  });
  let pending = 0;
  text.addEventListener("input", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(() => remember(show())); });
  by("clear").addEventListener("click", () => remember(set("")));
  by("open").addEventListener("click", () => { for (const one of cases) if (!one.element.hidden) one.element.open = true; });
  by("close").addEventListener("click", () => { for (const one of cases) one.element.open = false; });

  const dark = by("dark");
  const theme = by("theme");
  let isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => { theme.textContent = isDark ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    isDark = !isDark;
    dark.media = isDark ? "screen" : "not all";
    label();
  });

  addEventListener("beforeprint", () => { for (const one of cases) if (!one.element.hidden && one.g === "new_failure") one.element.open = true; });
  addEventListener("hashchange", follow);
  for (const hidden of [by("tools"), theme, ...all(".copy")]) hidden.hidden = false;
  label();
  show();
  follow();
})();
