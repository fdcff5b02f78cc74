// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Inbound RDMA Read Queue: Read and Atomic Requests of the peer, answered in the order in which
// they came (RFC 5040 section 5.2, RFC 7306 section 5.2).
#pragma once

#include <deque>
#include <expected>
#include <optional>
#include <variant>

#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"

namespace rnic::stream {

class ReadQueue {
 public:
  explicit ReadQueue(Context& context) : context_(context) {}

  /// Whether one more Request may come: the queue holds as many as the IRD says (RFC 5040
  /// section 6.1).
  [[nodiscard]] bool has_room(wire::Opcode opcode) const;
  /// Takes a Request that has been delivered. The fault: it cannot be served.
  [[nodiscard]] std::optional<Fault> add(const wire::ReadRequestHeader& header,
                                         const Offender& segment);
  [[nodiscard]] std::optional<Fault> add(const wire::AtomicRequestHeader& header,
                                         const Offender& segment);

  /// The next Response to be sent, if a Request waits. An Atomic is carried out by this call.
  [[nodiscard]] std::expected<std::optional<OutgoingMessage>, Fault> next();
  /// A Response has been given to the LLP whole: its place in the queue is free again.
  void sent();
  void clear() {
    requests_.clear();
    answered_ = 0;
  }
  [[nodiscard]] bool empty() const { return requests_.empty(); }

 private:
  struct Request {
    std::variant<wire::ReadRequestHeader, wire::AtomicRequestHeader> header;
    Offender segment;
    std::optional<std::uint64_t> operand{};  ///< of an Atomic: only a deviation reads it so early
  };
  [[nodiscard]] OutgoingMessage read_response(const Request& request) const;
  [[nodiscard]] std::size_t checked_length(const wire::ReadRequestHeader& header) const;
  void serve_shortest_first();
  [[nodiscard]] std::expected<OutgoingMessage, Fault> atomic_response(const Request& request);
  [[nodiscard]] std::expected<wire::MutableBytes, Fault> atomic_target(
      const wire::AtomicRequestHeader& header, const Offender& segment) const;
  [[nodiscard]] std::size_t limit() const;
  [[nodiscard]] std::uint64_t original_for(const Request& request, wire::Bytes memory) const;
  void store(const Request& request, wire::MutableBytes memory, std::uint64_t result);

  Context& context_;
  std::deque<Request> requests_;
  std::size_t answered_ =
      0;  ///< requests at the front whose Response has been handed out by next()
  std::uint64_t next_response_ = 0;

  /// What the last Atomic left where: looked at by deviations only.
  struct Kept {
    const std::byte* place = nullptr;
    std::uint64_t value = 0;
  } kept_;
};

}  // namespace rnic::stream
