// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a case shows when it is opened, made of the values of rnic_reports/case_data.py. All text of a run goes in as text
// nodes and attribute values, never as mark-up.
const caseView = (rules, words) => {
  "use strict";
  const { el, span, code, section, quote } = page;
  const many = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;

  const verdict = (name, known = false) =>
    span(`v v-${known ? "known" : name}`, el("b", { "aria-hidden": "true" }, words.glyphs[name]), name === "not_applicable" ? "n/a" : words.verdicts[name]);

  const copyable = (text, label = "Copy") => el("button", { class: "copy", type: "button", "data-copy": text }, label);

  // [[text, differs], ...] or plain text.
  const marked = (parts) => (typeof parts === "string" ? parts : parts.map(([text, differs]) => (differs ? el("mark", null, text) : text)));

  const ruleLine = (id) => {
    const rule = rules[id];
    return span("rule", el("a", { class: "id", href: `#rule-${id}` }, id), " ",
      rule ? [section(rule), " ", span(`level level-${rule.level}`, rule.level)] : span("place", "not in the catalogue"));
  };

  // Offset, hex and ASCII in lines of 16; equal lines in a row are one line with a star. `wrong`: [[from, count], ...] to mark.
  const hexdump = (hex, total, wrong = []) => {
    const octets = hex.match(/../g) || [];
    const isWrong = (at) => wrong.some(([from, count]) => at >= from && at < from + count);
    const shown = el("pre", { tabindex: "0" });
    let before = null;
    let starred = false;
    for (let from = 0; from < octets.length; from += 16) {
      const line = octets.slice(from, from + 16);
      const plain = !line.some((_, at) => isWrong(from + at));
      if (plain && line.join() === before && from + 16 < octets.length) {
        if (!starred) shown.append("*\n");
        starred = true;
        continue;
      }
      before = plain ? line.join() : null;
      starred = false;
      shown.append(`${from.toString(16).padStart(4, "0")}  `);
      for (let at = 0; at < 16; at += 1) {
        const text = line[at] || "  ";
        shown.append(isWrong(from + at) && line[at] ? el("mark", null, text) : text, at === 7 ? "  " : at === 15 ? "  " : " ");
      }
      shown.append(line.map((octet) => { const one = parseInt(octet, 16); return one >= 0x20 && one < 0x7f ? String.fromCharCode(one) : "."; }).join(""), "\n");
    }
    if (total > octets.length) shown.append(`... ${(total - octets.length).toLocaleString("en")} more of ${total.toLocaleString("en")} octets are in the pcap\n`);
    return shown;
  };

  const gate = (one) => {
    const [result, reason, entry] = one.gate;
    const place = entry ? [" ", code(entry)] : "";
    if (result === "new_failure") return el("p", { class: "gate" }, span("tag new", "new failure"), ` ${reason}`, place);
    if (result === "known") return el("p", { class: "gate" }, span("tag", "known"), ` Expected: ${reason}`, place);
    if (result === "stale") return el("p", { class: "gate" }, span("tag stale", "stale"), ` ${reason}`, place);
    return null;
  };

  const advisory = ([rule, text, why]) =>
    el("p", { class: "advisory" }, verdict("advisory"), " ", rule ? [ruleLine(rule), ": "] : "", text, " ", span("place", `not a failure. ${why}`));

  const rows = (found) => found.length === 0 ? null : [el("h4", null, "Data rows"),
    el("ul", { class: "rows" }, found.map(([name, outcome, reason]) =>
      el("li", null, verdict(outcome), ` ${name}`, reason ? [" ", span("place", reason)] : "")))];

  const octetsOf = (judgement) => judgement.hex === undefined ? null
    : el("details", { class: "hex" }, el("summary", null, many(judgement.total, "octet")), hexdump(judgement.hex, judgement.total, judgement.wrong));

  const frameOf = (judgement, anchor) => {
    const rung = judgement.rung === null ? null : `#${anchor}.s${judgement.rung}`;
    if (judgement.frame !== null) return rung ? el("a", { href: rung }, String(judgement.frame)) : String(judgement.frame);
    return rung ? el("a", { href: rung, "aria-label": "in the exchange" }, "↓") : null;
  };

  const judgementRow = (one, anchor) => (number) => {
    const judgement = one.judgements[number];
    const known = judgement.verdict === "fail" && one.known;
    const admissible = judgement.admissible.flatMap((line, at) => [at ? [el("br"), span("or", "or"), " "] : "", code(marked(line))]);
    return el("tr", { id: `${anchor}.j${number}`, class: `j-${known ? "known" : judgement.verdict}` },
      el("td", null, verdict(judgement.verdict, known), judgement.row ? span("row-name", judgement.row) : ""),
      el("td", { "data-label": "Admissible" }, admissible),
      el("td", { "data-label": "Actual" }, code(marked(judgement.actual)), octetsOf(judgement), judgement.why ? span("because", judgement.why) : ""),
      el("td", { class: "n" }, frameOf(judgement, anchor)));
  };

  const group = (one, anchor) => ([id, state, aim, numbers]) => {
    const rule = rules[id];
    const silent = numbers.length ? "" : span("place", ` ${state === "kept" ? "the case passed" : words.states[state]}, no judgement of its own`);
    return el("tbody", null,
      el("tr", { class: "rule-row" }, el("th", { colspan: "4", scope: "rowgroup" }, ruleLine(id), aim ? "" : span("place", " not what the case is about"),
        silent, rule && rule.text ? span("says", rule.text) : "", rule && quote(rule))),
      numbers.map(judgementRow(one, anchor)));
  };

  const judgements = (one, anchor) => [el("h4", null, "Rules judged"), el("table", { class: "judge" },
    one.judgements.length ? el("thead", null, el("tr", null, ["Verdict", "Admissible", "Actual"].map((name) => el("th", { scope: "col" }, name)),
      el("th", { scope: "col", class: "n" }, "Frame"))) : "",
    one.rules.map(group(one, anchor)))];

  const senders = { to_iut: "tester to IUT: ", from_iut: "IUT to tester: ", none: "" };

  const mark = (one, rung, anchor) => (number) => {
    const judgement = one.judgements[number];
    const link = `#${anchor}.j${number}`;
    if (judgement.verdict === "pass") return el("a", { class: "ok", href: link, title: judgement.rule }, "✓", span("vh", ` judged: ${judgement.rule}`));
    return el("p", { class: "mark" }, verdict(judgement.verdict, judgement.verdict === "fail" && one.known), " ",
      rung.text === undefined ? [marked(judgement.actual), ": "] : "", el("a", { class: "id", href: link }, judgement.rule),
      judgement.row ? [" ", span("place", judgement.row)] : "");
  };

  // What the tester has sent wrong on purpose.
  const provocation = (rung) => !rung.provoked ? null
    : el("p", { class: "provoked" }, span("v v-provoked", el("b", { "aria-hidden": "true" }, "!"), "wrong on purpose"), " ", code(rung.provoked.join("; ")));

  const stepOf = (rung) => {
    if (rung.text === undefined) return null;
    const said = [span("vh", senders[rung.direction]), rung.text];
    if (rung.hex === undefined) return el("p", null, said);
    return el("details", { class: "hex" }, el("summary", null, said, " ", span("size", String(rung.total))), hexdump(rung.hex, rung.total, rung.wrong));
  };

  const rungOf = (one, anchor) => (rung, number) => {
    if (rung.silence) return el("li", { class: "silence" }, span("at"), span("line", span("", `${rung.silence} of silence`)), span("fr"));
    const names = [rung.direction || "none missing", rung.worst ? `w-${rung.worst}` : "", rung.provoked ? "is-provoked" : ""];
    return el("li", { id: `${anchor}.s${number}`, class: names.filter(Boolean).join(" ") }, span("at", (rung.at * 1000).toFixed(3)),
      el("div", { class: "line" }, stepOf(rung), provocation(rung), (rung.marks || []).map(mark(one, rung, anchor))),
      span("fr", rung.frame === undefined ? "" : String(rung.frame)));
  };

  const exchange = (one, anchor) => one.rungs.length === 0 ? null : [el("h4", null, "Exchange"),
    el("ol", { class: "ladder", "aria-label": "Exchange in order of time" },
      el("li", { class: "ends", "aria-hidden": "true" }, span("at", "ms"), span("line", el("b", null, "IUT"), el("b", null, "Tester")), span("fr", "frame")),
      one.rungs.map(rungOf(one, anchor))),
    one.left_out ? el("p", { class: "place" }, `${many(one.left_out, "more step")} not shown here; the pcap has all.`) : ""];

  const pair = (name, ...children) => el("div", null, el("dt", null, name), el("dd", null, ...children));

  const capture = (one) => {
    if (!one.pcap) return [span("place", "none")];
    const pcap = one.pcap;
    return [pcap.href ? el("a", { href: pcap.href }, pcap.file) : code(pcap.file),
      span("place", `${many(pcap.frames, "frame")}, ${many(pcap.octets, "octet")}, ${pcap.source === "capture" ? "captured live" : "written by the tester: TCP and IP headers are made up"}`),
      pcap.trouble ? span("trouble", pcap.trouble) : "", pcap.note ? span("trouble", pcap.note) : "",
      el("code", { class: "sha", title: "SHA-256" }, pcap.sha256), copyable(pcap.sha256, "Copy SHA-256"),
      pcap.wireshark ? [el("code", { class: "cmd" }, pcap.wireshark), copyable(pcap.wireshark)] : ""];
  };

  const evidence = (one) => el("aside", { class: "evidence", "aria-label": "Evidence" }, el("dl", null,
    pair("Run again", el("code", { class: "cmd" }, one.rerun), copyable(one.rerun)),
    pair("Capture", ...capture(one)),
    pair("Seen to fail by", one.seen.length ? one.seen.map((name, at) => [at ? ", " : "", code(name)])
      : span("trouble", "no deviation yet: a pass of this case is unproven")),
    pair("Case", code(one.id), " ", span("place", one.file)),
    one.configuration ? pair("IUT configured as", code(one.configuration)) : "",
    pair("When", `${one.when}, attempt ${one.attempt}, worker ${one.worker}`)));

  const attempts = (one, anchor) => one.earlier.map((other, at) =>
    el("details", { class: "attempt", id: `${anchor}.attempt-${at + 1}` },
      el("summary", null, verdict(other.verdict), ` earlier attempt ${other.attempt}, which does not count${other.why ? `: ${other.why}` : ""}`),
      body(other, `${anchor}.attempt-${at + 1}`)));

  const body = (one, anchor) => el("div", { class: "body" },
    el("div", { class: "story" },
      el("p", { class: "purpose" }, span("place", "Test purpose: "), span("title", one.title)),
      one.reason ? el("p", { class: `lead l-${one.known ? "known" : one.verdict}` }, one.reason) : "",
      gate(one), one.advisories.map(advisory), rows(one.rows), judgements(one, anchor), exchange(one, anchor),
      one.logs.map(([title, log]) => [el("h4", null, title), el("pre", { class: "log", tabindex: "0" }, log)]),
      attempts(one, anchor)),
    evidence(one));

  return body;
};
