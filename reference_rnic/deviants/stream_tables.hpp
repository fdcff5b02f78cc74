// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tables of the deviants of a stream, one for each file.
#pragma once

#include <array>

#include "reference_rnic/deviants/table.hpp"
#include "reference_rnic/stream/decisions.hpp"

namespace rnic::deviants {

using StreamRow = Row<stream::Decisions>;
template <class Deviant>
[[nodiscard]] constexpr StreamRow stream_row(Deviation deviation) {
  return row<stream::Decisions, Deviant>(deviation);
}

[[nodiscard]] std::span<const StreamRow> startup_deviants();
[[nodiscard]] std::span<const StreamRow> startup_frame_deviants();
[[nodiscard]] std::span<const StreamRow> enhanced_startup_deviants();
[[nodiscard]] std::span<const StreamRow> sent_fpdu_deviants();
[[nodiscard]] std::span<const StreamRow> received_crc_deviants();
[[nodiscard]] std::span<const StreamRow> received_fpdu_deviants();
[[nodiscard]] std::span<const StreamRow> sent_segment_deviants();
[[nodiscard]] std::span<const StreamRow> sent_message_deviants();
[[nodiscard]] std::span<const StreamRow> terminate_content_deviants();
[[nodiscard]] std::span<const StreamRow> terminate_code_deviants();
[[nodiscard]] std::span<const StreamRow> received_segment_deviants();
[[nodiscard]] std::span<const StreamRow> check_deviants();
[[nodiscard]] std::span<const StreamRow> ending_deviants();
[[nodiscard]] std::span<const StreamRow> work_deviants();
[[nodiscard]] std::span<const StreamRow> inbound_read_deviants();
[[nodiscard]] std::span<const StreamRow> atomic_deviants();

/// All of them.
[[nodiscard]] inline auto stream_tables() {
  return std::array{startup_deviants(),
                    startup_frame_deviants(),
                    enhanced_startup_deviants(),
                    sent_fpdu_deviants(),
                    received_crc_deviants(),
                    received_fpdu_deviants(),
                    sent_segment_deviants(),
                    terminate_content_deviants(),
                    terminate_code_deviants(),
                    received_segment_deviants(),
                    check_deviants(),
                    ending_deviants(),
                    work_deviants(),
                    inbound_read_deviants(),
                    atomic_deviants(),
                    sent_message_deviants()};
}

}  // namespace rnic::deviants
