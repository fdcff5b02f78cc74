// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two runs side by side; the address has which two, and the filter.
(async () => {
  "use strict";
  const { by } = page;
  page.chooseTheme();
  const [{ cases, outcomes, words, good }] = await page.unpack(document.querySelector(".block"));
  const fields = { a: by("a"), b: by("b"), q: by("text") };
  const order = Object.keys(words.kinds);

  // What rnic_reports/history.py calls the change.
  const kindOf = (before, after) => {
    const fine = (one) => good.includes(one[0]);
    if (!after) return before ? "gone" : "";
    if (!before) return fine(after) ? "added" : "new";
    if (fine(before) || fine(after)) return fine(before) === fine(after) ? "" : fine(after) ? "fixed" : "new";
    return before[0] !== after[0] || before[1] !== after[1] ? "changed" : "";
  };

  const cell = (name, ...children) => {
    const made = document.createElement("td");
    made.className = name;
    made.append(...children);
    return made;
  };
  const span = (name, ...children) => {
    const made = document.createElement("span");
    made.className = name;
    made.append(...children);
    return made;
  };
  const shown = (one) => {
    if (!one) return [span("place", "absent")];
    const glyph = document.createElement("b");
    glyph.setAttribute("aria-hidden", "true");
    glyph.append(words.glyphs[one[0]]);
    return [span(`v v-${one[0]}`, glyph, words.verdicts[one[0]]), one[2] ? span("place", ` ${one[2]}`) : ""];
  };

  const show = () => {
    const [before, after] = [outcomes[fields.a.value], outcomes[fields.b.value]];
    const wanted = fields.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = cases.map((name, at) => ({ name, was: before[at], is: after[at], kind: kindOf(before[at], after[at]) }))
      .filter((one) => one.kind && wanted.every((word) => [one.name, ...(one.was || []), ...(one.is || [])].join(" ").toLowerCase().includes(word)))
      .sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
    by("compared").tBodies[0].replaceChildren(...found.map((one) => {
      const row = document.createElement("tr");
      row.className = `k-${one.kind}`;
      row.append(cell("", words.kinds[one.kind]), cell("id", one.name), cell("", ...shown(one.was)), cell("", ...shown(one.is)));
      row.cells[2].dataset.label = "before";
      row.cells[3].dataset.label = "after";
      return row;
    }));
    by("shown").textContent = found.length ? order.map((kind) => [found.filter((one) => one.kind === kind).length, words.kinds[kind], kind])
      .filter(([count]) => count).map(([count, name, kind]) => `${count} ${name}${kind === "new" && count > 1 ? "s" : ""}`).join(", ") : "no difference";
  };

  const remember = () => {
    const said = new URLSearchParams();
    for (const [key, field] of Object.entries(fields)) if (field.value) said.set(key, field.value);
    try { history.replaceState(null, "", `#?${said}`); } catch { /* some viewers forbid it */ }
  };

  const recall = () => {
    if (!location.hash.startsWith("#?")) return false;
    const said = new URLSearchParams(location.hash.slice(2));
    for (const key of ["a", "b"]) if (said.get(key) in outcomes) fields[key].value = said.get(key);
    fields.q.value = said.get("q") || "";
    return true;
  };

  const follow = () => {
    if (!recall()) return;
    show();
    by("two").scrollIntoView();
  };

  fields.b.value = String(outcomes.length - 1);
  fields.a.value = String(Math.max(0, outcomes.length - 2));
  for (const field of Object.values(fields)) field.addEventListener("input", () => { show(); remember(); });
  addEventListener("hashchange", follow);
  by("tools").hidden = false;
  show();
  follow();
})();
