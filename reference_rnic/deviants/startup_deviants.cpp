// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of MPA startup: one deviant for each.
#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/stream.hpp"

namespace rnic::deviants {

namespace {

struct FpduBeforeReply : stream::Decisions {
  void may_send_fpdus(stream::State state, bool& permitted) override {
    if (state == stream::State::awaiting_reply) permitted = true;
  }
};

constexpr StreamRow rows[] = {stream_row<FpduBeforeReply>(Deviation::fpdu_before_reply)};

}  // namespace

std::span<const StreamRow> startup_deviants() { return rows; }

}  // namespace rnic::deviants
