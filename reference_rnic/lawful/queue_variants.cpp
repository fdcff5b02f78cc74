// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an implementation may choose about its queues.
#include <array>

#include "reference_rnic/lawful/table.hpp"

namespace rnic::lawful {
namespace {

struct LastSharedReceiveFirst : verbs::Decisions {
  void shared_receive_taken(bool& last, bool& /*limit_reported*/) override { last = true; }
};

constexpr std::array queue_table{
    row<verbs::Decisions, LastSharedReceiveFirst>(Lawful::last_shared_receive_first)};

}  // namespace

std::span<const Row<verbs::Decisions>> queue_variants() { return queue_table; }

}  // namespace rnic::lawful
