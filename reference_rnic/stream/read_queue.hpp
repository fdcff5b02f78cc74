// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Inbound RDMA Read Queue: Read and Atomic Requests of the peer, answered in the order in which
// they arrived (RFC 5040 section 5.2, RFC 7306 section 5.2).
#pragma once

#include <expected>
#include <optional>
#include <variant>

#include "base/fifo.hpp"
#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"

namespace rnic::stream {

/// A Request of the peer that has been delivered.
struct InboundRequest {
  std::variant<wire::ReadRequestHeader, wire::AtomicRequestHeader> header;
  Offender segment;
};

class ReadQueue {
 public:
  explicit ReadQueue(Context& context) : context_(context) {}

  /// Whether one more Request is allowed: the queue holds as many as the IRD (RFC 5040 section
  /// 6.1).
  [[nodiscard]] bool has_room(wire::Opcode opcode) const;
  /// Takes a Request that has been delivered. The fault: why it cannot be served.
  [[nodiscard]] std::optional<Fault> add(const wire::ReadRequestHeader& header,
                                         const Offender& segment);
  [[nodiscard]] std::optional<Fault> add(const wire::AtomicRequestHeader& header,
                                         const Offender& segment);

  /// Whether a Request waits for its Response to be sent.
  [[nodiscard]] bool waiting() const { return !requests_.empty() && answered_ < requests_.size(); }
  /// The next Response to be sent, if a Request waits. This call executes an Atomic.
  [[nodiscard]] std::expected<std::optional<OutgoingMessage>, Fault> next();
  /// The whole Response has been given to the LLP: its place in the queue is free again.
  void sent();
  void clear() {
    requests_.clear();
    answered_ = 0;
  }
  [[nodiscard]] bool empty() const { return requests_.empty(); }

 private:
  void queue(const InboundRequest& request, std::size_t responses);
  [[nodiscard]] bool choose_next();
  [[nodiscard]] static OutgoingMessage read_response(const wire::ReadRequestHeader& header,
                                                     const Offender& segment);
  [[nodiscard]] std::expected<OutgoingMessage, Fault> atomic_response(
      const wire::AtomicRequestHeader& header, const Offender& segment);
  [[nodiscard]] std::optional<Fault> check_source(const wire::ReadRequestHeader& header,
                                                  const Offender& segment) const;
  [[nodiscard]] std::optional<Fault> check_operation(const wire::AtomicRequestHeader& header,
                                                     const Offender& segment) const;
  [[nodiscard]] std::expected<wire::MutableBytes, Fault> atomic_target(
      const wire::AtomicRequestHeader& header, const Offender& segment) const;

  Context& context_;
  base::Fifo<InboundRequest> requests_;
  /// Requests at the front whose Response next() has returned.
  std::size_t answered_ = 0;
  std::uint64_t next_response_ = 0;
};

}  // namespace rnic::stream
