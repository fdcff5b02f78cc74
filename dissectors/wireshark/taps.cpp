// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/taps.hpp"

#include <epan/stats_tree.h>
#include <epan/tap.h>

#include <algorithm>
#include <limits>

#include "dissectors/wireshark/follow.hpp"
#include "dissectors/wireshark/tables.hpp"

namespace dissectors::wireshark {

namespace {

constexpr const char* tap_name = "rnic_iwarp";
constexpr const char* messages = "Messages";
constexpr const char* payload = "Octets of payload";
constexpr const char* response = "Response time in microseconds";
constexpr const char* violations = "Violations";
constexpr const char* notes = "Notes";

// Wireshark's numbers for tables of which a capture has only one.
struct Nodes {
  int messages = 0, payload = 0, response = 0, violations = 0, notes = 0;
};
Nodes nodes;
int tap = -1;

void begin(stats_tree* tree) {
  nodes.messages = stats_tree_create_pivot(tree, messages, 0);
  nodes.payload = stats_tree_create_node(tree, payload, 0, STAT_DT_INT, TRUE);
  nodes.response = stats_tree_create_node(tree, response, 0, STAT_DT_INT, TRUE);
  nodes.violations = stats_tree_create_pivot(tree, violations, 0);
  nodes.notes = stats_tree_create_pivot(tree, notes, 0);
}

int bounded(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, std::numeric_limits<int>::max()));
}

void count_fpdu(stats_tree* tree, const FpduFact& fact) {
  if (!fact.has_segment) return;
  const char* operation = rnic::wire::name(fact.opcode);
  if (fact.last_segment) stats_tree_tick_pivot(tree, nodes.messages, operation);
  if (const int octets = bounded(fact.payload_octets); octets > 0) {
    increase_stat_node(tree, payload, 0, TRUE, octets);
    increase_stat_node(tree, operation, nodes.payload, FALSE, octets);
  }
  if (fact.request_frame == 0) return;
  const int microseconds = bounded(fact.response_time / 1000);
  avg_stat_node_add_value_int(tree, response, 0, TRUE, microseconds);
  avg_stat_node_add_value_int(tree, operation, nodes.response, FALSE, microseconds);
}

tap_packet_status count_frame(stats_tree* tree, packet_info*, epan_dissect_t*, const void* data,
                              tap_flags_t) {
  const auto& facts = *static_cast<const FrameFacts*>(data);
  for (const FpduFact& fact : facts.fpdus) count_fpdu(tree, fact);
  for (const Finding& finding : facts.events->findings)
    stats_tree_tick_pivot(tree, nodes.violations, std::string(finding.rule).c_str());
  for (const NoteFact& note : facts.events->notes)
    stats_tree_tick_pivot(tree, nodes.notes, std::string(analyzer::name(note.kind)).c_str());
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_taps(int protocol) {
  tap = register_tap(tap_name);
  register_tables(protocol);
  register_follow(protocol);
  stats_tree_register_plugin(tap_name, tap_name, "iWARP", 0, count_frame, begin, nullptr);
}

void count(const Canvas& canvas, const FrameFacts& facts) {
  if (have_tap_listener(tap)) tap_queue_packet(tap, canvas.packet, &facts);
  follow(canvas, facts);
}

}  // namespace dissectors::wireshark
