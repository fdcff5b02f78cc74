// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/atomic_rules.hpp"

#include <fmt/format.h>

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

namespace check {
#define ANALYZER_CHECK(name, ...) ANALYZER_STATEMENT(name, __VA_ARGS__)
#include "dissectors/analyzer/atomic_rules.def"
#undef ANALYZER_CHECK
}  // namespace check

constexpr rules::RuleId checked[] = {
#define ANALYZER_CHECK(name, ...) __VA_ARGS__,
#include "dissectors/analyzer/atomic_rules.def"
#undef ANALYZER_CHECK
};

/// The header that is the whole message, or nothing where it is not all there.
template <typename Header>
std::optional<Header> header_of(const MessageStep& step) {
  wire::Reader in(step.content);
  const auto header = in.read<Header>();
  return in.truncated() ? std::nullopt : std::optional(header);
}

}  // namespace

std::span<const rules::RuleId> atomic_rules() { return checked; }

/// RFC 7306 section 5.2.1
std::optional<wire::AtomicRequestHeader> AtomicRules::request(const Incoming& incoming,
                                                              const MessageStep& step) const {
  constexpr std::size_t size = sizeof(wire::AtomicRequestHeader);
  if (step.known && step.octets != size)
    findings_.raise(step.octets < size ? check::request_short : check::request_long, incoming,
                    fmt::format("{} octets behind the DDP header", size));
  const auto header = header_of<wire::AtomicRequestHeader>(step);
  if (!header) return header;
  constexpr std::uint32_t code_mask = 0xF;
  const std::uint32_t word = header->operation.value();
  if ((word & ~code_mask) != 0)
    findings_.raise(check::reserved_bits, incoming, "28 reserved bits zero");
  const auto code = static_cast<wire::AtomicOperation>(word & code_mask);
  if (code != wire::AtomicOperation::fetch_add && code != wire::AtomicOperation::compare_swap)
    findings_.raise(check::operation, incoming, "AOpCode 0 (FetchAdd) or 2 (CmpSwap)");
  if (code != wire::AtomicOperation::fetch_add) return header;
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
  if (step.known && step.octets != size)
    findings_.raise(step.octets < size ? check::response_short : check::response_long, incoming,
                    fmt::format("{} octets behind the DDP header", size));
  return header_of<wire::AtomicResponseHeader>(step);
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
