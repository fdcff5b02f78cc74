// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/expert.hpp"

#include <epan/expert.h>
#include <fmt/format.h>

#include "dissectors/wireshark/fields.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::wireshark {

namespace {

expert_field must = EI_INIT, should = EI_INIT, may = EI_INIT, said = EI_INIT;

ei_register_info expert_table[]{
    {&must, {"rnic_iwarp.must", PI_PROTOCOL, PI_ERROR, "A MUST is not kept", EXPFILL}},
    {&should, {"rnic_iwarp.should", PI_PROTOCOL, PI_WARN, "A SHOULD is not kept", EXPFILL}},
    {&may, {"rnic_iwarp.may", PI_PROTOCOL, PI_NOTE, "A MAY is not kept", EXPFILL}},
    {&said, {"rnic_iwarp.noted", PI_ASSUMPTION, PI_NOTE, "Could not be judged", EXPFILL}},
};

expert_field& field_of(rules::Level level) {
  if (level == rules::Level::must) return must;
  return level == rules::Level::should ? should : may;
}

void show_rule(proto_tree* tree, const rules::Rule& rule) {
  state(tree, fields.violation_level, std::string(rules::name(rule.level)));
  state(tree, fields.violation_rfc, static_cast<std::uint32_t>(rule.rfc));
  state(tree, fields.violation_section, std::string(rule.section));
  state(tree, fields.violation_text, std::string(rule.text));
  if (!rule.quote.empty()) state(tree, fields.violation_quote, std::string(rule.quote));
}

void show_finding(const Canvas& canvas, const Finding& finding) {
  const rules::Rule* rule = rules::find(finding.rule);
  // The same text for the same rule: `-z expert` counts equal texts together.
  const std::string title =
      rule == nullptr
          ? std::string(finding.rule)
          : fmt::format("{} ({}, {})", finding.rule, rules::place(*rule), rules::name(rule->level));
  proto_item* item = state(canvas.tree, fields.violation, title);
  expert_add_info_format(canvas.packet, item, &(rule == nullptr ? must : field_of(rule->level)),
                         "%s", title.c_str());
  if (canvas.tree == nullptr) return;
  proto_tree* tree = proto_item_add_subtree(item, trees.violation);
  state(tree, fields.violation_rule, std::string(finding.rule));
  state(tree, fields.violation_actual, finding.actual);
  state(tree, fields.violation_admissible, finding.admissible);
  if (rule != nullptr) show_rule(tree, *rule);
  for (const std::string_view also : finding.also)
    state(tree, fields.violation_also, std::string(also));
  state(tree, fields.violation_frame, finding.frame);
  if (finding.place.first_frame != 0 && finding.place.first_frame != finding.frame)
    state(tree, fields.violation_first_frame, finding.place.first_frame);
  if (finding.certainty == analyzer::Certainty::likely) state(tree, fields.violation_likely, true);
}

}  // namespace

void register_expert_fields(int protocol) {
  expert_register_field_array(expert_register_protocol(protocol), expert_table,
                              static_cast<int>(std::size(expert_table)));
}

void show_findings(const Canvas& canvas, const Events& events) {
  for (const Finding& finding : events.findings) show_finding(canvas, finding);
}

void show_notes(const Canvas& canvas, const Events& events) {
  for (const NoteFact& note : events.notes) {
    const std::string kind(analyzer::name(note.kind));
    proto_item* item = state(canvas.tree, fields.note, fmt::format("{}: {}", kind, note.text));
    expert_add_info_format(canvas.packet, item, &said, "%s", kind.c_str());
    if (canvas.tree == nullptr) continue;
    proto_tree* tree = proto_item_add_subtree(item, trees.violation);
    state(tree, fields.note_kind, kind);
    state(tree, fields.note_frame, note.frame);
  }
}

}  // namespace dissectors::wireshark
