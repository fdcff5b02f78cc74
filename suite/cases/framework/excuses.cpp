// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/excuses.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace suite::cases {

namespace {

constexpr int above_all_layers = 3;

int layer_of(std::string_view rule) {
  if (rule.starts_with("mpa.")) return 0;
  return rule.starts_with("ddp.") ? 1 : 2;
}

/// Its stream waits for the rest of an FPDU that does not come.
bool waits_in_vain(const RowSoFar& so_far) {
  return framing_is_unreadable(so_far) ||
         std::ranges::any_of(so_far.made, [&](const ExpectationRecord& one) {
           return one.row == so_far.row && one.place && one.judgement != Judgement::advisory &&
                  one.rule == "mpa.framing.fpdu-layout";
         });
}

bool gave_up_below(int layer, const RowSoFar& so_far) {
  return (so_far.stream_gave_up || waits_in_vain(so_far)) &&
         std::ranges::any_of(so_far.made, [&](const ExpectationRecord& one) {
           return one.row == so_far.row && one.place && layer_of(one.rule) < layer &&
                  (one.judgement == Judgement::fail || one.judgement == Judgement::also_seen);
         });
}

}  // namespace

bool framing_is_unreadable(const RowSoFar& so_far) {
  return std::ranges::any_of(so_far.made, [&](const ExpectationRecord& one) {
    return one.row == so_far.row && one.place && one.judgement != Judgement::advisory &&
           (one.rule == "mpa.crc.field-always-included" ||
            one.rule == "mpa.crc.field-present-when-disabled" ||
            one.rule.starts_with("mpa.markers."));
  });
}

std::string wrong_crc_below(std::string_view awaited, const RowSoFar& so_far) {
  const auto found = std::ranges::find_if(so_far.made, [&](const ExpectationRecord& one) {
    return one.row == so_far.row && one.place && one.rule.starts_with("mpa.crc.") &&
           (one.judgement == Judgement::fail || one.judgement == Judgement::also_seen);
  });
  return layer_of(awaited) > 0 && found != so_far.made.end() ? found->rule : std::string{};
}

bool excused_by_lower_layer(std::string_view rule, const RowSoFar& so_far) {
  return gave_up_below(layer_of(rule), so_far);
}

bool end_is_explained(const RowSoFar& so_far) { return gave_up_below(above_all_layers, so_far); }

std::string why_reads_show_nothing(const Controls& controls, const lower_tester::ReadsUsed& used,
                                   std::span<const std::string_view> aims) {
  struct Rest {
    bool used;
    const std::optional<FailedControl>& failed;
    const char* words;
  };
  for (const auto& [is_used, failed, words] :
       {Rest{used.by_tester, controls.read, "the IUT answers no lone RDMA Read"},
        Rest{used.by_iut, controls.iut_read, "no lone RDMA Read of the IUT succeeds"}}) {
    if (!is_used || !failed) continue;
    const bool about_it = std::ranges::find(aims, failed->rule) != aims.end();
    if (!about_it)
      return fmt::format("{}, so what came of one shows nothing: {}", words, failed->reason);
  }
  return {};
}

}  // namespace suite::cases
