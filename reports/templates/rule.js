// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a section of the rule coverage shows when it is opened, made of the values of rnic_reports/rule_data.py.
const ruleView = (states, words) => {
  "use strict";
  const { el, span, code, quote } = page;
  const listed = (items) => items.map((item, at) => [at ? ", " : "", item]);
  const note = (...children) => el("p", { class: "place" }, ...children);

  const cases = (rule) => el("div", { class: "where" },
    listed(rule.cases.map(([anchor, id]) => el("a", { class: "id", href: `#${anchor}` }, id))),
    rule.more ? [" ", el("a", { href: "#cases", "data-filter": `q=${encodeURIComponent(rule.id)}` }, `and ${rule.more} more`)] : "");

  const seen = (rule) => rule.seen.length ? ["seen to fail by ", listed(rule.seen.map((name) => code(name)))]
    : [rule.frames ? "seen to fail in the captures of the corpus" : "never seen to fail"];

  // `said`: its words, which rules that the catalogue does not have lack.
  const head = (rule, said) => [code(rule.id), said ? [" ", span(`level level-${said.level}`, said.level), " ",
    span("place", `binds ${rule.binds}${rule.needs ? `, needs ${rule.needs}` : ""}`)] : ""].flat();

  return (rules) => el("ul", { class: "rule-list" }, rules.map((rule) => el("li", { id: `rule-${rule.id}` },
    span("r-state", el("i", { class: `t s-${rule.state}`, "aria-hidden": "true" }), states[rule.state]),
    el("div", null, head(rule, words[rule.id]),
      words[rule.id] ? [el("p", null, words[rule.id].text), quote(words[rule.id])] : "",
      rule.cases.length ? cases(rule) : rule.untestable ? note(rule.untestable) : "",
      rule.how ? note(`Judged ${rule.how}; `, ...seen(rule), ".") : "",
      rule.deviations.length ? note("Broken on purpose by ", ...listed(rule.deviations.map(([name, text]) => el("code", { title: text }, name)))) : "",
      rule.offenders.map(([who, where, reason]) => note(`Known to break it: ${who} in `, code(where), `: ${reason}`))))));
};
