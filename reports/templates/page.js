// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the scripts of all pages share: elements, the compressed values that a page holds, and the choice of light or dark.
const page = (() => {
  "use strict";
  const by = (id) => document.getElementById(id);

  // An element; attributes by name, `class` among them; null and "" are left out of the children.
  const el = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
    made.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  };
  const span = (name, ...children) => el("span", { class: name }, ...children);
  const code = (...children) => el("code", null, ...children);

  // Where a rule stands, and the RFC's own words.
  const section = (rule) => (rule.href ? el("a", { class: "place", href: rule.href, rel: "noreferrer", target: "_blank", title: "the section's own words" }, rule.place)
    : span("place", rule.place));
  const quote = (rule) => !rule.quote ? null
    : el("blockquote", { class: "quote", cite: rule.href }, el("p", null, rule.quote), el("footer", null, section(rule)));

  // The values of one compressed block.
  const unpack = async (element) => {
    const octets = Uint8Array.from(atob(JSON.parse(element.textContent)), (sign) => sign.charCodeAt(0));
    const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  const chooseTheme = () => {
    const dark = by("dark");
    const theme = by("theme");
    let isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const label = () => { theme.textContent = isDark ? "Light" : "Dark"; };
    theme.addEventListener("click", () => {
      isDark = !isDark;
      dark.media = isDark ? "screen" : "not all";
      label();
    });
    label();
    theme.hidden = false;
  };

  return { by, el, span, code, section, quote, unpack, chooseTheme };
})();
