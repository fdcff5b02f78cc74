// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a cell of a plugfest shows, made of the values of rnic_reports/plugfest_cells.py. All text of a run goes in as text nodes and attribute values, never
// as mark-up. `signs` and `words`: of the verdicts.
const cellView = (signs, words) => {
  "use strict";
  const { el, span } = page;
  const many = (count, one) => `${count.toLocaleString("en")} ${count === 1 ? one : `${one}s`}`;
  const who = (side) => (side ? span(`side-${side}`, side) : "–");
  const link = (href) => (href ? el("a", { href }, "pcap") : "");
  const row = (...cells) => el("tr", null, cells);
  const td = (name, ...content) => el("td", { class: name || null }, content);
  const table = (title, names, rows) => !rows || rows.length === 0 ? null
    : [el("h4", null, title), el("table", null, el("tbody", null, row(names.map((name) => el("th", null, name))), rows))];
  const log = (title, rows) => !rows || rows.length === 0 ? null : [el("h4", null, title), el("table", { class: "log" }, rows)];

  const summary = (cell) => el("p", null, span(`v v-${cell.verdict}`, el("b", null, signs[cell.verdict]), words[cell.verdict]),
    ` in ${cell.seconds} s`, cell.fault ? `, fault: ${cell.fault}` : "", cell.listed ? `, ${cell.listed}` : "", `, ${many(cell.kept || 0, "check")} held`,
    cell.pcap ? [", ", link(cell.pcap)] : "");

  const race = "The event file lists a race here";
  const attempts = (cell) => {
    if (!cell.before) return cell.varies ? el("p", { class: "calm" }, `${race}: it may go another way.`) : null;
    const each = cell.before.map(([verdict, pcap], at) => [at ? ", " : "", words[verdict], pcap ? [" (", link(pcap), ")"] : ""]);
    return el("p", { class: "calm" }, `Attempt ${cell.attempt}; before it: `, each, ".", cell.varies ? ` ${race}.` : "");
  };

  const when = (cell) => !cell.when ? null
    : el("p", { class: "calm" }, [cell.when + (cell.suite ? `, suite ${cell.suite}` : ""), ...(cell.hosts || [])].join("; "));

  const captures = (found) => !found ? null : el("table", { class: "captures" },
    row(["captured at", "frames", "dropped", ""].map((name) => el("th", null, name))),
    found.map((one) => row(td("", one.place + (one.judged ? " (judged)" : "")), td("n", String(one.frames)), td("n", String(one.dropped)),
      td("", link(one.pcap), " ", one.trouble))));

  const cuts = (found) => (found || []).map((cut) => el("p", { class: "calm" },
    `Of ${cut.segments} TCP segments of the ${cut.side || "unknown side"} ${cut.within} ${cut.within === 1 ? "begins" : "begin"} within an FPDU `
    + `(the first: frame ${cut.frame}; RFC 5044 5.1). For information.`));

  const checks = (found) => table("Checks that did not hold", ["side", "what", "expected", "came"],
    (found || []).map((check) => row(td("", who(check.side)), td("", check.what), td("id", check.expected), td("id", check.actual))));

  const findings = (all) => table("Rules that the wire shows broken", ["rule", "level", "sent by", "frame", "what came", "admissible"],
    (all || []).map((one) => row(td("", el("a", { class: "id says-what", href: `#rule-${one.rule}` }, one.rule)),
      td("", one.level + (one.provoked ? ", provoked" : "")), td("", who(one.side)), td("n", String(one.frame)), td("id", one.actual), td("", one.admissible))));

  const wire = (cell) => {
    const marked = new Set((cell.findings || []).map((one) => one.frame));
    return log("On the wire", (cell.wire || []).map((line) => el("tr", { class: marked.has(line.frame) ? "at" : null },
      td("n", String(line.frame)), td("", who(line.side)), td("id", line.text))));
  };
  const steps = (found) => log("Both agents", (found || []).map((step) => row(td("n", step.at.toFixed(3)), td("", who(step.side)), td("id", step.text))));
  const said = (found) => (found || []).map((one) => [el("h4", null, `Standard error of the ${one.side}'s agent`), el("pre", null, one.text)]);

  return (cell, id) => el("section", { class: "cell", id }, el("h2", null, cell.title), summary(cell), attempts(cell), when(cell),
    cell.reason ? el("p", { class: cell.verdict === "fail" ? "bad" : "calm" }, cell.reason) : "",
    cell.capture_trouble ? el("p", { class: "trouble" }, cell.capture_trouble) : "",
    captures(cell.captures), cuts(cell.cuts), checks(cell.checks), findings(cell.findings), wire(cell), steps(cell.steps), said(cell.said));
};
