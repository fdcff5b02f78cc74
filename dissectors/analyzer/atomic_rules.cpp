// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/atomic_rules.hpp"

#include <fmt/format.h>

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

namespace check {
#define ANALYZER_CHECK(name, ...) ANALYZER_STATEMENT(atomic, name, __VA_ARGS__)
#include "dissectors/analyzer/atomic_rules.def"
#undef ANALYZER_CHECK
}  // namespace check

/// The header, which is the whole message; nothing if octets of it are missing.
template <typename Header>
std::optional<Header> header_of(const MessageStep& step) {
  wire::Reader in(step.content);
  const auto header = in.read<Header>();
  return in.truncated() ? std::nullopt : std::optional(header);
}

}  // namespace

/// RFC 7306 section 5.2.1
std::optional<wire::AtomicRequestHeader> AtomicRules::request(const Incoming& incoming,
                                                              const MessageStep& step) const {
  constexpr std::size_t size = sizeof(wire::AtomicRequestHeader);
  if (step.known && step.octets != size)
    findings_.raise(step.octets < size ? check::request_short : check::request_long, incoming,
                    fmt::format("{} octets after the DDP header", size));
  const Direction direction = incoming.direction();
  if (step.known) findings_.judged(direction, check::request_short, check::request_long);
  const auto header = header_of<wire::AtomicRequestHeader>(step);
  if (!header) return header;
  findings_.judged(direction, check::reserved_bits, check::operation);
  constexpr std::uint32_t code_mask = 0xF;
  const std::uint32_t word = header->operation.value();
  if ((word & ~code_mask) != 0)
    findings_.raise(check::reserved_bits, incoming, "28 reserved bits zero");
  const auto code = static_cast<wire::AtomicOperation>(word & code_mask);
  if (code != wire::AtomicOperation::fetch_add && code != wire::AtomicOperation::compare_swap)
    findings_.raise(check::operation, incoming, "AOpCode 0 (FetchAdd) or 2 (CmpSwap)");
  if (code != wire::AtomicOperation::fetch_add) return header;
  findings_.judged(direction, check::compare_data, check::compare_mask);
  if (header->compare_data.value() != 0)
    findings_.raise(check::compare_data, incoming, "Compare Data 0 in a FetchAdd");
  if (~header->compare_mask.value() != 0)
    findings_.raise(check::compare_mask, incoming, "a Compare Mask of ones in a FetchAdd");
  return header;
}

/// RFC 7306 section 5.2.2; docs/disputes.md D6
std::optional<wire::AtomicResponseHeader> AtomicRules::response(const Incoming& incoming,
                                                                const MessageStep& step) const {
  constexpr std::size_t size = sizeof(wire::AtomicResponseHeader);
  if (step.known)
    findings_.judged(incoming.direction(), check::response_short, check::response_long);
  if (step.known && step.octets != size)
    findings_.raise(step.octets < size ? check::response_short : check::response_long, incoming,
                    fmt::format("{} octets after the DDP header", size));
  return header_of<wire::AtomicResponseHeader>(step);
}

void AtomicRules::judged(const Incoming& response, bool atomics_after, bool reads_after) const {
  const Direction direction = response.direction();
  findings_.judged(direction, check::response_unsolicited, check::response_identifier);
  if (atomics_after) findings_.judged(direction, check::response_order);
  if (reads_after) findings_.judged(direction, check::read_before_atomic);
}

void AtomicRules::judged_atomic_after_read(const Incoming& response) const {
  findings_.judged(response.direction(), check::atomic_before_read);
}

const Statement& AtomicRules::unsolicited() { return check::response_unsolicited; }

void AtomicRules::wrong_identifier(const Incoming& incoming, std::uint32_t expected) const {
  findings_.raise(check::response_identifier, incoming,
                  fmt::format("request identifier {:#x}", expected));
}

void AtomicRules::out_of_order(const Incoming& incoming, std::uint32_t expected) const {
  findings_.raise(check::response_order, incoming,
                  fmt::format("first the Response to request {:#x}", expected));
}

void AtomicRules::read_before_atomic(const Incoming& incoming) const {
  findings_.raise(check::read_before_atomic, incoming,
                  "first the Response to the Atomic Request before it");
}

void AtomicRules::atomic_before_read(const Incoming& incoming) const {
  findings_.raise(check::atomic_before_read, incoming,
                  "first the Response to the Read Request before it");
}

}  // namespace dissectors::analyzer
