// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a section of the rule coverage shows when it is opened, made of the values of rnic_reports/rule_data.py.
const ruleView = (states) => {
  "use strict";
  const { el, span, code } = page;
  const listed = (items) => items.map((item, at) => [at ? ", " : "", item]);
  const note = (...children) => el("p", { class: "place" }, ...children);

  const cases = (rule) => el("div", { class: "where" },
    listed(rule.cases.map(([anchor, id]) => el("a", { class: "id", href: `#${anchor}` }, id))),
    rule.more ? [" ", el("a", { href: "#cases", "data-filter": `q=${encodeURIComponent(rule.id)}` }, `and ${rule.more} more`)] : "");

  const seen = (rule) => rule.seen.length ? ["seen to fail by ", listed(rule.seen.map((name) => code(name)))]
    : [rule.frames ? "seen to fail in the captures of the corpus" : "never seen to fail"];

  const head = (rule) => [code(rule.id), rule.level ? [" ", span(`level level-${rule.level}`, rule.level), " ",
    span("place", `binds ${rule.binds}${rule.needs ? `, needs ${rule.needs}` : ""}`)] : ""].flat();

  return (rules) => el("ul", { class: "rule-list" }, rules.map((rule) => el("li", { id: `rule-${rule.id}` },
    span("r-state", el("i", { class: `t s-${rule.state}`, "aria-hidden": "true" }), states[rule.state]),
    el("div", null, head(rule),
      rule.text ? el("p", null, rule.text) : "",
      rule.cases.length ? cases(rule) : rule.untestable ? note(rule.untestable) : "",
      rule.how ? note(`Judged ${rule.how}; `, ...seen(rule), ".") : "",
      rule.deviations.length ? note("Broken on purpose by ", ...listed(rule.deviations.map(([name, text]) => el("code", { title: text }, name)))) : "",
      rule.offenders.map(([who, where, reason]) => note(`Known to break it: ${who} in `, code(where), `: ${reason}`))))));
};
