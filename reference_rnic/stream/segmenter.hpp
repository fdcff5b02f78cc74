// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sending side of DDP (RFC 5041 sections 4 and 5.2): cuts one message after another into
// segments.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <span>

#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"
#include "reference_rnic/stream/transmitter.hpp"

namespace rnic::stream {

/// Why a protection check of RDMAP failed, as the cause of a Terminate of layer 0 and type 1 (RFC
/// 5040 section 4.8).
[[nodiscard]] wire::TerminateCause rdmap_cause(MemoryFault fault);

class Segmenter {
 public:
  Segmenter(Context& context, Transmitter& transmitter);

  /// Begins a message. The previous one must be finished.
  void begin(OutgoingMessage&& message);
  [[nodiscard]] bool busy() const { return message_.has_value(); }
  [[nodiscard]] std::optional<MessageTag> current() const;
  /// Queues the next segment. The fault: the source of a Read Response is not accessible (any
  /// more).
  std::expected<void, Fault> step();
  /// Abandons the message in progress; its remaining segments are not sent.
  void abandon() { message_.reset(); }

 private:
  [[nodiscard]] std::size_t mulpdu() const;
  [[nodiscard]] std::size_t payload_limit() const;
  [[nodiscard]] bool is_last(const OutgoingSegment& segment) const {
    return segment.from + segment.length == message_->length;
  }
  [[nodiscard]] wire::TaggedHeader tagged_header(const OutgoingSegment& segment) const;
  [[nodiscard]] wire::UntaggedHeader untagged_header(const OutgoingSegment& segment) const;
  void collect(std::uint64_t from, std::size_t length);
  [[nodiscard]] std::expected<void, Fault> collect_source(const OutgoingSegment& segment);
  [[nodiscard]] Fault source_fault(MemoryFault reason, const OutgoingSegment& segment) const;
  [[nodiscard]] std::uint32_t take_sequence_number();

  Context& context_;
  Transmitter& transmitter_;
  std::vector<wire::Bytes>& pieces_;  ///< of the segment being queued
  std::optional<OutgoingMessage> message_;
  std::uint64_t sent_ = 0;  ///< octets of the message in segments queued
  std::uint32_t msn_ = 0;   ///< of the message in progress
  std::array<std::uint32_t, 4> next_msn_;
};

}  // namespace rnic::stream
